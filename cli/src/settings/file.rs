//! The settings file: TOML with a table for each kind of settings, tables for page rules and namespaces, and a table for each
//! site with the same tables in it. It finds names, values and lines, and all problems of the file at once; the table of settings
//! interprets the values.

use std::{borrow::Cow, ops::Range, path::Path, sync::Arc};

use crawler::config::{Namespace, PageRule};
use serde::{
    Deserialize as _,
    de::{DeserializeOwned, IntoDeserializer as _},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    has_user_info,
    problem::{Origin, Problem, nearest},
    request::{has_password, is_secret_header},
    table::{SETTINGS, Setting, Special, setting_of, tables},
    tables::{NAMESPACE, NamespaceTable, PAGE_RULE, PageRuleTable},
    value::{Item, Value},
};

/// Largest settings file, in bytes: a mistaken path should not fill the memory.
pub(crate) const MAX_FILE_BYTES: usize = 1024 * 1024;

/// The key of the tables that hold the sites.
pub(super) const SITE: &str = "site";

/// Keys that only the table of a site has: its start URL and its name.
pub(super) const SITE_URL: &str = "url";
pub(super) const SITE_NAME: &str = "name";

/// Content of a settings file.
#[derive(Debug, Default)]
pub(crate) struct SettingsFile {
    /// Settings of every site.
    pub(crate) shared: Section,
    /// The sites that have a table.
    pub(crate) sites: Vec<SiteTable>,
    /// Everything that is wrong with the file as a file.
    pub(crate) problems: Vec<Problem>,
}

/// Settings of one place: those above the sites, or those of one site.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section {
    /// The values, by line.
    pub(crate) values: Vec<Written>,
    /// The page rules, each with its line.
    pub(crate) page_rules: Vec<(PageRule, Origin)>,
    /// The custom namespaces, each with its line.
    pub(crate) namespaces: Vec<(Namespace, Origin)>,
}

/// The value of one setting.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// The setting.
    pub(crate) name: &'static str,
    /// The value.
    pub(crate) value: Value,
    /// The place.
    pub(crate) origin: Origin,
    /// In the table of a site, for this site alone.
    pub(crate) is_own: bool,
}

/// One `[[site]]`.
#[derive(Debug)]
pub(crate) struct SiteTable {
    /// Start of its crawl.
    pub(crate) url: String,
    /// The name.
    pub(crate) name: Option<String>,
    /// Place of its URL.
    pub(crate) origin: Origin,
    /// Settings of this site alone.
    pub(crate) section: Section,
}

impl SettingsFile {
    /// Reads `text`, the contents of `path`, which may have `max_bytes`.
    pub(crate) fn parse(path: &Path, text: &str, max_bytes: usize) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let place = Place {
            path: path.into(),
            breaks: breaks.map(|(position, _)| position).collect(),
        };
        let mut file = Self::default();
        if text.len() > max_bytes {
            let message = format!(
                "the file is larger than {} MiB, which is too large for a settings file",
                max_bytes >> 20
            );
            file.problems.push(place.problem(&(0..0), "", &message));
            return file;
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            file.problems.push(place.problem(
                &error.span().unwrap_or(0..0),
                "",
                &one_line(error.message()),
            ));
        }
        // What a broken line left would only be reported twice.
        if !file.problems.is_empty() {
            return file;
        }
        for (key, value) in table.get_ref() {
            if key.get_ref() == SITE {
                file.sites = place.sites(value, &mut file.problems);
            } else {
                let problems = &mut file.problems;
                file.shared
                    .take_key(&place, key, value, TableOfFile::default(), problems);
            }
        }
        file.shared.sort();
        file.problems
            .sort_by_key(|problem| line_of(&problem.origin));
        file
    }

    /// The settings for the site of `table`: its own over those of all sites. A list replaces the list below it as a whole, and
    /// so do the page rules and the namespaces.
    pub(crate) fn section_of(&self, table: Option<&SiteTable>) -> Section {
        // The list of all sites is no setting of one, and may be long.
        let values = self.shared.values.iter();
        let values = values.filter(|written| written.name != "urls");
        let mut section = Section {
            values: values.cloned().collect(),
            page_rules: self.shared.page_rules.clone(),
            namespaces: self.shared.namespaces.clone(),
        };
        let Some(SiteTable { section: own, .. }) = table else {
            return section;
        };
        section.values.extend_from_slice(&own.values);
        if !own.page_rules.is_empty() {
            section.page_rules.clone_from(&own.page_rules);
        }
        if !own.namespaces.is_empty() {
            section.namespaces.clone_from(&own.namespaces);
        }
        section
    }

    /// The first line where a secret itself is written, not where it is kept.
    pub(crate) fn first_secret(&self) -> Option<&Written> {
        let own = self.sites.iter().flat_map(|site| &site.section.values);
        let mut values = self.shared.values.iter().chain(own);
        values.find(|written| is_secret(written.name, &written.value))
    }
}

