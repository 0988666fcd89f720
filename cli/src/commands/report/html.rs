//! A report as one page for browsers: the rows as data in the page, and a script that shows them. Whatever a site says stands in
//! that data only, which no browser runs, and is shown as text.

use std::{
    io::{self, Write as _},
    path::Path,
};

use crawler::site_report::ReportRow;
use serde_json::{Value, json};

use super::{RowSink, file::WholeFile};

/// The page before the rows, and after them.
const PAGE: &str = include_str!("page.html");

/// The line of the page that the rows replace.
const ROWS: &str = "/*rows*/";

/// The page that is being written.
pub(super) struct HtmlPage {
    file: WholeFile,
    has_rows: bool,
}

impl HtmlPage {
    /// Begins the page `path`.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = WholeFile::create(path)?;
        let (before, _) = PAGE.split_once(ROWS).unwrap_or((PAGE, ""));
        file.write_all(before.as_bytes())?;
        Ok(Self {
            file,
            has_rows: false,
        })
    }
}

/// A row in the form of the page: short, because there are many.
fn short(row: &ReportRow) -> Value {
    match row {
        ReportRow::Report(head) => json!(["r", head.site, head.is_published]),
        ReportRow::Pattern(pattern) => {
            json!([
                "p",
                pattern.name,
                pattern.kind,
                pattern.pages,
                pattern.new,
                pattern.exclude
            ])
        }
        ReportRow::Url(url) => {
            let leads = [
                &url.redirects_to,
                &url.duplicate_of,
                &url.canonical,
                &url.pattern,
            ];
            let leads = leads.into_iter().flatten().next();
            json!([
                "u",
                url.url,
                url.state,
                url.reason,
                url.status,
                url.bytes,
                url.depth,
                url.title,
                leads,
                url.lastmod
            ])
        }
        ReportRow::Link(link) => json!(["l", link.target, link.reason, link.page]),
    }
}

impl RowSink for HtmlPage {
    fn row(&mut self, row: &ReportRow) -> io::Result<()> {
        if std::mem::replace(&mut self.has_rows, true) {
            self.file.write_all(b",\n")?;
        }
        // In a script element only `<` can end the data.
        let text = short(row).to_string().replace('<', "\\u003c");
        self.file.write_all(text.as_bytes())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let (_, after) = PAGE.split_once(ROWS).unwrap_or_default();
        self.file.write_all(after.as_bytes())?;
        self.file.finish()
    }
}

#[cfg(test)]
mod tests {
    use crawler::site_report::LinkRow;

    use super::*;

    #[test]
    fn what_a_site_says_cannot_leave_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        let mut page = Box::new(HtmlPage::create(&path).unwrap());
        let hostile = "</script><script>alert(1)</script><!--";
        page.row(&ReportRow::Link(LinkRow {
            page: hostile.to_owned(),
            target: hostile.to_owned(),
            reason: "gone",
            is_redirect: false,
        }))
        .unwrap();
        page.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let scripts = PAGE.matches("</script").count();
        assert_eq!(text.matches("</script").count(), scripts);
        assert!(!text.contains("<script>alert"));
        assert!(text.contains("\\u003c/script>"));
    }
}
