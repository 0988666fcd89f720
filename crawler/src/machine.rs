//! The data of the machine and its disks: its name, the free space, the disk of a folder and the holder of a lock;
//! and programs that are started, and ended with all processes that they start. It writes nothing except the holder of a
//! lock. It is the only module, besides the clock of threads, that calls the system directly.

pub mod json_file;
mod lock;
pub mod private;

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use sha2::{Digest as _, Sha256};

pub use self::lock::{Lock, NotTaken};

/// Characters of the name of a machine that are shown; Linux allows 64.
const MAX_HOST_NAME: usize = 64;

/// File descriptors for all but connections: the state and its log, locks, files of the set, name lookups, the runtime. A crawl of
/// a small site needs about twenty.
const OTHER_DESCRIPTORS: u64 = 32;

/// A hash as manifests have it: 64 hexadecimal digits.
pub(crate) fn hex(hash: Sha256) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// The name of this machine, as it has been given; `None` where it has none that can be shown.
pub fn host_name() -> Option<String> {
    let name: String = system::host_name()
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || "-._".contains(*character))
        .take(MAX_HOST_NAME)
        .collect();
    (!name.is_empty()).then_some(name)
}

/// Time since the machine was started, with all time in which it was suspended; from the first call on, where the system has no such
/// clock. A lease that another machine can take over is measured by it.
pub fn boot_time() -> Duration {
    system::boot_time()
}

/// Bytes that can still be written by us to the disk with the existing folder or file `path`; `None` where
/// the system does not report it.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    system::free_bytes(path)
}

/// Returns whether the existing folder or file `path` is on the disk of another machine, as far as the system reports.
pub(crate) fn is_remote(path: &Path) -> bool {
    system::is_remote(path)
}

/// The folder, `path` or one above it, at which the disk that holds `path` is mounted; `None` for the disk
/// of the system itself, and where that cannot be known. Folders that do not exist count as the first above
/// them that does.
pub(crate) fn mount_point(path: &Path) -> Option<PathBuf> {
    let nearest = nearest(path)?;
    let nearest = fs::canonicalize(nearest).ok()?;
    let disk = system::disk(&nearest)?;
    let above = nearest.ancestors().skip(1);
    let mut mounted = nearest.as_path();
    for folder in above {
        if system::disk(folder)? != disk {
            return Some(mounted.to_owned());
        }
        mounted = folder;
    }
    None
}

/// Returns whether a disk is mounted at `path`: it is there, and the folder above it is on another one.
pub(crate) fn is_mount_point(path: &Path) -> bool {
    let above = path.parent().and_then(system::disk);
    let own = system::disk(path);
    own.is_some() && own != above
}

/// `path`, or the first folder above it that exists.
pub(crate) fn nearest(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let mut folders = absolute.ancestors();
    folders
        .find(|folder| fs::symlink_metadata(folder).is_ok())
        .map(Path::to_owned)
}

/// Opens the regular file `path` for reading. A link is not followed, and nothing is waited for.
///
/// # Errors
/// It cannot be opened, or is a link, a folder, a pipe or a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_with(OpenOptions::new().read(true), path)
}

/// The same with these options, which may create it.
fn open_regular_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    system::follow_nothing(options);
    let opened = options.open(path);
    // The opening refuses a link with an unclear message, and only on Unix.
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if is_link || matches!(&opened, Ok(file) if !file.metadata()?.is_file()) {
        let problem = "it is not a regular file but a link, a folder, a pipe or a device";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    opened
}

/// How many of `wanted` connections may be open at once: each takes a file descriptor, and the state, the set and the name
/// lookups need theirs. The limit of this process is raised for them as far as the system lets it; at least one.
pub(crate) fn max_connections(wanted: u32) -> u32 {
    let wanted_files = u64::from(wanted) + OTHER_DESCRIPTORS;
    match system::descriptors(wanted_files) {
        Some(files) if files < wanted_files => {
            let left = files.saturating_sub(OTHER_DESCRIPTORS).max(1);
            u32::try_from(left).unwrap_or(wanted)
        }
        Some(_) | None => wanted,
    }
}

/// Makes `command` start a program that [`end_group`] ends together with what it has started.
pub(crate) fn set_apart(command: &mut Command) {
    system::set_apart(command);
}

/// Ends the program with this number, which was [`set_apart`] and was not waited for, and all programs that it has started,
/// unless these set themselves apart too; nothing where the system has no such groups.
pub(crate) fn end_group(leader: Option<u32>) {
    system::end_group(leader);
}

#[cfg(unix)]
mod system {
    use std::{
        fs::{self, OpenOptions},
        os::unix::{
            fs::{MetadataExt as _, OpenOptionsExt as _},
            process::CommandExt as _,
        },
        path::Path,
        process::Command,
        time::Duration,
    };

