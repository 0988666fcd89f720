//! Restoring: builds an archived set again from its copies, to be installed like a new set. A copy that is missing is an
//! error that names the file: a set is restored whole or not at all.

use std::{collections::HashMap, fs::File, io, path::PathBuf};

use super::list::{Archived, Generation, restorable};
use crate::{
    publish::{
        MANIFEST, PublishError, PublishRequest,
        file::{self, BuildResult, BuiltFile, Checking, changed_at, stands_as},
        files::FileKind,
        folder::{Folder, canonical, failed, hash_file},
        go_on,
        index::{self, Index},
        manifest::{FileRecord, Manifest},
        place::Address,
        previous::{self, Previous},
    },
    store::Store,
};

/// The set that is to be restored.
pub(in crate::publish) struct Restored {
    pub(in crate::publish) generation: Generation,
    /// The sets before it.
    pub(in crate::publish) earlier: Vec<Generation>,
}

impl Restored {
    /// The set that was published `back` publishes before the current one, from 1 on.
    ///
    /// # Errors
    /// The store cannot be read; [`PublishError::Settings`]: there is no such set, or it is one of another site.
    pub(in crate::publish) fn find(
        store: &Store,
        request: &PublishRequest<'_>,
        back: usize,
    ) -> Result<Self, PublishError> {
        let site = request.site.written().name();
        expect_output(store, request, &site)?;
        let mut earlier = restorable(store)?;
        let archived = earlier.len();
        let place = archived.checked_sub(back).filter(|_| back > 0);
        let Some(generation) = place.and_then(|place| earlier.drain(place..).next()) else {
            return Err(missing(&match archived {
                0 => "there is nothing to restore: no earlier set is archived".to_owned(),
                _ => format!(
                    "there is no set {back} publishes ago; sets from 1 to {archived} publishes ago are archived"
                ),
            }));
        };
        if generation.manifest.site != site {
            return Err(missing(&format!(
                "the set published {back} publishes ago is of {}, expected a set of {site}",
                generation.manifest.site
            )));
        }
        Ok(Self {
            generation,
            earlier,
        })
    }

    /// URLs in it, and its layout.
    pub(in crate::publish) fn outline(&self) -> (u64, String) {
        let manifest = &self.generation.manifest;
        (manifest.listed, manifest.layout.clone())
    }

    /// Builds every file: parts first, as their index states when they changed, but indexes lead the list. Without a folder
    /// nothing is written.
    ///
    /// # Errors
    /// A copy is missing or changed; see [`PublishError`].
    pub(in crate::publish) fn build(
        &self,
        request: &PublishRequest<'_>,
        previous: &Previous,
        folder: Option<&mut Folder>,
    ) -> Result<Vec<BuiltFile>, PublishError> {
        Checking::during(&[], |checking| {
            self.build_set(request, previous, folder, checking)
        })
    }

    fn build_set(
        &self,
        request: &PublishRequest<'_>,
        previous: &Previous,
        mut folder: Option<&mut Folder>,
        checking: &Checking,
    ) -> Result<Vec<BuiltFile>, PublishError> {
        let all = || {
            let records = self.generation.manifest.files.iter();
            records.zip(&self.generation.files)
        };
        let is_index = |archived: &Archived| archived.kind == FileKind::Index;
        let built = |record, archived: &Archived, made| BuiltFile {
            address: address(record, archived),
            role: self.generation.role_of(archived),
            kind: archived.kind,
            members: archived.members.clone(),
            made,
        };
        let mut parts = Vec::new();
        for (record, archived) in all().filter(|(_, archived)| !is_index(archived)) {
            let made = copy(request, previous, record, folder.as_deref_mut())?;
            parts.push(built(record, archived, made));
        }
        let by_name: HashMap<&str, &BuiltFile> = parts
            .iter()
            .map(|part| (part.address.name.as_str(), part))
            .collect();
        let mut all_built = Vec::with_capacity(self.generation.files.len());
        for (record, archived) in all().filter(|(_, archived)| is_index(archived)) {
            let named = archived.members.iter().map(|member| {
                by_name.get(member.as_str()).copied().ok_or_else(|| {
                    missing(&format!(
                        "the index {} names {member}, which the state does not know",
                        record.name
                    ))
                })
            });
            // An index states when its files changed, so it is written again.
            let index = Index {
                address: &address(record, archived),
                members: named.collect::<Result<_, _>>()?,
                schema_location: index::schema_location(request),
            };
            let folder = folder.as_deref_mut();
            let made = file::make(request, previous, &record.name, &index, folder, checking)?;
            all_built.push(built(record, archived, made));
        }
        all_built.extend(parts);
        Ok(all_built)
    }
}

