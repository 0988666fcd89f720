//! A file that takes the place of an older one only when all of it is written.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// A file that is being written beside its place.
#[derive(Debug)]
pub(crate) struct WholeFile {
    path: PathBuf,
    beside: PathBuf,
    file: BufWriter<File>,
    is_finished: bool,
}

impl WholeFile {
    /// Begins the file `path`; a link to a file stays one.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.exists() && !path.is_file() {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file");
            return Err(named(error));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        let file = BufWriter::new(File::create_new(&beside).map_err(named)?);
        Ok(Self {
            path: path.to_owned(),
            beside,
            file,
            is_finished: false,
        })
    }

    /// The file is complete.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        fs::rename(&self.beside, &self.path)?;
        self.is_finished = true;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // Nothing can be done about a file that cannot be removed.
            let _ = fs::remove_file(&self.beside);
        }
    }
}
