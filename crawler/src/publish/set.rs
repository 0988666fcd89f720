//! The new set as a whole, built and not visible yet: the judgement, the plan, the guard, every file, and
//! what the manifest will say of it.

use std::collections::HashSet;

use super::{
    PublishError, PublishRequest, Published, PublishedFile,
    census::Census,
    content::{Builder, BuiltFile},
    files::{PlannedSet, Role},
    folder::{Folder, Temporary},
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

/// The new set, built and not visible yet.
pub(super) struct NewSet {
    pub(super) export: Export,
    pub(super) previous: Previous,
    /// What an interrupted publish put in place.
    pub(super) intended: Contents,
    pub(super) built: Vec<BuiltFile>,
    pub(super) manifest: Manifest,
    /// What the guard of the next publish compares with.
    pub(super) remembered: Remembered,
    pub(super) published: Published,
}

impl NewSet {
    /// Plans and builds everything; without a folder nothing is written.
    pub(super) fn build(
        store: &mut dyn Store,
        request: &PublishRequest<'_>,
        mut folder: Option<&mut Folder>,
    ) -> Result<Self, PublishError> {
        let rules = EntryRules::new(&request.config.entries)
            .map_err(|error| PublishError::Settings(error.to_string()))?;
        let trust = crate::export::distrusted(store)?;
        let mut survey = Survey::default();
        let mut export = Export::prepare_watched(
            store,
            request.run,
            request.site.stand_in.as_ref(),
            request.now,
            &mut |store, key, record, reason| survey.look(store, request.site, key, record, reason),
        )?
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
        let before = previous.baseline();
        let (figures, remembered) = survey.finish(store, request.run, before, census.listed)?;
        if let Err(refused) = guard(request, &figures) {
            survey::restore(store, request.run, trust)?;
            return Err(refused);
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
        let intended = match folder {
            Some(folder) => previous.intended(folder)?,
            None => Contents::new(),
        };
        let manifest = next_manifest(request, &previous, &intended, &census, &built);
        let mut published = summarise(&built, &previous.manifest);
        published.listed = census.listed;
        published.duplicates = export.duplicates();
        published.sources = census.sources;
        published.extensions = census.extensions;
        published.notices = census.notices;
        published.notices.extend(left_out.notices());
        Ok(Self {
            export,
            previous,
            intended,
            built,
            manifest,
            remembered,
            published,
        })
    }

    /// The files that have to be written.
    pub(super) fn changes(&self) -> Vec<Change<'_>> {
        let changes = self.built.iter().filter_map(|file| {
            Some(Change {
                record: &file.record,
                role: file.planned.role,
                temporary: file.temporary.as_ref()?,
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
    census: &Census,
    built: &[BuiltFile],
) -> Manifest {
    let known = &previous.manifest;
    let mut manifest = Manifest::new(&known.site, &known.output, request.now);
    manifest.listed = census.listed;
    manifest.layout = census.plan.layout().to_string();
    manifest.files = built.iter().map(|file| file.record.clone()).collect();
    let named = names(built);
    manifest.dropped = previous.dropped(intended, |name| named.contains(name), request.now);
    let unchanged = manifest.files == known.files && manifest.dropped == known.dropped;
    if unchanged && manifest.layout == known.layout {
        manifest.published = known.published;
    }
    manifest
}

fn names(built: &[BuiltFile]) -> HashSet<&str> {
    built.iter().map(|file| file.record.name.as_str()).collect()
}

fn summarise(built: &[BuiltFile], previous: &Manifest) -> Published {
    let files = built
        .iter()
        .map(|file| PublishedFile {
            name: file.record.name.clone(),
            url: file.planned.address.url.clone(),
            entries: file.record.entries,
            bytes: file.record.bytes,
            changed: file.changed,
        })
        .collect();
    let sitemap_urls = built
        .iter()
        .filter(|file| file.planned.is_for_robots_txt())
        .map(|file| file.planned.address.url.clone())
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
