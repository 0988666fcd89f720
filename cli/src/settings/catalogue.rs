//! Settings of sites as a catalogue stores them: for each site the text of a small settings file, which has one `[[site]]` and counts
//! alone. It has every value that counts for the site, except those of the program and the state, which each worker has itself.
//! Secrets are references, and paths are those of the machine of the worker.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use arpent_fleet::catalogue::NewSite;
use crawler::config::{ElementValue, Namespace, NamespaceElement, PageAction, PageRule};
use toml::{Table, Value as Toml};

use super::{
    CrawlSettings, Environment, FileText, Layers, MAX_FILE_BYTES, Purpose, SettingsError,
    SiteSettings, Typed,
    file::{SITE, SITE_NAME, SITE_URL, Section, SiteTable, is_secret},
    merge::{Among, VARIABLE_PREFIX, problems_in_order, variable_value},
    problem::{Origin, Problem},
    sites::{Chosen, choose, none_twice},
    table::{SETTINGS, Special, setting_of},
    tables::{NAMESPACE, PAGE_RULE},
    value::Value,
};

/// Largest file of sites, in bytes: 100,000 sites of a few settings take 20 MB.
pub(crate) const MAX_SITES_FILE_BYTES: usize = 64 << 20;

/// The settings of the site `name` from the text that the catalogue has. The state of the site is in the folder `state`.
/// Variables of the environment are only places of secrets: settings in them do not count.
///
/// # Errors
/// As [`CrawlSettings::load`].
pub(crate) fn site_of_text(
    name: &str,
    text: &str,
    state: &Path,
    environment: &Environment,
) -> Result<Arc<SiteSettings>, SettingsError> {
    static NONE: Environment = Environment::new();
    let path = PathBuf::from(format!("site {name} of the catalogue"));
    let read_file = |asked: &Path| {
        if asked == path {
            return Ok(text.to_owned().into());
        }
        FileText::read(asked, MAX_FILE_BYTES)
    };
    let state = Value::Text(state.display().to_string());
    let typed = Typed {
        config: Some(path.clone()),
        values: vec![("state", state)],
    };
    let mut layers = Layers::read(typed, MAX_FILE_BYTES, environment, &read_file)?;
    layers.variables = &NONE;
    let sites = CrawlSettings::merged(Purpose::Crawl, &layers)?.sites;
    let found = sites.len();
    <[_; 1]>::try_from(sites).map(|[site]| site).map_err(|_| {
        SettingsError::Problems(vec![Problem {
            origin: Origin::File {
                path: path.into(),
                line: 1,
            },
            setting: SITE.to_owned(),
            message: format!("expected one table [[site]], found {found}"),
        }])
    })
}

/// The places of a fleet.
#[derive(Debug)]
pub(crate) struct FleetPlaces {
    /// The URL of its catalogue.
    pub(crate) catalogue: Option<String>,
    /// The URL of the storage of its states.
    pub(crate) storage: Option<String>,
    /// Warnings about the settings.
    pub(crate) warnings: Vec<String>,
}

/// The places of a fleet by the layers of settings. No other setting counts.
///
/// # Errors
/// As [`CrawlSettings::load`].
pub(crate) fn fleet_places(
    typed: Typed,
    environment: &Environment,
    read_file: impl Fn(&Path) -> io::Result<FileText>,
) -> Result<FleetPlaces, SettingsError> {
    let mut layers = Layers::read(typed, MAX_FILE_BYTES, environment, &read_file)?;
    let Section {
        values,
        page_rules,
        namespaces,
    } = &mut layers.file.shared;
    values.retain(|written| ["catalogue", "storage"].contains(&written.name));
    page_rules.clear();
    namespaces.clear();
    let mut merge = layers.shared();
    merge.warn_of_typed_secrets();
    if !merge.problems.is_empty() {
        return Err(problems_in_order(merge.problems));
    }
    let fleet = merge.draft.settings.fleet;
    Ok(FleetPlaces {
        catalogue: fleet.catalogue,
        storage: fleet.storage,
        warnings: merge.warnings,
    })
}

/// Sites as a catalogue takes them.
#[derive(Debug)]
pub(crate) struct StoredSites {
    /// The sites.
    pub(crate) sites: Vec<NewSite>,
    /// Warnings about their settings.
    pub(crate) warnings: Vec<String>,
}

