//! The counting scan: every entry once, in key order. It gives the plan of the files, and what must be
//! known of all entries before the first of them is written.

use std::{collections::BTreeMap, ops::ControlFlow};

use sitemap_core::{
    Loc, UrlEntry,
    extension::{MAX_NEWS_PER_FILE, Namespaces},
    partition::{Counter, Layout as PartLayout, Part, PartitionError, Placement, Plan, Thresholds},
};

use super::{
    PublishError, PublishRequest,
    manifest::Manifest,
    recent::Recent,
    sections::Sections,
    trial::{Refusals, Trial},
};
use crate::{
    config::{Layout, PublishConfig},
    export::{Export, ExtensionCounts, Sameness},
    notes::Note,
    page::DateSource,
    store::Store,
};

/// What the counting scan found.
#[derive(Debug)]
pub(super) struct Census {
    /// Which files there are and which keys they hold.
    pub(super) plan: Plan,
    /// Listed URLs.
    pub(super) listed: u64,
    /// Bytes of all entries.
    pub(super) bytes: u64,
    /// Where the dates of the entries came from.
    pub(super) sources: BTreeMap<DateSource, u64>,
    /// What became of the extensions that were asked for.
    pub(super) extensions: ExtensionCounts,
    /// What the entries of the whole site need to have declared.
    pub(super) namespaces: Namespaces,
    /// Path and query of the first article of each file of news.
    pub(super) news: Vec<String>,
    /// The pages that changed last, when there is to be a feed.
    pub(super) recent: Recent,
    /// What cannot be written, which is counted here all the same: the scan has to be repeated without it.
    pub(super) refused: Refusals,
    /// What the user should know.
    pub(super) notes: Vec<Note>,
}

impl Census {
    /// Counts all entries in one scan and divides them into files.
    ///
    /// # Errors
    /// The store failed, or the thresholds make no sense.
    pub(super) fn take(
        store: &dyn Store,
        request: &PublishRequest<'_>,
        export: &Export,
        sections: &Sections,
        previous: &Manifest,
    ) -> Result<Self, PublishError> {
        let mut counter = counter(request, previous)
            .and_then(|counter| counter.with_sections(sections.all()))
            .map_err(|error| PublishError::Settings(error.to_string()))?;
        let mut namespaces = Namespaces::default();
        let mut recent = Recent::new(request.config);
        let mut sameness = Sameness::default();
        let mut news = Vec::new();
        let mut articles = 0;
        let mut extensions = ExtensionCounts::default();
        let site = request.site.written().url();
        let place = Loc::parse(&site)
            .map_err(|error| PublishError::Settings(format!("the directory {site}: {error}")))?;
        let mut trial = Trial::new(place);
        let mut sources = BTreeMap::new();
        export.visit::<PublishError>(store, None, &mut |listed| {
            let entry = &listed.entry;
            let path_and_query = listed.written.path_and_query();
            let pushed = match sections.of(listed.key) {
                Some(section) => counter.push_to(section, path_and_query, entry.written_len()),
                None => counter.push(path_and_query, entry.written_len()),
            };
            match pushed {
                Ok(()) => {}
                Err(error @ (PartitionError::Key { .. } | PartitionError::KeyTooLong { .. })) => {
                    trial.refuse(listed.key, format!("{}: {error} (R58)", entry.loc))?;
                    return Ok(ControlFlow::Continue(()));
                }
                Err(error) => {
                    return Err(PublishError::Check {
                        name: "the partition".to_owned(),
                        problem: error.to_string(),
                    });
                }
            }
            trial.add(listed.key, entry, listed.news_entry())?;
            declare(&mut namespaces, entry)?;
            sameness.add(entry, listed.source);
            if listed.news.is_some() {
                if articles % MAX_NEWS_PER_FILE == 0 {
                    news.push(listed.written.path_and_query().to_owned());
                }
                articles += 1;
            }
            if let Some(source) = listed.source {
                *sources.entry(source).or_default() += 1;
            }
            extensions.merge(&listed.extensions);
            recent.offer(&listed);
            Ok(ControlFlow::Continue(()))
        })?;
        let plan = counter.finish();
        let mut notes = sameness.notes();
        notes.extend(recent.note());
        let is_in = |section| {
            plan.parts()
                .iter()
                .any(|part| part.section() == Some(section))
        };
        notes.extend(sections.notes(is_in));
        Ok(Self {
            listed: plan.parts().iter().map(Part::entries).sum(),
            bytes: plan.parts().iter().map(Part::bytes).sum(),
            sources,
            extensions,
            namespaces,
            news,
            recent,
            refused: trial.finish()?,
            notes,
            plan,
        })
    }
}

/// Adds what an entry needs to have declared.
pub(super) fn declare(namespaces: &mut Namespaces, entry: &UrlEntry) -> Result<(), PublishError> {
    namespaces
        .add(&entry.extensions)
        .map_err(|error| PublishError::Settings(format!("{}: {error}", entry.loc)))
}

fn counter(request: &PublishRequest<'_>, previous: &Manifest) -> Result<Counter, PartitionError> {
    let PublishConfig {
        min_section,
        min_subsection,
        file_entries,
        file_bytes,
        ..
    } = *request.config;
    let thresholds = Thresholds {
        section: min_section,
        subsection: min_subsection,
        file_entries,
        file_bytes,
    };
    let placement = match request.config.layout {
        Layout::Root => Placement::Root,
        Layout::InPlace => Placement::InPlace,
    };
    let layout: PartLayout = previous.layout.parse().unwrap_or_default();
    Counter::new(
        &request.site.written().directory,
        thresholds,
        placement,
        &layout,
    )
}
