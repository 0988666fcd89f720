//! An explanation as people read it.

use jiff::Timestamp;

use super::{
    LastAnswer, LastmodStory, LiveStory, NamedUrl, PatternStory, RobotsLine, UrlExplanation, found,
};
use crate::{
    human,
    page::{DateSource, Reason, RenderedContent, with_code},
    view::{Section, Tone, View},
};

impl UrlExplanation {
    /// The explanation: what it comes to, the facts of the state, and the current answer.
    pub fn view(&self) -> View {
        let mut view = View::new(&*self.url);
        let reason = self
            .reason
            .filter(|reason| *reason != Reason::Listed.code());
        let why = match reason {
            Some(code) => with_code(&self.why, code),
            None => self.why.clone(),
        };
        // A crawl that is not published knows the URL, and no set has it.
        let is_unpublished = self.under_way.is_some() && self.history.is_none();
        let why = match reason {
            None if is_unpublished => "by a crawl that is not published".to_owned(),
            _ => why,
        };
        let state = match self.state {
            "listed" if is_unpublished => "would be listed",
            "unknown" => "not known",
            "excluded" => "not listed",
            "failed" => "not listed: failed",
            "queued" => "not listed yet",
            state => state,
        };
        let section = view.section("answer", "");
        section.line(format!("{state}: {why}"));
        if let Some(advice) = &self.advice {
            let is_action = !advice.starts_with("nothing to do");
            let label = if is_action { "what to do: " } else { "" };
            section.line(format!("{label}{advice}")).toned(Tone::Note);
        }
        if let Some(story) = &self.live {
            let now = match story.reason {
                "listed" => "would be listed".to_owned(),
                code => with_code(&story.why, code),
            };
            section.line(format!("now, by this answer alone: {now}"));
        }
        let section = view.section("facts", "What the crawls know");
        self.add_answer(section);
        self.add_rules(section);
        self.add_entry(section);
        if let Some(story) = &self.live {
            story.add_to(view.section("live", "What it answers now"));
        }
        view
    }

    /// How it was found, and what it answered.
    fn add_answer(&self, section: &mut Section) {
        let steps = self.found.iter();
        let steps = steps.map(|step| format!("{} ({})", step.url, step.via));
        let is_cut = self.found.len() == found::MAX_STEPS;
        let before = is_cut.then(|| format!("... more than {} steps before", found::MAX_STEPS));
        add_all(section, "found", before.into_iter().chain(steps));
        let answer = self.answer.as_ref();
        section.fact("answer", answer.map(LastAnswer::text));
        section.fact("title", answer.and_then(|answer| answer.title.clone()));
        let rendered = answer.and_then(|answer| answer.rendered);
        section.fact("rendered", rendered.map(rendered_text));
        let redirects = self.redirects.iter().map(|step| {
            let status = step.status;
            let status = status.map_or_else(String::new, |status| format!("{status}, "));
            format!(
                "{} ({status}{})",
                step.url,
                step.reason.unwrap_or("not known")
            )
        });
        add_all(section, "redirects", redirects);
    }

    /// The rules that decided, and the pages that it is compared with.
    fn add_rules(&self, section: &mut Section) {
        section.fact("robots.txt", Some(self.robots.text()));
        let scope = &self.scope;
        let rule = scope.rule.as_ref();
        let rule = rule.map_or_else(String::new, |rule| format!(" \"{rule}\""));
        let setting = match scope.setting {
            "scope" => String::new(),
            setting => format!(" by {setting}"),
        };
        section.fact("scope", Some(format!("{}{setting}{rule}", scope.judgement)));
        let directives = Some(self.directives.join(", "));
        section.fact("directives", directives.filter(|words| !words.is_empty()));
        section.fact("canonical", self.canonical.as_ref().map(NamedUrl::text));
        section.fact("same page", self.duplicate_of.as_ref().map(NamedUrl::text));
        add_all(section, "same bytes", self.copies.iter().cloned());
        section.fact("pattern", self.pattern.as_ref().map(PatternStory::text));
    }

    /// The entry in the published set, and its history.
    fn add_entry(&self, section: &mut Section) {
        if let Some(story) = &self.lastmod {
            add_all(section, "lastmod", story.lines().into_iter());
        }
        section.fact("file", self.file.clone());
        if let Some(history) = &self.history {
            let [first, last] = [history.first_seen, history.last_seen].map(human::minute);
            section.fact("known", Some(format!("since {first}, last {last}")));
            let since = |time: Timestamp| format!("since {}", human::minute(time));
            section.fact("content", history.content_since.map(since));
            section.fact("failing", history.failing_since.map(since));
            section.fact("gone", history.gone_since.map(since));
        }
        let visit = self.under_way.as_ref();
        let visit = visit.filter(|_| self.history.is_some()).map(|visit| {
            let reason = match visit.reason {
                "listed" => "would be listed".to_owned(),
                code => with_code(visit.why, code),
            };
            format!("{reason}, in a crawl that is not published")
        });
        section.fact("last crawl", visit);
    }
}