impl StoredSites {
    /// The sites that `arpent crawl` would crawl with these layers of settings, each with its text. An output above the tables of sites
    /// gets a folder for each site, also for a single one. `name` is the name of the only site. No secret is read.
    ///
    /// # Errors
    /// As [`CrawlSettings::load`]. Or an output is not object storage, or a secret is not a reference.
    pub(crate) fn load(
        typed: Typed,
        name: Option<&str>,
        environment: &Environment,
        read_file: impl Fn(&Path) -> io::Result<FileText>,
    ) -> Result<Self, SettingsError> {
        let mut layers = Layers::read(typed, MAX_SITES_FILE_BYTES, environment, &read_file)?;
        layers.secret_sources.hides_secrets = true;
        layers.warnings.clear();
        let mut shared = layers.shared();
        let Chosen { mut drafts, named } = choose(&layers, &mut shared, Purpose::Store);
        if let (Some(name), [draft]) = (name, drafts.as_mut_slice()) {
            draft.name = Some(name.to_owned());
        }
        let chosen: Vec<_> = drafts.iter().map(|draft| draft.start.clone()).collect();
        let among = Among::of_catalogue(&chosen, &named);
        let mut warnings = std::mem::take(&mut shared.warnings);
        let mut problems = std::mem::take(&mut shared.problems);
        let mut sites = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let table = draft.table;
            let stored =
                draft
                    .resolve(&layers, Purpose::Store, among, &[])
                    .and_then(|mut resolved| {
                        warnings.append(&mut resolved.warnings);
                        stored_site(&layers, table, &resolved.site)
                    });
            match stored {
                Ok(site) => sites.push(site),
                Err(mut found) => problems.append(&mut found),
            }
        }
        if !problems.is_empty() {
            return Err(problems_in_order(problems));
        }
        let warnings = none_twice(warnings);
        Ok(Self { sites, warnings })
    }
}

/// The site as the catalogue takes it.
fn stored_site(
    layers: &Layers<'_>,
    table: Option<&SiteTable>,
    site: &SiteSettings,
) -> Result<NewSite, Vec<Problem>> {
    let section = layers.file.section_of(table);
    let values = layers.values_of(&section);
    let mut problems = Vec::new();
    for (name, (value, origin)) in &values {
        // The path of the URL of a hook is a secret of many services.
        let is_hook = *name == "hook_url" && has_text(value);
        if is_hook || is_secret(name, value) {
            problems.push(Problem {
                origin: origin.clone(),
                setting: (*name).to_owned(),
                message: "a catalogue stores no secret; expected the place of the secret on the machines of the workers, { variable \
                          = \"...\" } or { file = \"...\" }"
                    .to_owned(),
            });
        }
    }
    let foreseen = site.foreseen();
    let written = foreseen.written().name();
    let output = site.settings.storage_of(&written);
    if output.is_none() {
        let place = site.settings.place_of(&written);
        let origin = values.get("output").map(|(_, origin)| origin.clone());
        let message = if site.settings.output.is_some() {
            format!(
                "{} of {} is a folder of one machine, and any worker may publish the site; expected a bucket, such as \
                 s3://BUCKET/{written}",
                place.display(),
                site.start,
            )
        } else {
            "not set; a fleet needs a bucket, such as s3://BUCKET/PREFIX".to_owned()
        };
        problems.push(Problem {
            origin: origin.unwrap_or_default(),
            setting: "output".to_owned(),
            message,
        });
    }
    let public_url = site.settings.public_url_of(&foreseen);
    match (output, public_url) {
        (Some(output), Ok(public_url)) if problems.is_empty() => {
            let output = output.trim_end_matches('/').to_owned();
            Ok(NewSite {
                name: site.name.clone(),
                host: site.host(),
                settings: text_of_site(site, values, &section, &output, public_url.as_deref()),
                schedule: site.schedule.clone(),
                output,
            })
        }
        (_, Err(error)) => {
            problems.push(Problem {
                origin: Origin::Default,
                setting: String::new(),
                message: error.to_string(),
            });
            Err(problems)
        }
        _ => Err(problems),
    }
}

/// Returns whether an item of a list is a text.
fn has_text(list: &Value) -> bool {
    let Value::List(items) = list else {
        return false;
    };
    items
        .iter()
        .any(|item| matches!(item.value, Value::Text(_)))
}

/// Values as they were written, by their settings.
type Values = BTreeMap<&'static str, (Value, Origin)>;

impl Layers<'_> {
    /// The values that count for a section of the file: of each setting that of the highest layer.
    fn values_of(&self, section: &Section) -> Values {
        let written = section.values.iter();
        let written = written.map(|it| (it.name, (it.value.clone(), it.origin.clone())));
        let variables = self.variables.iter().filter_map(|(variable, text)| {
            let name = variable.strip_prefix(VARIABLE_PREFIX)?;
            let is_capital = !name.bytes().any(|byte| byte.is_ascii_lowercase());
            let is_named = |known: &str| is_capital && known.eq_ignore_ascii_case(name);
            let setting = SETTINGS.iter().find(|setting| is_named(setting.name))?;
            let origin = Origin::Variable(variable.clone());
            Some((setting.name, (variable_value(setting, text), origin)))
        });
        let typed = self.typed.iter();
        let typed = typed.map(|(name, value)| (*name, (value.clone(), Origin::flag(name))));
        let mut values: Values = written.chain(variables).chain(typed).collect();
        values.retain(|name, _| {
            let setting = setting_of(name);
            let is_of_others = |setting: &super::table::Setting| {
                setting.is(Special::Program) || setting.is(Special::Build)
            };
            *name != "state" && setting.is_some_and(|setting| !is_of_others(setting))
        });
        values
    }
}

