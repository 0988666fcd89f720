//! The rights of published files: the mode and the group of the settings. Without them the system
//! decides, by the umask and the group of the process.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::Path,
};

use super::PublishError;
use crate::config::{FileGroup, PublishConfig};

/// The file in which Unix keeps the names of groups (group(5)).
const GROUPS: &str = "/etc/group";

/// Longest text that is read there.
const MAX_GROUPS_BYTES: u64 = 16 * 1024 * 1024;

/// The rights of new files and folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rights {
    mode: Option<u32>,
    group: Option<u32>,
}

impl Rights {
    /// The rights that the settings ask for.
    ///
    /// # Errors
    /// [`PublishError::Settings`]: there is no such group, or no such rights on this system.
    pub(super) fn of(config: &PublishConfig) -> Result<Self, PublishError> {
        let group = match &config.file_group {
            None => None,
            Some(FileGroup::Number(number)) => Some(*number),
            Some(FileGroup::Name(name)) => {
                // A file of the system, which may be a link.
                let groups = File::open(GROUPS).ok();
                let groups = groups.and_then(|file| text_of(file, MAX_GROUPS_BYTES));
                let number = number_of(name, &groups.unwrap_or_default());
                Some(number.ok_or_else(|| {
                    PublishError::Settings(format!(
                        "file_group: {GROUPS} has no group {name}; expected one of its names, or the number of a group"
                    ))
                })?)
            }
        };
        let rights = Self {
            mode: config.file_mode,
            group,
        };
        if cfg!(unix) || rights == Self::default() {
            Ok(rights)
        } else {
            Err(PublishError::Settings(
                "file_mode, file_group: this system has neither".to_owned(),
            ))
        }
    }

    /// The rights of an existing file, for a file that belongs to it.
    pub(super) fn like(path: &Path) -> Self {
        fs::symlink_metadata(path)
            .ok()
            .filter(Metadata::is_file)
            .map_or_else(Self::default, |metadata| system::rights(&metadata))
    }

    /// Gives them to an existing file that has others; its time and content stay. A link is left alone.
    pub(super) fn give(self, path: &Path) -> io::Result<()> {
        if self == Self::default() {
            return Ok(());
        }
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_file() {
            return Ok(());
        }
        self.change(&metadata, |mode| mode, path)
    }

    /// Gives them to a new folder: who may read its files may go through it.
    pub(super) fn give_folder(self, path: &Path) -> io::Result<()> {
        self.change(&fs::symlink_metadata(path)?, folder_mode, path)
    }

    fn change(
        self,
        metadata: &Metadata,
        mode_of: impl Fn(u32) -> u32,
        path: &Path,
    ) -> io::Result<()> {
        let now = system::rights(metadata);
        // The group first: a system may take rights away from a file that changes hands.
        if let Some(group) = self.group.filter(|group| now.group != Some(*group)) {
            system::set_group(path, group)?;
        }
        if let Some(mode) = self
            .mode
            .map(mode_of)
            .filter(|mode| now.mode != Some(*mode))
        {
            system::set_mode(path, mode)?;
        }
        Ok(())
    }
}

/// The mode of a folder of files with `mode`: with the right to go through it beside each right to read.
fn folder_mode(mode: u32) -> u32 {
    mode | (mode & 0o444) >> 2 | 0o300
}

/// The text of an open file, if it is one and not longer than `limit` bytes.
pub(super) fn text_of(file: File, limit: u64) -> Option<String> {
    let mut text = String::new();
    // One byte more than the limit shows a longer file.
    let read = file.take(limit.saturating_add(1)).read_to_string(&mut text);
    let is_whole = u64::try_from(read.ok()?).is_ok_and(|read| read <= limit);
    is_whole.then_some(text)
}

/// The number of the group `name` in the text of [`GROUPS`].
fn number_of(name: &str, groups: &str) -> Option<u32> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_it = fields.next() == Some(name);
        fields.nth(1)?.parse().ok().filter(|_| is_it)
    })
}

#[cfg(unix)]
mod system {
    use std::{
        fs::{self, Metadata, Permissions},
        io,
        os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
        path::Path,
    };

    use super::Rights;

    pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(mode))
    }

    pub(super) fn set_group(path: &Path, group: u32) -> io::Result<()> {
        chown(path, None, Some(group))
    }

    pub(super) fn rights(metadata: &Metadata) -> Rights {
        Rights {
            mode: Some(metadata.mode() & 0o777),
            group: Some(metadata.gid()),
        }
    }
}

/// Elsewhere nothing is asked for ([`Rights::of`]).
#[cfg(not(unix))]
mod system {
    use std::{fs::Metadata, io, path::Path};

    use super::Rights;

    pub(super) fn set_mode(_: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn set_group(_: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn rights(_: &Metadata) -> Rights {
        Rights::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_files_may_enter_their_folders() {
        for (file, folder) in [
            (0o644, 0o755),
            (0o640, 0o750),
            (0o600, 0o700),
            (0o664, 0o775),
            (0o444, 0o755),
            (0o400, 0o700),
        ] {
            assert_eq!(folder_mode(file), folder, "{file:o}");
        }
    }

    #[test]
    fn a_group_is_found_by_its_whole_name() {
        let groups = "root:x:0:\nwww-data:x:33:nginx\nwww:x:1033:a,b\nbroken\nodd:x:many:\n";
        for (name, number) in [
            ("root", Some(0)),
            ("www-data", Some(33)),
            ("www", Some(1_033)),
            ("ww", None),
            ("x", None),
            ("broken", None),
            ("odd", None),
            ("", None),
        ] {
            assert_eq!(number_of(name, groups), number, "{name}");
        }
    }

    #[test]
    fn unknown_group_is_an_error() {
        let config = PublishConfig {
            file_group: Some(FileGroup::Name("no such group".to_owned())),
            ..PublishConfig::default()
        };
        let error = Rights::of(&config).unwrap_err().to_string();
        assert!(error.contains("has no group no such group"), "{error}");
    }
}
