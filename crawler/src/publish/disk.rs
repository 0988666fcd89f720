//! The disk of the output: whether it is the one that the last set was written to, and whether there is room on
//! it. It writes nothing there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{MANIFEST, PublishError, folder::TEMPORARY, manifest::Manifest};
use crate::{
    machine,
    site::Site,
    store::{MetaValue, Store, StoreError},
};

/// Name of the state's value with the output and the folder at which its disk is mounted, one per line.
const MOUNT: &str = crate::store::names::PUBLISH_MOUNT;

/// Free room is reported when it is less than this many times the size of the set: the new files are written beside the
/// old files before they replace them.
const SCARCE: u64 = 2;

/// The value that remembers the disk of the folder `output`; nothing when it is that of the system.
pub(super) fn mount(output: &Path) -> MetaValue {
    let text = machine::mount_point(output).and_then(|mount| {
        let output = std::path::absolute(output).ok()?;
        let (output, mount) = (output.to_str()?.to_owned(), mount.to_str()?.to_owned());
        let is_plain = ![&output, &mount].iter().any(|path| path.contains('\n'));
        is_plain.then(|| format!("{output}\n{mount}"))
    });
    (MOUNT.to_owned(), text)
}

/// Returns whether the disk that the last set was written to is still there: what would be written to the folder at which
/// it was mounted is not seen by readers, and is hidden when the disk comes back.
///
/// # Errors
/// [`PublishError::Unmounted`]; the store failed.
pub(super) fn check_mount(store: &Store, output: &Path) -> Result<(), PublishError> {
    let Some(known) = store.value(MOUNT)? else {
        return Ok(());
    };
    let Some((known, mount)) = known.split_once('\n') else {
        return Ok(());
    };
    let is_same = std::path::absolute(output).is_ok_and(|output| output == Path::new(known));
    if is_same && !machine::is_mount_point(Path::new(mount)) {
        return Err(PublishError::Unmounted {
            output: output.to_owned(),
            mount: PathBuf::from(mount),
        });
    }
    Ok(())
}

/// Problems of the disk of the folder `output` before a crawl begins, each a sentence.
///
/// # Errors
/// [`PublishError::Unmounted`], unless `force` is on; the store failed.
pub fn check_disk(
    store: &Store,
    site: &Site,
    output: &Path,
    force: bool,
) -> Result<Vec<String>, PublishError> {
    if !force {
        check_mount(store, output)?;
    }
    let Some(nearest) = machine::nearest(output) else {
        return Ok(Vec::new());
    };
    let mut notices = Vec::new();
    let published = published_bytes(store, site, output)?;
    if let Some(free) = machine::free_bytes(&nearest).filter(|free| *free / SCARCE < published) {
        notices.push(format!(
            "only {free} bytes are free for {}, and the published set has {published}: a new set may be too large",
            output.display()
        ));
    }
    if machine::is_remote(&nearest) {
        notices.push(format!(
            "{} is on the disk of another machine: arpent may not notice a session on that machine",
            output.display()
        ));
    }
    Ok(notices)
}

/// Bytes of the published files on the disk.
fn published_bytes(store: &Store, site: &Site, output: &Path) -> Result<u64, StoreError> {
    let manifest = store.value(MANIFEST)?;
    let manifest = manifest.and_then(|text| Manifest::read(&text, &site.written().name()));
    let files = manifest.into_iter().flat_map(|manifest| manifest.files);
    let sizes = files.map(|file| fs::symlink_metadata(output.join(file.name)));
    Ok(sizes.flatten().map(|metadata| metadata.len()).sum())
}

/// `error`; when the disk of the folder `output` was full, with the number of bytes that did not fit. To be called
/// while the temporary files are still there.
pub(super) fn explained(error: PublishError, output: &Path) -> PublishError {
    let PublishError::Io { source, path, .. } = &error else {
        return error;
    };
    let is_full = matches!(
        source.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    if !is_full {
        return error;
    }
    let listing = fs::read_dir(output.join(TEMPORARY)).into_iter().flatten();
    let written = listing
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum();
    PublishError::NoRoom {
        output: output.to_owned(),
        written,
        free: machine::free_bytes(output).unwrap_or_default(),
        path: path.clone(),
        reason: source.to_string(),
    }
}
