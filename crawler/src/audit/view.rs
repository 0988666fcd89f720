//! The sums of an audit as people and programs read them.

use serde_json::{Map, Value, json};
use sitemap_core::read::Severity;

use super::{AuditGroup, AuditOutcome};
use crate::{
    human,
    view::{Tone, View},
};

impl AuditOutcome {
    /// The sums: what was compared, the number of findings of each kind, and what to do next.
    pub fn view(&self) -> View {
        let number = human::number;
        let mut view = View::new(format!(
            "{}: {} known to the crawl, {} listed by it; {} in sitemaps and {} in feeds ({})",
            self.site,
            human::count(self.known, "URL"),
            number(self.listed),
            human::count(self.sitemap_urls, "URL"),
            number(self.feed_urls),
            human::count(self.documents, "document"),
        ));
        let section = view.section("kinds", "");
        for AuditGroup { kind, count, .. } in &self.groups {
            let severity = kind.severity();
            let cells = [
                (*count).into(),
                kind.code().into(),
                severity.to_string().into(),
            ];
            section.row(cells).toned(Tone::of(severity));
        }
        let logs = self.logs;
        if logs.lines > 0 {
            section.line(format!(
                "{}: {} for pages of the site, {} to other hosts, {} that cannot be read",
                human::count(logs.lines, "log line"),
                human::count(logs.pages, "request"),
                number(logs.other_hosts),
                number(logs.unreadable),
            ));
        }
        if self.sitemap_urls == 0 {
            section.line("no sitemap was read, so the URLs that the crawl lists are not compared");
        }
        if self.left_out > 0 {
            section.line(format!(
                "entries of sitemaps and feeds that cannot be read: {}; arpent check prints the reasons",
                number(self.left_out)
            ));
        }
        if !self.groups.is_empty() {
            let next = format!(
                "next: arpent why URL explains a URL; arpent report {} shows the pages with broken links",
                self.site
            );
            section.line(next).toned(Tone::Note);
        }
        view
    }

    /// The sums as JSON.
    pub fn document(&self) -> Value {
        let groups = self.groups.iter();
        let counts: Map<_, _> = groups
            .map(|group| (group.kind.code().to_owned(), json!(group.count)))
            .collect();
        let of = |severity| {
            let groups = self.groups.iter();
            let groups = groups.filter(|group| group.kind.severity() == severity);
            groups.map(|group| group.count).sum::<u64>()
        };
        json!({
            "site": self.site,
            "known": self.known,
            "listed": self.listed,
            "documents": self.documents,
            "sitemap_urls": self.sitemap_urls,
            "feed_urls": self.feed_urls,
            "left_out": self.left_out,
            "unread": self.unread,
            "logs": self.logs,
            "errors": of(Severity::Error),
            "warnings": of(Severity::Warning),
            "notes": of(Severity::Note),
            "counts": counts,
        })
    }
}
