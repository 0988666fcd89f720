//! Lists in text: one URL per line, or a table whose header line names the columns. Where the URLs are is for
//! [`UrlList`] to define; here the other columns get their meaning.

use std::{collections::BTreeSet, io::BufRead};

use sitemap_core::read::{ListError, ListForm, UrlList};

use super::{
    BuildError,
    draft::{Draft, Field},
    quoted,
    rows::{EntryRows, InputRow},
};

/// The rows of a list.
pub(super) struct ListRows<R> {
    list: UrlList<R>,
    /// The fields that the columns are for; `None` for the column of URLs, and for one that is not used.
    fields: Vec<Option<Field>>,
    /// Names of columns without a meaning.
    unused: Vec<String>,
}

impl<R: BufRead> ListRows<R> {
    /// Reads up to the first line that is not blank; `wanted` are the names that custom elements ask for.
    pub(super) fn open(
        input: R,
        form: Option<ListForm>,
        wanted: &BTreeSet<String>,
    ) -> Result<Self, ListError> {
        let list = UrlList::open(input, form)?;
        let mut unused = Vec::new();
        let columns = list.columns().iter().enumerate();
        let fields = columns.map(|(column, name)| {
            // Of several columns of URLs one counts.
            let field = Field::named(name, wanted).filter(|field| *field != Field::Loc);
            let is_url = list.url_column() == Some(column);
            if field.is_none() && !is_url && !name.is_empty() && !unused.contains(name) {
                unused.push(name.clone());
            }
            field.filter(|_| !is_url)
        });
        Ok(Self {
            fields: fields.collect(),
            list,
            unused,
        })
    }
}

impl<R: BufRead + Send> EntryRows for ListRows<R> {
    fn next(&mut self, name: &str) -> Result<Option<InputRow>, BuildError> {
        let row = self.list.next();
        let read = self.list.lines().number();
        let Some(row) = row.map_err(|error| BuildError::of_list(name, read, error))? else {
            return Ok(None);
        };
        let said = row.url.map_err(|error| error.to_string()).map(|loc| {
            let mut draft = Draft {
                loc,
                ..Draft::default()
            };
            let columns = self.fields.iter().zip(self.list.columns());
            for ((field, name), value) in columns.zip(row.values) {
                match (field, value) {
                    (Some(field), Ok(value)) => draft.set(field, &value),
                    (Some(_), Err(error)) => {
                        let problem = format!("{error} in the column {}", quoted(name));
                        draft.problems.push(problem);
                    }
                    (None, _) => {}
                }
            }
            draft
        });
        Ok(Some(InputRow {
            line: row.line,
            said,
        }))
    }

    fn bytes(&self) -> u64 {
        self.list.lines().bytes()
    }

    fn has_trailing_bytes(&self) -> bool {
        self.list.lines().has_trailing_bytes()
    }

    fn left_out(&self) -> u64 {
        self.list.left_out()
    }

    fn unused_columns(&self) -> &[String] {
        &self.unused
    }
}
