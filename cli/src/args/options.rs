//! The options of commands that are settings, made from the rows of their table.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};

use crate::settings::{
    options::{ADD, CATALOGUE, COUNTED, Commands, SettingOption, Typed},
    table::{SETTINGS, Setting, Special},
    value::{Item, Value},
};

/// The name of the option with the settings file.
const CONFIG: &str = "config";

/// The options of the commands `COMMAND` that are settings, and that of the settings file.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingOptions<const COMMAND: Commands>(pub(crate) Typed);

impl<const COMMAND: Commands> FromArgMatches for SettingOptions<COMMAND> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let values = rows_of(COMMAND)
            .filter_map(|(setting, option)| Some((setting.name, typed(matches, setting, option)?)));
        let config = (COMMAND != ADD).then(|| matches.get_one::<PathBuf>(CONFIG));
        Ok(Self(Typed {
            config: config.flatten().cloned(),
            values: values.collect(),
        }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const COMMAND: Commands> clap::Args for SettingOptions<COMMAND> {
    fn augment_args(command: Command) -> Command {
        let options = rows_of(COMMAND).map(|(setting, option)| argument(COMMAND, setting, option));
        let config = Arg::new(CONFIG)
            .short('c')
            .long(CONFIG)
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help("Read settings from this TOML file");
        let config = (COMMAND != ADD).then_some(config);
        let is_global = COMMAND == CATALOGUE;
        command.args(
            config
                .into_iter()
                .chain(options)
                .map(|argument| argument.global(is_global)),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The rows that are options of a command.
fn rows_of(command: Commands) -> impl Iterator<Item = (&'static Setting, &'static SettingOption)> {
    let rows = SETTINGS.iter();
    rows.filter_map(move |setting| {
        let option = setting.option.as_ref()?;
        (option.commands & command != 0).then_some((setting, option))
    })
}

fn argument(command: Commands, setting: &'static Setting, option: &'static SettingOption) -> Arg {
    let argument = Arg::new(setting.name)
        .long(setting.name.replace('_', "-"))
        .short(option.short)
        .help(option.help)
        .hide_short_help(option.rare_in & command != 0)
        .help_heading(heading_of(setting));
    match option.value {
        "" => argument.action(ArgAction::SetTrue),
        COUNTED => argument.action(ArgAction::Count),
        value if setting.is(Special::List) => argument.action(ArgAction::Append).value_name(value),
        value => argument.action(ArgAction::Set).value_name(value),
    }
}

/// The heading under which the help has an option.
fn heading_of(setting: &Setting) -> &'static str {
    match setting.table {
        "output" | "guard" => "Output",
        "politeness" | "requests" => "Requests",
        "build" => "Input",
        "notify" => "Notify",
        "run" | "fleet" | "" => "Run",
        _ => "Scope",
    }
}

/// The value that was typed; `None`: none.
fn typed(matches: &ArgMatches, setting: &Setting, option: &SettingOption) -> Option<Value> {
    let name = setting.name;
    match option.value {
        "" => matches
            .get_flag(name)
            .then(|| Value::Bare("true".to_owned())),
        COUNTED => Some(matches.get_count(name))
            .filter(|count| *count > 0)
            .map(|count| Value::Bare(count.to_string())),
        _ if setting.is(Special::List) => {
            let values = matches.get_many::<String>(name)?;
            let items = values.cloned().map(Value::Text).map(Item::new);
            Some(Value::List(items.collect()))
        }
        _ => matches.get_one::<String>(name).cloned().map(Value::Text),
    }
}