fn address(record: &FileRecord, archived: &Archived) -> Address {
    Address {
        name: record.name.clone(),
        url: archived.url.clone(),
    }
}

/// Copies an archived file to a temporary, unless the published file is the same.
fn copy(
    request: &PublishRequest<'_>,
    previous: &Previous,
    archived: &FileRecord,
    folder: Option<&mut Folder>,
) -> Result<BuildResult, PublishError> {
    go_on(request)?;
    let known = previous.file(&archived.name);
    if let Some(path) = folder
        .as_ref()
        .and_then(|folder| folder.astray(&archived.name))
    {
        return Err(PublishError::NotAFolder(path));
    }
    let on_disk = match &folder {
        Some(folder) => folder.hash(&archived.name)?,
        None => known.map(|known| known.file_sha256.clone()),
    };
    let changed_at = changed_at(request, known);
    let record = FileRecord {
        lastmod: changed_at,
        ..archived.clone()
    };
    if let Some(known) = known
        && known.file_sha256 == archived.file_sha256
        && on_disk.as_ref() == Some(&archived.file_sha256)
    {
        return Ok(BuildResult::unchanged(known.clone()));
    }
    let path = path_of(request, archived)?;
    let found = hash_file(&path).map_err(failed("read", &path))?;
    if found != archived.file_sha256 {
        return Err(missing(&format!(
            "{} is not the copy of {} as it was written",
            path.display(),
            archived.name
        )));
    }
    let Some(folder) = folder else {
        return Ok(BuildResult::new(record, None));
    };
    let record = match stands_as(previous, folder, record, on_disk.as_deref(), changed_at) {
        Ok(record) => return Ok(BuildResult::unchanged(record)),
        Err(record) => record,
    };
    let (temporary, file) = folder.create_temporary()?;
    let mut source = File::open(&path).map_err(failed("read", &path))?;
    io::copy(&mut source, &mut &file).map_err(failed("write", &temporary))?;
    let temporary = Folder::finish_temporary(temporary, &file, changed_at)?;
    Ok(BuildResult::new(record, Some(temporary)))
}

fn path_of(request: &PublishRequest<'_>, archived: &FileRecord) -> Result<PathBuf, PublishError> {
    let copies = request.config.generations.as_ref();
    let path = copies.map(|copies| copies.join(&archived.file_sha256));
    path.filter(|path| path.is_file()).ok_or_else(|| {
        missing(&format!(
            "the copy of {} is missing beside the state",
            archived.name
        ))
    })
}

/// The error that a set cannot be restored.
fn missing(what: &str) -> PublishError {
    PublishError::Settings(format!("rollback: {what}"))
}

/// Makes sure that the set that the state knows is in the output, or was moved there: otherwise the sets before it belong to
/// another folder or site.
///
/// # Errors
/// [`PublishError::Settings`]: it is elsewhere, or of another site.
fn expect_output(
    store: &Store,
    request: &PublishRequest<'_>,
    site: &str,
) -> Result<(), PublishError> {
    let Some(text) = store.value(MANIFEST)? else {
        return Err(missing("the state of the site knows of no published set"));
    };
    let known: Manifest = serde_json::from_str(&text)
        .map_err(|error| missing(&format!("the manifest in the state is damaged: {error}")))?;
    if known.site != site {
        return Err(missing(&format!(
            "the published set is of {}, expected a set of {site}",
            known.site
        )));
    }
    let output = &request.config.output;
    let is_moved_here =
        || previous::copied(site, output).is_some_and(|copied| copied.set_id == known.set_id);
    if known.output != canonical(output) && !is_moved_here() {
        return Err(missing(&format!(
            "the published set is in {}, expected it in the output {}",
            known.output,
            output.display()
        )));
    }
    Ok(())
}
