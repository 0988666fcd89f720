//! Lists in text: one URL per line, or a table whose header line names the columns. Where the URLs are is for
//! [`UrlList`] to say; here the other columns get their meaning.

use std::{collections::BTreeSet, io::BufRead};

use sitemap_core::read::{Lines, ListError, ListForm, UrlList};

use super::{
    draft::{Draft, Field},
    input::Row,
    quoted,
};

/// The rows of a list.
pub(super) struct ListRows<R> {
    list: UrlList<R>,
    /// The fields that the columns are for; `None` for the column of URLs, and for one that is not used.
    fields: Vec<Option<Field>>,
    /// Names of columns without a meaning.
    pub(super) unused: Vec<String>,
}

impl<R: BufRead> ListRows<R> {
    /// Reads up to the first line that says something; `wanted` are the names that custom elements ask for.
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

    pub(super) fn next(&mut self) -> Result<Option<Row>, ListError> {
        let Some(row) = self.list.next()? else {
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
        Ok(Some(Row {
            line: row.line,
            said,
        }))
    }

    /// The lines that were read.
    pub(super) fn lines(&self) -> &Lines<R> {
        self.list.lines()
    }

    /// How many rows were left out because their URL does not answer 200.
    pub(super) fn other_status(&self) -> u64 {
        self.list.other_status()
    }
}
