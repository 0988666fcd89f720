//! A report as people read it.

use std::{cmp::Reverse, time::Duration};

use serde_json::{Map, Value, json};

use super::{ConflictKind, ReportOutline, SectionOutline, TargetOutline};
use crate::{
    human,
    page::{DateSource, Reason, State},
    store::StoredSession,
    view::{Curve, MAX_ROWS, Section, Tone, View},
};

/// Pages that take less are not slow.
const SLOW_MS: u64 = 1_000;

/// Pages with fewer bytes are not heavy.
const HEAVY_BYTES: u64 = 1024 * 1024;

impl ReportOutline {
    /// The report on `site`.
    pub fn view(&self, site: &str) -> View {
        let is_published = self.head.as_ref().is_none_or(|head| head.is_published);
        let mut view = View::new(format!(
            "{site}: {}{} of {} {}listed",
            if is_published {
                ""
            } else {
                "nothing is published yet, "
            },
            human::number(self.listed),
            human::count(self.known, "known URL"),
            if is_published { "" } else { "would be " },
        ));
        self.add_counts(&mut view);
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, urls)| Reverse(urls.count));
        let reasons = reasons
            .into_iter()
            .map(|((state, code), urls)| (*state, *code, urls.count, &urls.examples));
        let section = view.section("reasons", "URLs by reason");
        add_reasons(section, is_published, reasons);
        let unpublished = self.head.iter().flat_map(|head| &head.unpublished);
        let mut unpublished = unpublished
            .map(|urls| (urls.state, urls.reason, urls.count, &urls.examples))
            .peekable();
        if unpublished.peek().is_some() {
            let title = "URLs of the last crawl, which is not published";
            add_reasons(view.section("unpublished", title), false, unpublished);
        }
        self.add_targets(&mut view, false);
        self.add_targets(&mut view, true);
        self.add_conflicts(&mut view);
        self.add_duplicates(&mut view);
        if self.orphans.count > 0 {
            let count = human::count(self.orphans.count, "URL");
            let title = format!("Orphans: {count} that no page links to");
            let section = view.section("orphans", title);
            for url in &self.orphans.examples {
                section.line(url);
            }
            section.more = self.orphans.count - self.orphans.examples.len() as u64;
        }
        self.add_patterns(&mut view);
        self.add_directories(&mut view);
        let section = view.section("lastmod", "Evidence for lastmod");
        section.heads(&["URLs", "Source"]);
        for (source, count) in &self.lastmod_sources {
            section.row([(*count).into(), DateSource::label_of(source).into()]);
        }
        self.add_times(&mut view);
        self.add_politeness(&mut view);
        self.add_sessions(&mut view);
        view
    }

    /// The report on `site` as one JSON object: counts, and the first URLs of each reason.
    pub fn document(&self, site: &str) -> Value {
        let reasons = self.reasons.iter().map(|((state, reason), urls)| {
            json!({"state": state, "reason": reason, "count": urls.count, "examples": urls.examples})
        });
        let sections = self.sections.iter().map(|(path, section)| {
            let (known, listed, reasons) = (section.known, section.listed, &section.reasons);
            json!({"path": path, "known": known, "listed": listed, "reasons": reasons})
        });
        let conflicts = self.conflicts.iter();
        let conflicts: Map<String, Value> = conflicts
            .map(|(kind, conflicts)| (kind.code(), json!(conflicts.count)))
            .collect();
        json!({
            "version": 1,
            "site": site,
            "known": self.known,
            "listed": self.listed,
            "failed": self.failed,
            "reasons": reasons.collect::<Vec<_>>(),
            "unpublished": self.head.as_ref().map_or(&[][..], |head| &head.unpublished),
            "sections": sections.collect::<Vec<_>>(),
            "broken_targets": self.targets_of(false).len(),
            "redirected_targets": self.targets_of(true).len(),
            "duplicates": self.duplicates.len(),
            "patterns": self.patterns,
            "orphans": {"count": self.orphans.count, "examples": self.orphans.examples},
            "conflicts": conflicts,
            "lastmod": self.lastmod_sources,
            "rendered": self.rendered,
        })
    }

    fn add_counts(&self, view: &mut View) {
        let of_queue = self.reasons.iter();
        let of_queue = of_queue.filter(|((state, _), _)| *state == "queued");
        let queued: u64 = of_queue.map(|(_, urls)| urls.count).sum();
        let conflicts = self.conflicts.values().map(|kind| kind.count).sum();
        let facts = [
            ("left out", self.known - self.listed - self.failed - queued),
            ("failed", self.failed),
            ("not reached", queued),
            ("broken targets", self.targets_of(false).len() as u64),
            ("conflicts", conflicts),
            ("orphans", self.orphans.count),
            ("rendered", self.rendered.pages),
            ("links by scripts", self.rendered.links),
        ];
        let section = view.section("numbers", "");
        for (name, count) in facts.into_iter().filter(|(_, count)| *count > 0) {
            section.fact(name, Some(count));
        }
    }

    /// Targets of links that redirect, or that are broken, those on most pages first.
    fn targets_of(&self, is_redirect: bool) -> Vec<(&String, &TargetOutline)> {
        let targets = self.targets.iter();
        let targets = targets.filter(|(_, target)| target.is_redirect == is_redirect);
        let mut targets: Vec<_> = targets.collect();
        targets.sort_by_key(|(_, target)| Reverse(target.pages));
        targets
    }

    fn add_targets(&self, view: &mut View, is_redirect: bool) {
        let targets = self.targets_of(is_redirect);
        let count = |noun| human::count(targets.len() as u64, noun);
        let (name, title) = if is_redirect {
            let urls = count("redirected URL");
            ("redirected-links", format!("Links to {urls}"))
        } else {
            let urls = count("broken URL");
            ("broken-links", format!("Links to {urls}"))
        };
        let section = view.section(name, title);
        section.heads(&["Pages", "Reason", "Target of the link"]);
        section.rows(MAX_ROWS, targets.into_iter(), |section, (url, target)| {
            let cells = [target.pages.into(), target.reason.into(), (&**url).into()];
            let examples = target.examples.iter().map(|(page, text)| match text {
                Some(text) => format!("{page} \"{text}\""),
                None => page.clone(),
            });
            section.row(cells).below(examples, target.pages);
        });
    }

    fn add_conflicts(&self, view: &mut View) {
        let section = view.section("conflicts", "Conflicts");
        for (kind, conflicts) in &self.conflicts {
            let examples = conflicts.examples.iter().map(|conflict| {
                let words = [&conflict.language, &conflict.target];
                let words = words.into_iter().flatten().map(String::as_str);
                let words = words.chain(conflict.target_reason);
                let words: String = words.flat_map(|word| [" ", word]).collect();
                format!("{}{words}", conflict.url)
            });
            let count = human::count(conflicts.count, "page");
            let row = section.line(format!("{count}: {}", kind.text()));
            row.below(examples, conflicts.count);
        }
        if !self.has_languages && !self.conflicts.is_empty() {
            section.line(
                "the crawl did not read versions in other languages; --with hreflang reads them",
            );
        }
    }

    fn add_duplicates(&self, view: &mut View) {
        let mut duplicates: Vec<_> = self.duplicates.iter().collect();
        duplicates.sort_by_key(|(_, copies)| Reverse(copies.count));
        let count = human::count(duplicates.len() as u64, "listed page");
        let section = view.section("duplicates", format!("Copies of {count}"));
        section.heads(&["Copies", "Listed page"]);
        section.rows(
            MAX_ROWS,
            duplicates.into_iter(),
            |section, (url, copies)| {
                let row = section.row([copies.count.into(), (&**url).into()]);
                row.below(&copies.examples, copies.count);
            },
        );
    }

    fn add_patterns(&self, view: &mut View) {
        let section = view.section(
            "patterns",
            "Parts without end, and parameters without effect",
        );
        section.heads(&[
            "Requested",
            "Left out",
            "Not requested",
            "Part",
            "Kind",
            "Example",
        ]);
        section.rows(MAX_ROWS, self.patterns.iter(), |section, pattern| {
            section.row([
                pattern.requested.into(),
                pattern.left_out.into(),
                pattern.not_requested.into(),
                (&*pattern.name).into(),
                pattern.kind.into(),
                (&*pattern.example).into(),
            ]);
        });
        if let Some(line) = self.exclude_line() {
            section.line(format!(
                "{line} ends those with a rule; no listed page matches"
            ));
        }
    }

    /// The line of the settings that ends all places without end that hold no listed page.
    fn exclude_line(&self) -> Option<String> {
        // A glob of ours has no apostrophe but one of a URL, which TOML writes in quotes.
        let rules = self.excludes().map(|glob| {
            if glob.contains('\'') {
                format!("{glob:?}")
            } else {
                format!("'{glob}'")
            }
        });
        let rules: Vec<String> = rules.collect();
        (!rules.is_empty()).then(|| format!("exclude = [{}]", rules.join(", ")))
    }

    fn add_directories(&self, view: &mut View) {
        let mut directories: Vec<_> = self.sections.iter().collect();
        directories.sort_by_key(|(_, directory)| Reverse(directory.known));
        let section = view.section("sections", "URLs by directory");
        section.heads(&["Known", "Listed", "Directory"]);
        section.has_bars = true;
        section.rows(
            MAX_ROWS,
            directories.into_iter(),
            |section, (path, directory)| {
                let row = section.row([
                    directory.known.into(),
                    directory.listed.into(),
                    (&**path).into(),
                ]);
                row.below(reasons_of(directory), 0);
            },
        );
    }

    fn add_times(&self, view: &mut View) {
        let at = |percent| self.duration_ms(percent).map(milliseconds);
        let section = view.section("times", "Response times and sizes");
        section.heads(&["Time or size", "Page"]);
        if let (Some(median), Some(most), Some(nearly_all)) = (at(50), at(90), at(99)) {
            section.line(format!(
                "median {median}, 90th percentile {most}, 99th percentile {nearly_all}"
            ));
        }
        for (took, url) in self.slow.iter().filter(|(took, _)| *took >= SLOW_MS) {
            section.row([milliseconds(*took).into(), (&**url).into()]);
        }
        for (bytes, url) in self.heavy.iter().filter(|(bytes, _)| *bytes >= HEAVY_BYTES) {
            section.row([human::bytes(*bytes).into(), (&**url).into()]);
        }
    }

    /// How polite the last session was.
    fn add_politeness(&self, view: &mut View) {
        let Some(session) = self.last_session() else {
            return;
        };
        let requests = session.requests.unwrap_or_default();
        let seconds = session
            .ended
            .map(|ended| ended.duration_since(session.began).as_secs_f64());
        #[expect(clippy::cast_precision_loss, reason = "a rate has two digits")]
        let rate = seconds
            .filter(|seconds| *seconds > 0.0)
            .map(|seconds| requests as f64 / seconds);
        let section = view.section("politeness", "Politeness of the last session");
        section.fact("requests", Some(requests));
        section.fact("requests per second", rate.map(human::speed));
        let waited = session.waited_ms.unwrap_or_default();
        section.fact("waited for the host", Some(milliseconds(waited)));
        section.fact(
            "Retry-After obeyed",
            Some(session.retry_afters.unwrap_or_default()),
        );
        section.fact("slowdowns", Some(session.slowdowns.unwrap_or_default()));
        let disallowed = session.robots_disallowed.unwrap_or_default();
        section.fact("URLs disallowed by robots.txt", Some(disallowed));
        section.fact(
            "time between requests at the end",
            session.interval_ms.map(milliseconds),
        );
    }

    fn add_sessions(&self, view: &mut View) {
        let curve = |name, value: fn(&StoredSession) -> Option<u64>| {
            let points = self.sessions.iter();
            let points =
                points.filter_map(|session| Some((session.began.as_second(), value(session)?)));
            Curve {
                name,
                points: points.collect(),
            }
        };
        let section = view.section("growth", "Sessions, the newest first");
        section.heads(&[
            "Began (UTC)",
            "Took",
            "Outcome",
            "Listed",
            "Known",
            "Failed",
            "Fetched",
        ]);
        section.curves = vec![
            curve("listed", |session| session.listed),
            curve("known", |session| session.known),
        ];
        section.rows(MAX_ROWS, self.sessions.iter().rev(), |section, session| {
            let took = session
                .ended
                .map(|ended| ended.duration_since(session.began));
            let took = took.and_then(|took| Duration::try_from(took).ok());
            section.row([
                session.began.strftime("%Y-%m-%d %H:%M").to_string().into(),
                took.map(human::duration).into(),
                session.outcome.as_deref().unwrap_or("no end").into(),
                session.listed.into(),
                session.known.into(),
                session.failed.into(),
                session.fetched.into(),
            ]);
        });
    }
}

