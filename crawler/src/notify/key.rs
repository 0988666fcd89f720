//! The key of `IndexNow` (<https://www.indexnow.org/documentation>): 8 to 128 letters, digits and hyphens.
//! A file on the site proves whose it is, so it is not a secret from those who can read the site; it is kept
//! out of messages all the same, because whoever has it can send URLs in the site's name.

use std::{fs::File, io::Read as _, path::Path};

use crate::{
    config::Secret,
    store::{Effect, Store, StoreError},
};

/// Name of the state's value with the key that was made.
const VALUE: &str = crate::store::names::NOTIFY_KEY;

/// Random bytes of a key that is made: 32 hexadecimal digits.
const RANDOM_BYTES: usize = 16;

/// Bytes of a key file that are read.
const MAX_FILE_BYTES: u64 = 1_024;

/// A key that matches the schema. Its `Debug` does not show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(Secret);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is none. It is not repeated.
    #[error("expected a key of 8 to 128 letters, digits and hyphens, found {0}")]
    Form(String),
    /// The file with the key cannot be read.
    #[error("cannot read the key file {path}")]
    File {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The system has no random bytes.
    #[error("failed to get random bytes for a key from the system")]
    Random(#[source] getrandom::Error),
    /// The state cannot be read or written.
    #[error("failed to store the key in the state")]
    Store(#[from] StoreError),
}

impl Key {
    /// Reads a key.
    ///
    /// # Errors
    /// [`KeyError::Form`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        if !(8..=128).contains(&text.len()) {
            return Err(KeyError::Form(format!("{} bytes", text.len())));
        }
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !text.bytes().all(is_known) {
            return Err(KeyError::Form("another character".to_owned()));
        }
        Ok(Self(Secret::new(text)))
    }

    /// The key in a file: its text, without white space around it.
    ///
    /// # Errors
    /// The file cannot be read, or holds no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let mut text = String::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_FILE_BYTES).read_to_string(&mut text));
        read.map_err(|source| KeyError::File {
            path: path.display().to_string(),
            source,
        })?;
        Self::parse(text.trim())
    }

    /// The key that the state keeps, if there is one.
    ///
    /// # Errors
    /// The store failed, or keeps something else.
    pub fn stored(store: &Store) -> Result<Option<Self>, KeyError> {
        let text = store.value(VALUE)?;
        text.as_deref().map(Self::parse).transpose()
    }

    /// Makes a key of 32 random hexadecimal digits and keeps it in the state.
    ///
    /// # Errors
    /// The system has no random bytes, or the store failed.
    pub fn make(store: &mut Store) -> Result<Self, KeyError> {
        let mut random = [0; RANDOM_BYTES];
        getrandom::fill(&mut random).map_err(KeyError::Random)?;
        let digits = random.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits
            .filter_map(|digit| char::from_digit(digit.into(), 16))
            .collect();
        store.commit(&[Effect::value(VALUE, Some(text.clone()))])?;
        Self::parse(&text)
    }

    /// The key itself, for what is sent and for its file.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// The name of its file.
    pub(super) fn file_name(&self) -> String {
        format!("{}.txt", self.reveal())
    }

    /// A text without the key in it, whether its letters are upper or lower case.
    pub(super) fn hidden_in(&self, text: &str) -> String {
        // Both change only bytes of ASCII, of which the key consists: places are the same in both.
        let (folded, key) = (
            text.to_ascii_lowercase(),
            self.reveal().to_ascii_lowercase(),
        );
        let mut hidden = String::with_capacity(text.len());
        let mut end = 0;
        for (start, found) in folded.match_indices(&key) {
            hidden.push_str(&text[end..start]);
            hidden.push_str("<key>");
            end = start + found.len();
        }
        hidden.push_str(&text[end..]);
        hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_key_has_8_to_128_known_characters() {
        let check = |text: &str, expected: bool| {
            assert_eq!(Key::parse(text).is_ok(), expected, "{text}");
        };
        check("abcdEFGH", true);
        check("0123-567", true);
        check(&"a".repeat(128), true);
        check("abcdefg", false);
        check(&"a".repeat(129), false);
        check("abcdefg_", false);
        check("abcdefgé", false);
        check("abc efgh", false);
        check("", false);
    }

    #[test]
    fn made_key_is_stored_and_not_shown() {
        let mut store = Store::in_memory().unwrap();
        assert!(Key::stored(&store).unwrap().is_none());
        let key = Key::make(&mut store).unwrap();
        assert_eq!(key.reveal().len(), 32);
        assert_eq!(Key::stored(&store).unwrap(), Some(key.clone()));
        assert!(!format!("{key:?}").contains(key.reveal()));
        assert_ne!(Key::make(&mut store).unwrap(), key);
        let text = format!("https://example.com/{}.txt", key.reveal());
        assert_eq!(key.hidden_in(&text), "https://example.com/<key>.txt");
    }
}