    use rustix::{
        fs::OFlags,
        process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit},
        time::{ClockId, clock_gettime},
    };

    pub(super) fn follow_nothing(options: &mut OpenOptions) {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }

    /// The file descriptors that this process may have, of which there should be `wanted`; `None`: without limit.
    pub(super) fn descriptors(wanted: u64) -> Option<u64> {
        let limit = getrlimit(Resource::Nofile);
        let now = limit.current?;
        if now >= wanted {
            return Some(now);
        }
        let current = Some(limit.maximum.map_or(wanted, |most| wanted.min(most)));
        let raised = Rlimit { current, ..limit };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => current,
            Err(_) => Some(now),
        }
    }

    pub(super) fn set_apart(command: &mut Command) {
        // A group of its own, which has the number of the program.
        command.process_group(0);
    }

    pub(super) fn end_group(leader: Option<u32>) {
        // Nobody else gets the number before the program was waited for.
        let group = leader.and_then(|leader| Pid::from_raw(i32::try_from(leader).ok()?));
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    pub(super) fn host_name() -> String {
        let names = rustix::system::uname();
        names.nodename().to_string_lossy().into_owned()
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    const BOOT_CLOCK: ClockId = ClockId::Boottime;
    /// On macOS it goes on while the machine sleeps.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const BOOT_CLOCK: ClockId = ClockId::Monotonic;

    pub(super) fn boot_time() -> Duration {
        let time = clock_gettime(BOOT_CLOCK);
        // Neither part is negative.
        let (seconds, rest) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
        Duration::from_secs(seconds) + Duration::from_nanos(rest)
    }

    pub(super) fn free_bytes(path: &Path) -> Option<u64> {
        let disk = rustix::fs::statvfs(path).ok()?;
        disk.f_bavail.checked_mul(disk.f_frsize)
    }

    /// The number of the disk that `path` is on.
    pub(super) fn disk(path: &Path) -> Option<u64> {
        fs::metadata(path).ok().map(|metadata| metadata.dev())
    }

    /// Numbers of network file systems in answers of `statfs` (statfs(2)): NFS, SMB, SMB2, CIFS, AFS, Ceph,
    /// Coda, NCP, 9P, OCFS2, GFS2, Lustre.
    #[cfg(target_os = "linux")]
    const REMOTE: [u32; 12] = [
        0x6969,
        0x517b,
        0xfe53_4d42,
        0xff53_4d42,
        0x5346_414f,
        0x00c3_6400,
        0x7375_7245,
        0x564c,
        0x0102_1997,
        0x7461_636f,
        0x0116_1970,
        0x0bd0_0bd0,
    ];

    #[cfg(target_os = "linux")]
    pub(super) fn is_remote(path: &Path) -> bool {
        rustix::fs::statfs(path).is_ok_and(|disk| {
            // The kernel's numbers have 32 bits, whatever the width of the field and its sign.
            REMOTE
                .iter()
                .any(|number| i128::from(disk.f_type) & 0xffff_ffff == i128::from(*number))
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_remote(_: &Path) -> bool {
        false
    }
}

#[cfg(not(unix))]
mod system {
    use std::{
        fs::OpenOptions,
        path::Path,
        process::Command,
        sync::LazyLock,
        time::{Duration, Instant},
    };

    pub(super) fn follow_nothing(_: &mut OpenOptions) {}

    pub(super) fn descriptors(_: u64) -> Option<u64> {
        None
    }

    pub(super) fn set_apart(_: &mut Command) {}

    pub(super) fn end_group(_: Option<u32>) {}

    /// This module reads no environment, and no other module knows the variable.
    pub(super) fn host_name() -> String {
        String::new()
    }

    pub(super) fn boot_time() -> Duration {
        static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
        BEGAN.elapsed()
    }

    pub(super) fn free_bytes(_: &Path) -> Option<u64> {
        None
    }

    pub(super) fn disk(_: &Path) -> Option<u64> {
        None
    }

    pub(super) fn is_remote(_: &Path) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_of_a_folder_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("a/b");
        assert_eq!(
            nearest(&missing).unwrap(),
            std::path::absolute(folder.path()).unwrap()
        );
        // What is made by nobody is on the disk of what is above it.
        assert_eq!(mount_point(&missing), mount_point(folder.path()));
        assert!(!is_mount_point(folder.path()));
        assert!(!is_mount_point(&missing));
        if cfg!(unix) {
            assert!(free_bytes(folder.path()).is_some());
            assert!(host_name().is_some_and(|name| name.len() <= MAX_HOST_NAME));
        }
        assert_eq!(free_bytes(&missing), None);
        assert!(!is_remote(&missing));
    }

    #[cfg(unix)]
    #[test]
    fn only_a_regular_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        // Opening it to read would wait for somebody who writes.
        let made = Command::new("mkfifo").arg(at("pipe")).status();
        assert!(made.unwrap().success());
        assert!(open_regular(&at("file")).is_ok());
        for name in ["link", "pipe", "missing", ""] {
            assert!(open_regular(&at(name)).is_err(), "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_mounted_disk_is_found_at_its_folder() {
        // Every Linux has it.
        let disk = Path::new("/proc");
        assert!(is_mount_point(disk));
        assert_eq!(mount_point(Path::new("/proc/self/fd")), Some(disk.into()));
        assert!(!is_remote(disk));
        assert_eq!(mount_point(Path::new("/")), None);
    }
}