impl ConflictKind {
    /// The code of the kind, as in the rows.
    fn code(self) -> String {
        let code = serde_json::to_value(self).unwrap_or_default();
        code.as_str().unwrap_or_default().to_owned()
    }
}

/// Adds URLs by reason: state, code, count and examples.
fn add_reasons<'u>(
    section: &mut Section,
    is_published: bool,
    reasons: impl Iterator<Item = (&'static str, &'static str, u64, &'u Vec<String>)>,
) {
    section.heads(&["URLs", "Reason", "State", "Meaning"]);
    section.has_bars = true;
    for (state, code, count, examples) in reasons {
        let reason = Reason::from_code(code);
        let text = match reason {
            Some(Reason::Listed) if !is_published => "meets all rules",
            reason => reason.map_or("", Reason::text),
        };
        // In one word with the numbers above.
        let state = match state {
            "excluded" => "left out",
            "listed" if !is_published => "would be listed",
            state => state,
        };
        let row = section.row([count.into(), code.into(), state.into(), text.into()]);
        match reason.map(Reason::state) {
            Some(State::Listed) => row.toned(Tone::Strong),
            Some(State::Failed) => row.toned(Tone::Error),
            Some(State::Queued | State::Excluded) | None => row,
        };
        if reason != Some(Reason::Listed) {
            row.below(examples, count);
        }
    }
}

/// The reasons of a directory, the most frequent first.
fn reasons_of(directory: &SectionOutline) -> Option<String> {
    let mut reasons: Vec<_> = directory.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| Reverse(**count));
    let reasons = reasons.iter();
    let reasons = reasons.map(|(code, count)| format!("{code} {}", human::number(**count)));
    let reasons: Vec<String> = reasons.collect();
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

fn milliseconds(time: u64) -> String {
    human::duration(Duration::from_millis(time))
}