/// Returns whether `value` of a setting is, or holds, a secret itself, not the place of one.
pub(super) fn is_secret(setting: &str, value: &Value) -> bool {
    match value {
        Value::Text(text) => match setting {
            "basic_auth" | "bearer_token" => !text.is_empty(),
            "header" => text
                .split_once(':')
                .is_some_and(|(name, _)| is_secret_header(name.trim_ascii())),
            "catalogue" => has_password(text),
            "proxy" | "server" => has_user_info(text),
            "token" => true,
            "to" | "message" => text.starts_with("slack:") || text.starts_with("teams:"),
            _ => false,
        },
        Value::List(items) => items.iter().any(|item| is_secret(setting, &item.value)),
        Value::Table(entries) => entries.iter().any(|(key, value)| is_secret(key, value)),
        Value::Bare(_) => false,
    }
}

impl Section {
    /// Takes one key of the table `table`.
    fn take_key(
        &mut self,
        place: &Place,
        key: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        table: TableOfFile,
        problems: &mut Vec<Problem>,
    ) {
        let name: &str = key.get_ref();
        let path = table.is_of_site.then_some(SITE);
        if table.name.is_empty() {
            match (name, value.get_ref().as_table()) {
                (PAGE_RULE, _) => {
                    self.page_rules =
                        place.read_tables::<PageRuleTable, _>(value, path, PAGE_RULE, problems);
                    return;
                }
                (NAMESPACE, _) => {
                    self.namespaces =
                        place.read_tables::<NamespaceTable, _>(value, path, NAMESPACE, problems);
                    return;
                }
                (_, Some(entries)) => {
                    if let Some(name) = tables().find(|table| *table == name) {
                        let table = TableOfFile { name, ..table };
                        for (key, value) in entries {
                            self.take_key(place, key, value, table, problems);
                        }
                        return;
                    }
                }
                (_, None) => {}
            }
        }
        let setting = setting_of(name);
        if setting.is_none() && table.name.is_empty() && tables().any(|table| table == name) {
            let of_site = if table.is_of_site { "site." } else { "" };
            let message = format!("expected a table: write [{of_site}{name}] above its settings");
            problems.push(place.problem(&key.span(), name, &message));
            return;
        }
        let Some(setting) = setting else {
            problems.push(place.problem(&key.span(), name, &table.unknown(name)));
            return;
        };
        match table.misplaced(setting) {
            Some(message) => problems.push(place.problem(&key.span(), name, &message)),
            None => self.values.push(Written {
                name: setting.name,
                value: place.value(value),
                origin: place.origin(&key.span()),
                is_own: table.is_of_site,
            }),
        }
    }

    fn sort(&mut self) {
        self.values.sort_by_key(|written| line_of(&written.origin));
    }
}