impl LiveStory {
    fn add_to(&self, section: &mut Section) {
        for hop in &self.hops {
            let status = hop.status.map(|status| status.to_string());
            let answer = status.or_else(|| hop.error.clone()).unwrap_or_default();
            let row = section.row([
                "answer".into(),
                format!("{}: {answer} ({})", hop.url, hop.reason).into(),
            ]);
            let headers = hop.headers.iter();
            let headers = headers.map(|(header, value)| format!("{header}: {value}"));
            row.below.extend(headers);
            let title = hop.title.as_ref();
            row.below
                .extend(title.map(|title| format!("title: {title}")));
            if !hop.directives.is_empty() {
                row.below
                    .push(format!("directives: {}", hop.directives.join(", ")));
            }
            let canonical = hop.canonical.as_ref();
            row.below
                .extend(canonical.map(|url| format!("canonical: {url}")));
        }
        section.fact("not asked", self.not_requested.clone());
        section.fact("robots.txt", self.robots.as_ref().map(RobotsLine::text));
        let content = self.is_content_changed.map(|is_changed| {
            if is_changed {
                "changed since the last answer"
            } else {
                "as at the last answer"
            }
        });
        section.fact("content", content);
        section.fact("changed", self.differs.clone());
    }
}

/// Adds a fact with several values; the first has the name.
fn add_all(section: &mut Section, name: &str, values: impl Iterator<Item = String>) {
    for (number, value) in values.enumerate() {
        section.fact(if number == 0 { name } else { "" }, Some(value));
    }
}

impl RobotsLine {
    fn text(&self) -> String {
        let place = match (self.number, &self.group) {
            (Some(number), Some(group)) => format!(" (line {number}, User-agent: {group})"),
            _ => String::new(),
        };
        match (&self.line, self.allowed, self.is_read) {
            (Some(line), true, _) => format!("allowed by \"{line}\"{place}"),
            (Some(line), false, _) => format!("disallowed by \"{line}\"{place}"),
            (None, _, true) => "allowed: no rule matches".to_owned(),
            (None, _, false) => "not known: the last crawl did not read robots.txt".to_owned(),
        }
    }
}

impl LastAnswer {
    fn text(&self) -> String {
        let mut parts = Vec::new();
        let confirmed = if self.is_confirmed {
            " (confirmed by a 304)"
        } else {
            ""
        };
        parts.extend(self.status.map(|status| format!("{status}{confirmed}")));
        parts.extend(
            self.error
                .as_ref()
                .map(|error| format!("last attempt: {error}")),
        );
        parts.extend(self.content_type.clone());
        if self.bytes > 0 {
            parts.push(human::bytes(self.bytes));
        }
        parts.extend(self.fetched_at.map(human::minute));
        if self.attempts > 1 {
            parts.push(format!("{} tries", self.attempts));
        }
        parts.join(", ")
    }
}

/// What a browser shows, and what the HTML has.
fn rendered_text(rendered: RenderedContent) -> String {
    let of = |links: u32, text: u32| {
        let (links, text) = (
            human::count(links.into(), "link"),
            human::number(text.into()),
        );
        format!("{links} and {text} characters of text")
    };
    format!(
        "{} in the browser, {} in the HTML",
        of(rendered.links, rendered.text),
        of(rendered.html_links, rendered.html_text)
    )
}

impl NamedUrl {
    fn text(&self) -> String {
        let became = match self.reason {
            Some(code) if code == Reason::Listed.code() => code.to_owned(),
            Some(code) => {
                let text = Reason::from_code(code).map_or("", Reason::text);
                format!("{code}: {text}")
            }
            None => "not known".to_owned(),
        };
        format!("{} ({became})", self.url)
    }
}

impl PatternStory {
    fn text(&self) -> String {
        format!(
            "{} ({}), e.g. {}: requested {}, {} of these not listed because of it; not requested {}",
            self.name,
            self.kind,
            self.example,
            human::count(self.requested, "page"),
            human::number(self.left_out),
            human::count(self.not_requested, "URL"),
        )
    }
}

impl LastmodStory {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![match (&self.value, self.source) {
            (Some(value), Some(source)) => {
                format!("{value}, from {}", DateSource::label_of(source))
            }
            (Some(value), None) => value.clone(),
            (None, _) => "none".to_owned(),
        }];
        let unused = self.evidence.iter().filter(|evidence| !evidence.is_used);
        lines.extend(unused.map(|evidence| {
            let why_not = evidence.why_not.unwrap_or_default();
            let source = DateSource::label_of(evidence.source);
            format!("not {} from {source}: {why_not}", evidence.value)
        }));
        lines
    }
}
