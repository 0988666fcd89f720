//! The pages of the site for people, by directory and with their titles: `sitemap.html`, which visitors read, and `llms.txt`
//! (<https://llmstxt.org/>). Memory: the entries of one file, at most [`MAX_ENTRIES`].

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
};

use sitemap_core::write::FileSummary;

use super::entries::WrittenEntry;
use crate::{
    config::{Format, PublishConfig},
    human,
    url_key::first_directory,
};

/// Pages in one file.
pub(super) const MAX_ENTRIES: u64 = 5_000;

/// The style of a page for visitors.
const STYLE: &str = "body{max-width:50rem;margin:0 auto;padding:1rem;font:1rem/1.5 system-ui,sans-serif}h2{font-size:1.1rem}\
                     li,h1,h2{overflow-wrap:anywhere}nav a{margin-right:.5rem}";

/// The form of a file with pages for people.
#[derive(Debug, Clone)]
pub(super) enum OverviewForm {
    /// A file of several, with the names of all of them.
    Html { number: usize, names: Vec<String> },
    /// The URL of the sitemap that has all pages.
    Llms { sitemap: String },
}

/// Returns whether a set of these settings has files for people.
pub(super) fn is_wanted(config: &PublishConfig) -> bool {
    let formats = [Format::Html, Format::Llms];
    formats.iter().any(|format| config.formats.contains(format))
}

/// The pages of a file, by first-level directory.
#[derive(Debug, Default)]
pub(super) struct OverviewPages {
    by_directory: BTreeMap<String, Vec<OverviewPage>>,
    count: u64,
}

#[derive(Debug)]
struct OverviewPage {
    key: String,
    title: String,
}

/// Returns whether a file of this name is one for people, which no reader of sitemaps understands.
pub(crate) fn is_overview(name: &str) -> bool {
    name == LLMS || name.rsplit('.').next() == Some("html")
}

/// The name of the file for language models.
pub(super) const LLMS: &str = "llms.txt";

impl OverviewPages {
    /// Adds a page.
    pub(super) fn add(&mut self, entry: WrittenEntry<'_>) {
        let path = entry.key.split('?').next().unwrap_or_default();
        let directory = first_directory(path).to_owned();
        let title = match entry.title {
            "" => entry.key,
            title => title,
        };
        self.count += 1;
        self.by_directory
            .entry(directory)
            .or_default()
            .push(OverviewPage {
                key: entry.key.to_owned(),
                title: title.split_whitespace().collect::<Vec<_>>().join(" "),
            });
    }
}

impl OverviewForm {
    /// Writes the file; `origin` is that of the pages, `site` the URL of the site.
    ///
    /// # Errors
    /// The output refuses the bytes.
    pub(super) fn write<W: Write>(
        &self,
        pages: &OverviewPages,
        origin: &str,
        site: &str,
        mut out: W,
    ) -> io::Result<(W, FileSummary)> {
        let text = match self {
            Self::Html { number, names } => html(pages, origin, site, *number, names),
            Self::Llms { sitemap } => llms(pages, origin, site, sitemap),
        };
        out.write_all(text.as_bytes())?;
        let mut summary = FileSummary::default();
        (summary.entries, summary.bytes) = (pages.count, text.len() as u64);
        Ok((out, summary))
    }
}

/// The name of a site: its URL without scheme and last slash.
fn name_of(site: &str) -> &str {
    let name = site.split_once("://").map_or(site, |(_, name)| name);
    name.trim_end_matches('/')
}

