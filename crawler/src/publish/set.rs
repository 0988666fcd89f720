//! A set as a whole, built and not visible yet. A new one is made here: the judgement, the plan, the guard, every file.
//! What the manifest says of a set, and how it is summed up, is the same for one that was kept and is restored.

use std::collections::HashSet;

use super::{
    PublishError, PublishRequest, Published, PublishedFile,
    census::Census,
    content::Builder,
    doubts,
    file::BuiltFile,
    files::{PlannedSet, Role},
    folder::{Folder, Temporary},
    generations::Generation,
    go_on,
    guard::{self, Figures, Remembered},
    manifest::{FileRecord, Manifest},
    previous::{Contents, Previous},
    sections::Sections,
    survey::{self, Survey},
    trial::LeftOut,
};
use crate::{
    export::{EntryRules, Export},
    store::Store,
};

/// A set, built and not visible yet.
pub(super) struct ReadySet {
    pub(super) origin: Origin,
    pub(super) previous: Previous,
    /// What an interrupted publish put in place.
    pub(super) intended: Contents,
    /// The indexes, then the parts.
    pub(super) built: Vec<BuiltFile>,
    pub(super) manifest: Manifest,
    /// What the guard of the next publish compares with.
    pub(super) remembered: Remembered,
    pub(super) published: Published,
}

/// Where a set comes from.
pub(super) enum Origin {
    /// The records of a run, which are at hand.
    Run(Box<Export>),
    /// One of the sets that were kept; those that are kept from then on, itself the last. Its entries are those in its
    /// files.
    Kept(Vec<Generation>),
}

/// What a set knows of itself beside its files.
pub(super) struct Facts {
    pub(super) listed: u64,
    /// The layout in its text form.
    pub(super) layout: String,
    pub(super) remembered: Remembered,
}

impl ReadySet {
    /// Plans and builds the set of a run; without a folder nothing is written.
    pub(super) fn of_run(
        store: &mut dyn Store,
        request: &PublishRequest<'_>,
        mut folder: Option<&mut Folder>,
    ) -> Result<Self, PublishError> {
        let rules = EntryRules::new(&request.config.entries)
            .map_err(|error| PublishError::Settings(error.to_string()))?;
        let trust = crate::export::distrusted(store)?;
        let mut survey = Survey::new(store, request.run)?;
        let mut export = Export::prepare_watched(
            store,
            request.run,
            request.site.stand_in.as_ref(),
            request.now,
            &mut |store, key, record, reason| survey.look(store, request.site, key, record, reason),
        )?
        .with_file_dates(request.config.lastmod)
        .with_rules(rules)
        .with_extensions(request.config.extensions, request.robots.cloned());
        go_on(request)?;
        let sections = Sections::new(request)?;
        let previous = Previous::read(store, request)?;
        let mut left_out = LeftOut::default();
        let census = loop {
            let census = Census::take(store, request, &export, &sections, &previous.manifest)?;
            if census.refused.is_empty() {
                break census;
            }
            go_on(request)?;
            left_out.add(&census.refused);
            census.refused.apply(store, &mut export)?;
        };
        let (figures, remembered) =
            survey.finish(store, request.run, &previous.manifest, census.listed)?;
        if let Err(refused) = guard(request, &figures) {
            survey::restore(store, request.run, trust)?;
            if matches!(refused, PublishError::Refused(_)) {
                doubts::forget(store, request.run)?;
            }
            return Err(refused);
        }
        if let Some(doubted) = request.doubted.filter(|doubted| doubted.is_all) {
            survey::restore(store, request.run, trust)?;
            return Err(PublishError::Doubted(doubted.text.clone()));
        }
        let planned = PlannedSet::new(request, &census)?;
        let builder = Builder {
            store,
            export: &export,
            request,
            census: &census,
            sections: &sections,
            previous: &previous,
        };
        let built = builder.build(planned, folder.as_deref_mut())?;
        let facts = Facts {
            listed: census.listed,
            layout: census.plan.layout().to_string(),
            remembered: with_unseen(remembered, &figures.last, request.config.force),
        };
        let duplicates = export.duplicates();
        let origin = Origin::Run(Box::new(export));
        let mut set = Self::assemble(request, origin, previous, built, facts, folder.as_deref())?;
        let published = &mut set.published;
        published.duplicates = duplicates;
        published.sources = census.sources;
        published.extensions = census.extensions;
        published.notes = census.notes;
        published.notes.extend(left_out.notes());
        Ok(set)
    }

