//! Secrets outside of the settings file: in another file, in a credential of systemd, in a variable. The settings name the place;
//! the secret is never shown.

use std::{collections::BTreeSet, io, path::Path};

use super::{
    Environment,
    problem::nearest,
    value::{Item, Read, Value, Wrong},
};

/// The variable that names the folder of the unit's credentials (systemd.exec, `LoadCredential=`).
pub(super) const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";

/// Places of a secret, as the keys of its table.
const PLACES: [&str; 3] = ["file", "credential", "variable"];

/// Longest secret, in bytes: no header or token is longer.
const MAX_SECRET_BYTES: usize = 64 * 1024;

/// Adds the names of the variables that `value` names as places of secrets.
pub(super) fn add_variables_of(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Table(entries) => {
            for (place, name) in entries {
                if let ("variable", Value::Text(name)) = (place.as_str(), name) {
                    names.insert(name.clone());
                }
            }
        }
        Value::List(items) => {
            for item in items {
                add_variables_of(&item.value, names);
            }
        }
        Value::Text(_) | Value::Bare(_) => {}
    }
}

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileText {
    /// Its content.
    pub(crate) text: String,
    /// Every user of the machine can read it.
    pub(crate) is_open_to_all: bool,
}

impl From<String> for FileText {
    fn from(text: String) -> Self {
        Self {
            text,
            is_open_to_all: false,
        }
    }
}

/// The outside world, as far as settings come from there.
pub(super) struct World<'w> {
    pub(super) environment: &'w Environment,
    pub(super) read_file: &'w dyn Fn(&Path) -> io::Result<FileText>,
}

impl World<'_> {
    /// The value of a secret setting: a table names the place of the secret. Problems of the place are added to `warnings`.
    pub(super) fn reveal(&self, value: &Value, warnings: &mut Vec<String>) -> Read<Value> {
        match value {
            Value::Table(entries) => self.kept(entries, warnings).map(Value::Text),
            Value::List(items) => {
                let items = items.iter().map(|item| {
                    let value = self.reveal(&item.value, warnings).map_err(|wrong| Wrong {
                        line: wrong.line.or(item.line),
                        ..wrong
                    })?;
                    Ok(Item {
                        value,
                        line: item.line,
                    })
                });
                Ok(Value::List(items.collect::<Read<_>>()?))
            }
            Value::Text(_) | Value::Bare(_) => Ok(value.clone()),
        }
    }

    /// The secret at the place of a table.
    fn kept(&self, entries: &[(String, Value)], warnings: &mut Vec<String>) -> Read<String> {
        const EXPECTED: &str = r#"expected text, or one of { file = "..." }, { credential = "..." } and { variable = "..." }"#;
        let [(place, Value::Text(name))] = entries else {
            return Err(Wrong::new(EXPECTED));
        };
        let text = match place.as_str() {
            "file" => self.in_file(Path::new(name), warnings)?,
            "credential" => self.in_credential(name, warnings)?,
            "variable" => self
                .environment
                .get(name)
                .cloned()
                .ok_or_else(|| Wrong::new(format!("the variable {name} is not set")))?,
            other => {
                let meant = nearest(other, PLACES)
                    .map(|nearest| format!("; did you mean {nearest}?"))
                    .unwrap_or_default();
                return Err(Wrong::new(format!("{EXPECTED}, found {other}{meant}")));
            }
        };
        // Editors and `echo` end a file with a line break.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() || text.len() > MAX_SECRET_BYTES {
            return Err(Wrong::new(format!(
                "expected a secret of 1 to {MAX_SECRET_BYTES} bytes in the {place} {name}, found {}",
                text.len()
            )));
        }
        Ok(text.to_owned())
    }

    fn in_file(&self, path: &Path, warnings: &mut Vec<String>) -> Read<String> {
        let found = (self.read_file)(path)
            .map_err(|error| Wrong::new(format!("failed to read {}: {error}", path.display())))?;
        if found.is_open_to_all {
            warnings.push(format!(
                "every user of this machine can read the secret in {0}; run chmod o-r {0}",
                path.display()
            ));
        }
        Ok(found.text)
    }

    fn in_credential(&self, name: &str, warnings: &mut Vec<String>) -> Read<String> {
        let is_name = !name.contains(['/', '\\', '\0']) && !matches!(name, "" | "." | "..");
        if !is_name {
            return Err(Wrong::new(format!(
                "expected the name of a credential, found \"{name}\""
            )));
        }
        let folder = self
            .environment
            .get(CREDENTIALS_VARIABLE)
            .filter(|folder| !folder.is_empty())
            .ok_or_else(|| {
                Wrong::new(format!(
                    "there is no credential, because {CREDENTIALS_VARIABLE} is not set; expected LoadCredential={name}:... in the systemd unit"
                ))
            })?;
        self.in_file(&Path::new(folder).join(name), warnings)
    }
}
