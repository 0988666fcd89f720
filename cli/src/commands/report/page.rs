//! A report as one page for browsers: the rows as data in the page, a script that shows them as tables, and the outline
//! as HTML. Text of a site is in the data, which no browser runs and the script shows as text, or is escaped.

use std::{
    collections::HashMap,
    io::{self, Write as _},
    path::Path,
};

use crawler::{
    site_report::{ConflictKind, ReportOutline, ReportRow},
    url_key::UrlKey,
};
use serde_json::{Value, json};

use super::RowSink;
use crate::{human, print::sections_of, whole_file::WholeFile};

/// The page.
const PAGE: &str = include_str!("page.html");

/// The line of the page that the rows replace.
const ROWS: &str = "/*rows*/";

/// The line of the page that the outline replaces.
const OUTLINE: &str = "<!--outline-->";

/// Sections of the view whose rows are tables of the page.
const IN_TABLES: [&str; 3] = ["broken-links", "redirected-links", "conflicts"];

/// Rows of one kind that a page holds: more would not open in a second.
const MAX_ROWS: u64 = 100_000;

/// The page that is being written.
pub(super) struct HtmlPage {
    file: WholeFile,
    has_rows: bool,
    /// Scheme, host and port of the site, which most URLs begin with.
    origin: String,
    /// The numbers of the texts that were written, by their fingerprints.
    texts: HashMap<u64, usize>,
    /// URLs, links and conflicts that came.
    counts: [u64; 3],
}

impl HtmlPage {
    /// Begins the page `path`.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = WholeFile::create(path)?;
        file.write_all(parts().0.as_bytes())?;
        Ok(Self {
            file,
            has_rows: false,
            origin: String::new(),
            texts: HashMap::new(),
            counts: [0; 3],
        })
    }

    /// Returns true if there is room for another row of this kind.
    fn has_room(&mut self, kind: usize) -> bool {
        self.counts[kind] += 1;
        self.counts[kind] <= MAX_ROWS
    }

    /// The number of a text, which is written when it comes first.
    fn text(&mut self, text: &str) -> io::Result<Value> {
        let (print, next) = (UrlKey::fingerprint_of(text), self.texts.len());
        let number = *self.texts.entry(print).or_insert(next);
        if number == next {
            self.write(&Value::from(text))?;
        }
        Ok(Value::from(number))
    }

    /// The number of a URL, without the origin of the site.
    fn url(&mut self, url: &str) -> io::Result<Value> {
        let origin = std::mem::take(&mut self.origin);
        let path = url.strip_prefix(&*origin);
        let short = path.filter(|path| path.starts_with('/')).unwrap_or(url);
        let number = self.text(short);
        self.origin = origin;
        number
    }

    fn url_if(&mut self, url: Option<&String>) -> io::Result<Value> {
        url.map_or(Ok(Value::Null), |url| self.url(url))
    }

    fn text_if(&mut self, text: Option<&str>) -> io::Result<Value> {
        text.map_or(Ok(Value::Null), |text| self.text(text))
    }

    fn write(&mut self, value: &Value) -> io::Result<()> {
        if std::mem::replace(&mut self.has_rows, true) {
            self.file.write_all(b",\n")?;
        }
        // In a script element only `<` can end the data.
        let text = value.to_string().replace('<', "\\u003c");
        self.file.write_all(text.as_bytes())
    }

    /// A line about rows that are not in the page.
    fn left_out(&self) -> String {
        let names = ["URLs", "links", "conflicts"];
        let left = names.iter().zip(self.counts);
        let left = left.filter(|(_, count)| *count > MAX_ROWS).map(|(name, count)| {
            format!(
                "<p><strong>The tables hold the first {} of {} {name}; --csv and --ndjson write all.</strong></p>\n",
                human::number(MAX_ROWS),
                human::number(count)
            )
        });
        left.collect()
    }
}

/// The page before the rows, between them and the outline, and after it.
fn parts() -> (&'static str, &'static str, &'static str) {
    let (before, rest) = PAGE.split_once(ROWS).unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once(OUTLINE).unwrap_or((rest, ""));
    (before, between, after)
}