    /// The set of these files, whoever built them.
    pub(super) fn assemble(
        request: &PublishRequest<'_>,
        origin: Origin,
        previous: Previous,
        built: Vec<BuiltFile>,
        facts: Facts,
        folder: Option<&Folder>,
    ) -> Result<Self, PublishError> {
        let intended = match folder {
            Some(folder) => previous.intended(folder)?,
            None => Contents::new(),
        };
        let mut manifest = next_manifest(request, &previous, &intended, &facts, &built);
        manifest.remember(&facts.remembered, &previous.manifest);
        let mut published = summarise(&built, &previous.manifest);
        published.listed = facts.listed;
        Ok(Self {
            origin,
            previous,
            intended,
            built,
            manifest,
            remembered: facts.remembered,
            published,
        })
    }

    /// The files that have to be written.
    pub(super) fn changes(&self) -> Vec<Change<'_>> {
        let changes = self.built.iter().filter_map(|file| {
            Some(Change {
                record: &file.made.record,
                role: file.role,
                temporary: file.made.temporary.as_ref()?,
            })
        });
        changes.collect()
    }
}

/// A file that has to be written.
pub(super) struct Change<'a> {
    pub(super) record: &'a FileRecord,
    pub(super) role: Role,
    pub(super) temporary: &'a Temporary,
}

/// What is remembered of a run beside what was before it: of pages that it did not come to it says nothing, so what they
/// shared they still do.
fn with_unseen(mut remembered: Remembered, last: &Remembered, is_forced: bool) -> Remembered {
    if !remembered.is_complete {
        if !is_forced {
            remembered.whole = last.whole;
        }
        let usual = last.alike.iter().filter(|(name, _)| guard::is_usual(name));
        for (name, share) in usual {
            let known = remembered.alike.entry(name.clone()).or_default();
            *known = (*share).max(*known);
        }
    }
    remembered
}

/// Refuses an empty set, one that misses pages for no good reason, and what [`guard::judge`] objects to.
fn guard(request: &PublishRequest<'_>, figures: &Figures) -> Result<(), PublishError> {
    let (before, now) = (figures.before, figures.listed);
    if now == 0 {
        return Err(PublishError::Empty);
    }
    if request.config.force {
        return Ok(());
    }
    if let Some(refusal) = guard::judge(figures, &request.config.guard) {
        // The run is gone on with.
        if !figures.is_complete
            && guard::is_for_want_of_time(&refusal, figures, &request.config.guard)
        {
            return Err(PublishError::Shrunk { before, now });
        }
        return Err(PublishError::Refused(Box::new(refusal)));
    }
    if request.partial && now < before {
        return Err(PublishError::Shrunk { before, now });
    }
    Ok(())
}

fn next_manifest(
    request: &PublishRequest<'_>,
    previous: &Previous,
    intended: &Contents,
    facts: &Facts,
    built: &[BuiltFile],
) -> Manifest {
    let known = &previous.manifest;
    let mut manifest = Manifest::new(&known.site, &known.output, request.now);
    manifest.listed = facts.listed;
    manifest.layout.clone_from(&facts.layout);
    manifest.files = built.iter().map(|file| file.made.record.clone()).collect();
    let named = names(built);
    manifest.dropped = previous.dropped(intended, |name| named.contains(name), request.now);
    let unchanged = manifest.files == known.files && manifest.dropped == known.dropped;
    if unchanged && manifest.layout == known.layout {
        manifest.published = known.published;
    }
    manifest
}

fn names(built: &[BuiltFile]) -> HashSet<&str> {
    let names = built.iter().map(|file| file.made.record.name.as_str());
    names.collect()
}

fn summarise(built: &[BuiltFile], previous: &Manifest) -> Published {
    let files = built
        .iter()
        .map(|file| PublishedFile {
            name: file.made.record.name.clone(),
            url: file.address.url.clone(),
            entries: file.made.record.entries,
            bytes: file.made.record.bytes,
            changed: file.made.changed,
        })
        .collect();
    let sitemap_urls = built
        .iter()
        .filter(|file| file.role.is_for_robots_txt())
        .map(|file| file.address.url.clone())
        .collect();
    let named = names(built);
    let dropped = previous
        .files
        .iter()
        .filter(|file| !named.contains(file.name.as_str()))
        .map(|file| file.name.clone())
        .collect();
    Published {
        files,
        sitemap_urls,
        dropped,
        ..Published::default()
    }
}