fn html(
    pages: &OverviewPages,
    origin: &str,
    site: &str,
    number: usize,
    names: &[String],
) -> String {
    let (title, home) = (human::html(name_of(site)), human::html(site));
    let mut text = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1><a href=\"{home}\">{title}</a></h1>\n"
    );
    if names.len() > 1 {
        text.push_str("<nav>\n");
        for (other, name) in names.iter().enumerate() {
            let current = if other == number {
                " aria-current=\"page\""
            } else {
                ""
            };
            _ = writeln!(text, "<a href=\"{name}\"{current}>{}</a>", other + 1);
        }
        text.push_str("</nav>\n");
    }
    for (directory, pages) in &pages.by_directory {
        _ = writeln!(text, "<h2>{}</h2>\n<ul>", human::html(directory));
        for OverviewPage { key, title } in pages {
            let (url, title) = (human::html(&format!("{origin}{key}")), human::html(title));
            _ = writeln!(text, "<li><a href=\"{url}\">{title}</a></li>");
        }
        text.push_str("</ul>\n");
    }
    text.push_str("</body>\n</html>\n");
    text
}

fn llms(pages: &OverviewPages, origin: &str, site: &str, sitemap: &str) -> String {
    let mut text = format!("# {}\n", name_of(site));
    for (directory, pages) in &pages.by_directory {
        _ = write!(text, "\n## {directory}\n\n");
        for OverviewPage { key, title } in pages {
            _ = writeln!(text, "- [{}]({origin}{})", marked(title), target(key));
        }
    }
    _ = writeln!(text, "\n## Optional\n\n- [All pages]({})", target(sitemap));
    text
}

/// A text in a link of Markdown (<https://spec.commonmark.org/0.31.2/#backslash-escapes>).
fn marked(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\[]`*_<>&".contains(character) {
            marked.push('\\');
        }
        marked.push(character);
    }
    marked
}

/// A URL in a link of Markdown: a bracket would end it.
fn target(url: &str) -> String {
    url.replace('(', "%28").replace(')', "%29")
}

#[cfg(test)]
mod tests {
    use sitemap_core::extension::Namespaces;

    use super::*;

    fn pages(entries: &[(&str, &str)]) -> OverviewPages {
        let mut pages = OverviewPages::default();
        for (key, title) in entries {
            pages.add(WrittenEntry {
                key,
                section: None,
                namespaces: &Namespaces::default(),
                lastmod: "",
                line: b"",
                news: b"",
                title,
            });
        }
        pages
    }

    #[test]
    fn pages_are_below_their_directories() {
        let pages = pages(&[
            ("/", "Home"),
            ("/about", "About <us> & \"you\""),
            ("/blog/", "Blog"),
            ("/blog/a?x=/y/", ""),
            ("/contact", "Contact"),
        ]);
        let names = ["sitemap.html", "sitemap-2.html"].map(str::to_owned);
        let html = html(&pages, "https://a.example", "https://a.example/", 1, &names);
        let expected = "<h2>/</h2>\n<ul>\n\
            <li><a href=\"https://a.example/\">Home</a></li>\n\
            <li><a href=\"https://a.example/about\">About &lt;us&gt; &amp; &quot;you&quot;</a></li>\n\
            <li><a href=\"https://a.example/contact\">Contact</a></li>\n</ul>\n<h2>/blog/</h2>\n<ul>\n\
            <li><a href=\"https://a.example/blog/\">Blog</a></li>\n\
            <li><a href=\"https://a.example/blog/a?x=/y/\">/blog/a?x=/y/</a></li>\n</ul>\n";
        assert!(html.contains(expected), "{html}");
        let current = "<a href=\"sitemap.html\">1</a>\n<a href=\"sitemap-2.html\" aria-current=\"page\">2</a>";
        assert!(html.contains(current), "{html}");
    }

    #[test]
    fn titles_cannot_end_a_link_of_markdown() {
        let pages = pages(&[("/a_(b)", "a](http://evil.example) `x` \n *b*")]);
        let sitemap = "https://a.example/sitemap.xml";
        let expected = "# a.example/docs\n\n## /\n\n\
            - [a\\](http://evil.example) \\`x\\` \\*b\\*](https://a.example/a_%28b%29)\n\n\
            ## Optional\n\n- [All pages](https://a.example/sitemap.xml)\n";
        let text = llms(
            &pages,
            "https://a.example",
            "https://a.example/docs/",
            sitemap,
        );
        assert_eq!(text, expected);
    }
}