/// A table of the file.
#[derive(Debug, Clone, Copy, Default)]
struct TableOfFile {
    /// The table of a site, or one in it.
    is_of_site: bool,
    /// The name of a table of settings; empty: above all of them.
    name: &'static str,
}

impl TableOfFile {
    /// A message for a key that is not a setting, with the setting that was probably meant.
    fn unknown(self, name: &str) -> String {
        let keys: &[&str] = match (self.name.is_empty(), self.is_of_site) {
            (false, _) => &[],
            (true, true) => &[PAGE_RULE, NAMESPACE, SITE_URL, SITE_NAME],
            (true, false) => &[PAGE_RULE, NAMESPACE, SITE],
        };
        let of_settings = tables().filter(|_| self.name.is_empty());
        let settings = SETTINGS.iter().filter(|setting| setting.is_in_files());
        let settings = settings.map(|setting| setting.name);
        let known = settings.chain(keys.iter().copied()).chain(of_settings);
        let Some(nearest) = nearest(name, known.filter(|name| !name.is_empty())) else {
            return "no such setting".to_owned();
        };
        match setting_of(nearest).and_then(|setting| self.misplaced(setting)) {
            Some(place) => format!("no such setting; did you mean {nearest}, which is {place}?"),
            None => format!("no such setting; did you mean {nearest}?"),
        }
    }

    /// Reason why `setting` may not be here; `None`: it may.
    fn misplaced(self, setting: &Setting) -> Option<String> {
        if setting.is(Special::Option) {
            let option = setting.name.replace('_', "-");
            return Some(format!(
                "an option alone, for one start of arpent: --{option}"
            ));
        }
        if self.is_of_site {
            if setting.name == "urls" {
                return Some("a site has one url; write one table [[site]] for each site".into());
            }
            if setting.is(Special::Program) {
                return Some(
                    "this setting applies to all sites; write it above the first [[site]]".into(),
                );
            }
            if setting.is(Special::Build) {
                return Some(
                    "this setting is for arpent build, not for a site that is crawled".into(),
                );
            }
        }
        let of_site = if self.is_of_site { "site." } else { "" };
        (setting.table != self.name).then(|| match setting.table {
            "" => "expected above all tables".to_owned(),
            table => format!("expected in the table [{of_site}{table}]"),
        })
    }
}

/// Place in a file.
pub(super) struct Place {
    path: Arc<Path>,
    /// Offsets of the line breaks, in order.
    breaks: Vec<usize>,
}

impl Place {
    /// The settings in the tables under `key`, which is part of the table `of`; their problems are added to `problems`.
    pub(super) fn read_tables<T: DeserializeOwned, S: TryFrom<T, Error = String>>(
        &self,
        value: &Spanned<DeValue<'_>>,
        of: Option<&str>,
        key: &str,
        problems: &mut Vec<Problem>,
    ) -> Vec<(S, Origin)> {
        let path = of.map_or_else(|| key.to_owned(), |of| format!("{of}.{key}"));
        if self.tables(value, key, &path, problems).is_empty() {
            return Vec::new();
        }
        let tables = match Vec::<Spanned<T>>::deserialize(value.clone().into_deserializer()) {
            Ok(tables) => tables,
            Err(error) => {
                let span = error.span().unwrap_or_else(|| value.span());
                problems.push(self.problem(&span, key, error.message()));
                return Vec::new();
            }
        };
        let mut settings = Vec::with_capacity(tables.len());
        for table in tables {
            let span = table.span();
            match S::try_from(table.into_inner()) {
                Ok(setting) => settings.push((setting, self.origin(&span))),
                Err(message) => problems.push(self.problem(&span, key, &message)),
            }
        }
        settings
    }