/// The text of a site: its values and tables, with its `output` and its `public_url` as they are for this site.
fn text_of_site(
    site: &SiteSettings,
    mut values: Values,
    section: &Section,
    output: &str,
    public_url: Option<&str>,
) -> String {
    values.remove("output");
    values.remove("public_url");
    let mut tables: BTreeMap<&str, Table> = BTreeMap::new();
    for (name, (value, _)) in &values {
        let table = setting_of(name).map_or("", |setting| setting.table);
        let entry = (name.to_string(), toml_of(value));
        tables.entry(table).or_default().extend([entry]);
    }
    let places = tables.entry("output").or_default();
    places.insert("output".to_owned(), output.into());
    places.extend(optional("public_url", public_url));
    let mut own = tables.remove("").unwrap_or_default();
    own.insert(SITE_URL.to_owned(), site.start.to_string().into());
    own.insert(SITE_NAME.to_owned(), site.name.clone().into());
    let tables = tables.into_iter();
    own.extend(tables.map(|(name, table)| (name.to_owned(), Toml::Table(table))));
    let rules = section.page_rules.iter().map(|(rule, _)| page_rule(rule));
    own.extend(list(PAGE_RULE, rules.collect()));
    let namespaces = section.namespaces.iter();
    let namespaces = namespaces.map(|(it, _)| namespace(it));
    own.extend(list(NAMESPACE, namespaces.collect()));
    Table::from_iter(list(SITE, vec![own])).to_string()
}

fn toml_of(value: &Value) -> Toml {
    match value {
        Value::Text(text) => text.clone().into(),
        Value::Bare(text) => {
            let number = || text.parse().map(Toml::Float).ok();
            let number = text.parse().map(Toml::Integer).ok().or_else(number);
            let truth = || text.parse().map(Toml::Boolean).ok();
            number.or_else(truth).unwrap_or_else(|| text.clone().into())
        }
        Value::List(items) => Toml::Array(items.iter().map(|item| toml_of(&item.value)).collect()),
        Value::Table(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| (key.clone(), toml_of(value)));
            Toml::Table(entries.collect())
        }
    }
}

fn page_rule(rule: &PageRule) -> Table {
    let (action, attribute) = match &rule.action {
        PageAction::Exclude => ("exclude", None),
        PageAction::Lastmod { attribute } => ("lastmod", attribute.as_deref()),
    };
    let texts = [
        ("pages", rule.pages.as_str()),
        ("selector", rule.selector.as_str()),
        ("action", action),
    ];
    let texts = texts.map(|(key, text)| (key.to_owned(), text.into()));
    let attribute = optional("attribute", attribute);
    texts.into_iter().chain(attribute).collect()
}

fn namespace(namespace: &Namespace) -> Table {
    let texts = [("prefix", &namespace.prefix), ("uri", &namespace.uri)];
    let texts = texts.map(|(key, text)| (key.to_owned(), text.as_str().into()));
    let elements = namespace.elements.iter().map(element).collect();
    let mut table = Table::from_iter(texts);
    table.extend(optional("schema", namespace.schema.as_deref()));
    table.extend(list("element", elements));
    table
}

fn element(element: &NamespaceElement) -> Table {
    let (key, value) = match &element.value {
        ElementValue::Constant(value) => ("value", value),
        ElementValue::Field(field) => ("field", field),
    };
    let texts = [
        ("name", &element.name),
        ("pages", &element.pages),
        (key, value),
    ];
    let texts = texts.map(|(key, text)| (key.to_owned(), text.as_str().into()));
    texts.into_iter().collect()
}

/// An entry of a table, if there is a value.
fn optional(key: &str, text: Option<&str>) -> Option<(String, Toml)> {
    text.map(|text| (key.to_owned(), text.into()))
}

/// An entry of a table, if there are values.
fn list(key: &str, tables: Vec<Table>) -> Option<(String, Toml)> {
    let tables: Vec<Toml> = tables.into_iter().map(Toml::Table).collect();
    (!tables.is_empty()).then(|| (key.to_owned(), Toml::Array(tables)))
}
