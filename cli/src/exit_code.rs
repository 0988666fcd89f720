//! The exit codes, which the library has.

pub(crate) use crawler::outcome::ExitCode;

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use clap::CommandFactory as _;
    use crawler::outcome::ExitCode;

    use crate::args::Args;

    /// What the page of the guide has besides the codes.
    const MORE: &str = "
## Several sites

Of several sites the worst code counts: 143, 130, 70, 2, 6, 5, 4, 3, 1, 0 in this order. `check` and `audit` have an order of their
own, which their list above has.

## Signals

The first signal lets requests in flight end, for five seconds at most. The second drops them. The third ends the process at once. Nine
seconds after the first signal the process ends in any case, and the next start goes on as after a crash. `check` reports what it found
until then.
";

    #[test]
    fn the_guide_lists_every_exit_code() {
        let mut codes = ExitCode::WORST_FIRST.to_vec();
        codes.sort_by_key(|(code, _)| *code as u8);
        let mut page = "# Exit codes\n\n| code | meaning |\n|---|---|\n".to_owned();
        for (code, meaning) in codes {
            writeln!(page, "| {} | {meaning} |", code as u8).unwrap();
        }
        page += "\nThe page [Guard](guard.md) has the objections of the guard.\n\n## Commands\n\n`--help` prints the codes of each command.\n";
        let commands = Args::command();
        for command in commands.get_subcommands() {
            let name = command.get_name();
            let help = command.get_after_long_help().unwrap().to_string();
            let (_, codes) = help.split_once("Exit codes:\n").unwrap();
            write!(page, "\n### arpent {name}\n\n```text\n{codes}\n```\n").unwrap();
        }
        page += MORE;
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/guide/exit-codes.md");
        crawler::testing::assert_guide(path, &page);
    }
}