    /// The tables under a key, `path` in full; none when the value is anything else.
    pub(super) fn tables<'a, 'd>(
        &self,
        value: &'a Spanned<DeValue<'d>>,
        key: &str,
        path: &str,
        problems: &mut Vec<Problem>,
    ) -> Vec<(&'a DeTable<'d>, Range<usize>)> {
        let items: &[_] = match value.get_ref() {
            DeValue::Array(items) => items,
            _ => &[],
        };
        let tables = items
            .iter()
            .map(|item| Some((item.get_ref().as_table()?, item.span())));
        let tables: Option<Vec<_>> = tables.collect();
        let tables = tables.unwrap_or_default();
        if tables.is_empty() {
            let message = format!("expected tables: write [[{path}]] above each");
            problems.push(self.problem(&value.span(), key, &message));
        }
        tables
    }

    fn line(&self, span: &Range<usize>) -> usize {
        1 + self
            .breaks
            .partition_point(|position| *position < span.start)
    }

    pub(super) fn origin(&self, span: &Range<usize>) -> Origin {
        Origin::File {
            path: Arc::clone(&self.path),
            line: self.line(span),
        }
    }

    pub(super) fn problem(&self, span: &Range<usize>, setting: &str, message: &str) -> Problem {
        Problem {
            origin: self.origin(span),
            setting: setting.to_owned(),
            message: message.to_owned(),
        }
    }

    pub(super) fn value(&self, value: &Spanned<DeValue<'_>>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(number) => Value::Bare(number.to_string()),
            DeValue::Float(number) => Value::Bare(number.to_string()),
            DeValue::Boolean(truth) => Value::Bare(truth.to_string()),
            DeValue::Datetime(date) => Value::Bare(date.to_string()),
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item| Item {
                        value: self.value(item),
                        line: Some(self.line(&item.span())),
                    })
                    .collect(),
            ),
            DeValue::Table(table) => Value::Table(
                table
                    .iter()
                    .map(|(key, value)| (key.get_ref().to_string(), self.value(value)))
                    .collect(),
            ),
        }
    }
}

impl Place {
    /// The tables of the sites; one that cannot be used is among `problems`.
    fn sites(&self, value: &Spanned<DeValue<'_>>, problems: &mut Vec<Problem>) -> Vec<SiteTable> {
        let tables = self.tables(value, SITE, SITE, problems);
        tables
            .into_iter()
            .filter_map(|(table, span)| self.site(table, &span, problems))
            .collect()
    }

    fn site(
        &self,
        table: &DeTable<'_>,
        span: &Range<usize>,
        problems: &mut Vec<Problem>,
    ) -> Option<SiteTable> {
        let mut section = Section::default();
        let [mut url, mut name] = [const { None }; 2];
        let mut is_url_wrong = false;
        for (key, value) in table {
            let slot = match key.get_ref().as_ref() {
                SITE_URL => &mut url,
                SITE_NAME => &mut name,
                _ => {
                    let table = TableOfFile {
                        is_of_site: true,
                        ..TableOfFile::default()
                    };
                    section.take_key(self, key, value, table, problems);
                    continue;
                }
            };
            match value.get_ref().as_str() {
                Some(text) if !text.is_empty() && !text.contains(char::is_control) => {
                    *slot = Some((text.to_owned(), self.origin(&key.span())));
                }
                Some(_) | None => {
                    let message = format!("expected text, found {}", self.value(value));
                    problems.push(self.problem(&key.span(), key.get_ref(), &message));
                    is_url_wrong |= key.get_ref() == SITE_URL;
                }
            }
        }
        section.sort();
        if url.is_none() && !is_url_wrong {
            problems.push(self.problem(span, SITE, &format!("{SITE_URL} is missing")));
        }
        let (url, origin) = url?;
        Some(SiteTable {
            url,
            name: name.map(|(name, _)| name),
            origin,
            section,
        })
    }
}

/// The parser's words as one fragment.
fn one_line(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join("; ")
}

fn line_of(origin: &Origin) -> usize {
    match origin {
        Origin::File { line, .. } => *line,
        Origin::Default | Origin::Variable(_) | Origin::Flag(_) => 0,
    }
}