impl RowSink for HtmlPage {
    fn row(&mut self, row: &ReportRow) -> io::Result<()> {
        // Numbers of texts, in the order of the columns: short, because there are many.
        let value = match row {
            ReportRow::Report(head) => {
                let origin = head.site.match_indices('/').nth(2);
                let end = origin.map_or(head.site.len(), |(slash, _)| slash);
                head.site[..end].clone_into(&mut self.origin);
                json!(["r", head.site, head.is_published, self.origin])
            }
            ReportRow::Url(url) if self.has_room(0) => {
                let leads = [
                    &url.redirects_to,
                    &url.duplicate_of,
                    &url.canonical,
                    &url.pattern,
                ];
                let leads = leads.into_iter().find_map(Option::as_ref);
                json!([
                    "u",
                    self.url(&url.url)?,
                    self.text(url.reason)?,
                    url.status,
                    url.bytes,
                    url.duration_ms,
                    url.depth,
                    url.linked_from,
                    self.text_if(url.title.as_deref())?,
                    self.url_if(leads)?,
                    self.text_if(url.lastmod.as_deref())?,
                    u8::from(url.is_orphan),
                ])
            }
            ReportRow::Link(link) if self.has_room(1) => json!([
                "l",
                self.url(&link.target)?,
                self.text(link.reason)?,
                self.url(&link.page)?,
                self.text_if(link.text.as_deref())?,
            ]),
            ReportRow::Conflict(conflict) if self.has_room(2) => json!([
                "c",
                self.url(&conflict.url)?,
                self.text(ConflictKind::text(conflict.kind))?,
                self.url_if(conflict.target.as_ref())?,
                self.text_if(conflict.target_reason)?,
                self.text_if(conflict.language.as_deref())?,
            ]),
            // The outline has the others.
            ReportRow::Url(_)
            | ReportRow::Link(_)
            | ReportRow::Conflict(_)
            | ReportRow::Session(_)
            | ReportRow::Pattern(_) => return Ok(()),
        };
        self.write(&value)
    }

    fn finish(mut self: Box<Self>, outline: &ReportOutline) -> io::Result<()> {
        let (_, between, after) = parts();
        self.file.write_all(between.as_bytes())?;
        let mut view = outline.view("");
        // The tables of the rows have all of these.
        view.sections
            .retain(|section| !IN_TABLES.contains(&section.name));
        let last = outline.last_session().and_then(|session| session.ended);
        let last = last.map_or_else(String::new, |ended| {
            let ended = ended.strftime("%Y-%m-%d %H:%M UTC");
            format!("<p>Last session: {ended}</p>\n")
        });
        let outline = last + &sections_of(&view) + &self.left_out();
        self.file.write_all(outline.as_bytes())?;
        self.file.write_all(after.as_bytes())?;
        self.file.finish()
    }
}

#[cfg(test)]
mod tests {
    use crawler::site_report::LinkRow;

    use super::*;

    #[test]
    fn text_of_a_site_cannot_leave_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        let mut page = Box::new(HtmlPage::create(&path).unwrap());
        let hostile = "</script><script>alert(1)</script><!--";
        let row = ReportRow::Link(LinkRow {
            page: hostile.to_owned(),
            target: hostile.to_owned(),
            text: Some(hostile.to_owned()),
            reason: "gone",
            is_redirect: false,
        });
        let mut outline = ReportOutline::default();
        outline.add(&row);
        page.row(&row).unwrap();
        page.finish(&outline).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let scripts = PAGE.matches("</script").count();
        assert_eq!(text.matches("</script").count(), scripts);
        assert!(!text.contains("<script>alert"));
        assert!(!text.contains(ROWS) && !text.contains(OUTLINE));
        let (_, data) = text.split_once("type=\"application/json\">").unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        let rows: Vec<Value> = serde_json::from_str(data).unwrap();
        // A text is written once.
        assert_eq!(
            rows,
            [json!(hostile), json!("gone"), json!(["l", 0, 1, 0, 0])]
        );
    }
}
