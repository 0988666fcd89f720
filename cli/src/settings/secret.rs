//! Secrets outside of the settings file: in another file, in a credential of systemd, in a variable. The settings name the place;
//! the secret is never shown.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use super::{
    Environment,
    notify::MESSAGE_KEYS,
    problem::nearest,
    value::{Item, Read, Value, Wrong},
};

/// The variable that names the folder of the unit's credentials (systemd.exec, `LoadCredential=`).
pub(super) const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";

/// Kind of the place of a secret.
#[derive(Debug, Clone, Copy)]
enum SecretPlace {
    File,
    Credential,
    Variable,
}

impl SecretPlace {
    const ALL: [Self; 3] = [Self::File, Self::Credential, Self::Variable];

    /// The key of the table of the secret.
    fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Credential => "credential",
            Self::Variable => "variable",
        }
    }
}

/// The place of a secret that a table names.
fn place_of(entries: &[(String, Value)]) -> Read<(SecretPlace, &str)> {
    const EXPECTED: &str = r#"expected text, or one of { file = "..." }, { credential = "..." } and { variable = "..." }"#;
    let [(key, Value::Text(name))] = entries else {
        return Err(Wrong::new(EXPECTED));
    };
    let place = SecretPlace::ALL
        .into_iter()
        .find(|place| place.as_str() == key);
    let place = place.ok_or_else(|| {
        let meant = nearest(key, SecretPlace::ALL.map(SecretPlace::as_str))
            .map(|nearest| format!("; did you mean {nearest}?"))
            .unwrap_or_default();
        Wrong::new(format!("{EXPECTED}, found {key}{meant}"))
    })?;
    Ok((place, name))
}

/// Returns whether a table is a `[[notify.message]]`, some of whose values may be secrets.
fn is_message(entries: &[(String, Value)]) -> bool {
    entries
        .iter()
        .any(|(key, _)| MESSAGE_KEYS.contains(&key.as_str()))
}

/// Longest secret, in bytes: no header or token is longer.
const MAX_SECRET_BYTES: usize = 64 * 1024;

/// Adds the names of the variables that `value` names as places of secrets.
pub(super) fn add_variables_of(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Table(entries) => {
            for (place, name) in entries {
                match (place.as_str(), name) {
                    ("variable", Value::Text(name)) => {
                        names.insert(name.clone());
                    }
                    (_, inner) => add_variables_of(inner, names),
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
    /// The content.
    pub(crate) text: String,
    /// Every user of the machine can read it.
    pub(crate) is_open_to_all: bool,
}

impl FileText {
    /// Reads a settings file, or one with a secret, and not much more than `max_bytes` of it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(path: &Path, max_bytes: usize) -> io::Result<Self> {
        let file = File::open(path)?;
        let is_open_to_all = is_open_to_all(&file)?;
        let mut text = String::new();
        file.take(max_bytes as u64 + 1).read_to_string(&mut text)?;
        Ok(Self {
            text,
            is_open_to_all,
        })
    }
}

/// Returns true if every user of the machine may read the file.
#[cfg(unix)]
fn is_open_to_all(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o004 != 0)
}

/// Who may read a file is nothing that is known here.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "on Unix it asks the system")]
fn is_open_to_all(_: &File) -> io::Result<bool> {
    Ok(false)
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
#[derive(Clone, Copy)]
pub(super) struct SecretSources<'w> {
    pub(super) environment: &'w Environment,
    pub(super) read_file: &'w dyn Fn(&Path) -> io::Result<FileText>,
    /// No secret is read: another text of its form takes its place.
    pub(super) hides_secrets: bool,
}

/// A text of the form of the secret `setting`.
fn stand_in(setting: &str) -> &'static str {
    match setting {
        "basic_auth" => "user:password",
        "header" => "Authorization: secret",
        "catalogue" => "postgres://secret.invalid/secret",
        "hook_url" | "proxy" => "https://secret.invalid/",
        "to" | "message" => "slack:https://secret.invalid/",
        "server" => "smtps://secret.invalid",
        _ => "secret",
    }
}

impl SecretSources<'_> {
    /// The value of the secret `setting`: a table names the place of the secret. Problems of the place are added to `warnings`.
    pub(super) fn reveal(
        &self,
        setting: &str,
        value: &Value,
        warnings: &mut Vec<String>,
    ) -> Read<Value> {
        match value {
            Value::Table(entries) if is_message(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let value = self.reveal(key, value, warnings)?;
                    Ok((key.clone(), value))
                });
                Ok(Value::Table(entries.collect::<Read<_>>()?))
            }
            Value::Table(entries) => {
                let (place, name) = place_of(entries)?;
                let text = if self.hides_secrets {
                    stand_in(setting).to_owned()
                } else {
                    self.kept(place, name, warnings)?
                };
                Ok(Value::Text(text))
            }
            Value::List(items) => {
                let items = items.iter().map(|item| {
                    let value = self
                        .reveal(setting, &item.value, warnings)
                        .map_err(|wrong| Wrong {
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

    /// The secret at a place.
    fn kept(&self, place: SecretPlace, name: &str, warnings: &mut Vec<String>) -> Read<String> {
        let text = match place {
            SecretPlace::File => self.in_file(Path::new(name), warnings)?,
            SecretPlace::Credential => self.in_credential(name, warnings)?,
            SecretPlace::Variable => self
                .environment
                .get(name)
                .cloned()
                .ok_or_else(|| Wrong::new(format!("the variable {name} is not set")))?,
        };
        // Editors and `echo` end a file with a line break.
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() || text.len() > MAX_SECRET_BYTES {
            return Err(Wrong::new(format!(
                "expected a secret of 1 to {MAX_SECRET_BYTES} bytes in the {} {name}, found {}",
                place.as_str(),
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
