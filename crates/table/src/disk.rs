//! All access to the file system, in one trait that states what is durable when each call returns.
//!
//! Tests replace it by `ram.rs`, a disk that fails at the Nth call and knows what survives a power failure.

use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A file system.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Makes a folder and those above it, unless they exist. They are durable afterwards.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Makes an empty file to write to; replaces an old one of that name.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Opens a file for reading parts of it.
    fn open(&self, path: &Path) -> io::Result<Box<dyn OpenFile>>;

    /// Renames a file atomically; replaces a file of the new name. Not yet durable.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file. Processes that have it open can still read it.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Reads the bytes of a file into memory.
    fn read(&self, path: &Path) -> io::Result<Bytes>;

    /// Maps the bytes of a file. REQUIRES: nobody shortens the file while it is mapped.
    fn map(&self, path: &Path) -> io::Result<Bytes>;

    /// The path of a folder without links and relative parts, which means the same folder after a change of directory.
    fn resolve(&self, folder: &Path) -> io::Result<PathBuf>;

    /// What tells a folder from another one that takes its path: device and number on it.
    fn identity(&self, folder: &Path) -> io::Result<FolderIdentity>;

    /// The number of this process.
    fn process(&self) -> u32;

    /// The names in a folder; an empty one for a name that is not UTF-8.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Takes the lock of a file until the returned value is dropped or the process ends. Returns `None` if it is held,
    /// by another process or by this one.
    fn lock(&self, path: &Path) -> io::Result<Option<Lock>>;
}

/// A file that is being written.
pub trait NewFile: Send + Sync + std::fmt::Debug {
    /// Appends bytes. After an error, some of them may be in the file.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes the bytes durable; the name is not. After an error nothing is known about the file, and it must not be tried again.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file of which parts are read. It can be read after its name was removed.
pub trait OpenFile: Send + Sync + std::fmt::Debug {
    /// The length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Fills the buffer with the bytes from an offset on. Errors: there are fewer.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// Device and number of a folder.
pub type FolderIdentity = (u64, u64);

/// A lock that is held.
#[derive(Debug)]
pub struct Lock {
    /// The open file that is locked.
    pub file: Option<File>,
    /// The process that took it. A process that was forked later has the file open too, and must not release it.
    pub process: u32,
}

impl Drop for Lock {
    /// Releases the lock at once, although forked processes may still have the file open.
    fn drop(&mut self) {
        if let Some(file) = self.file.as_ref().filter(|_| self.process == std::process::id()) {
            // The system releases it in any case when the file is closed everywhere.
            let _ = file.unlock();
        }
    }
}

/// The bytes of a file.
#[derive(Debug)]
pub enum Bytes {
    /// Mapped from the file.
    Mapped(memmap2::Mmap),
    /// A copy in memory.
    Memory(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}

/// A file of the file system of this machine.
#[derive(Debug)]
struct SystemFile(File);

impl NewFile for SystemFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

impl OpenFile for SystemFile {
    fn length(&self) -> io::Result<u64> {
        self.0.metadata().map(|found| found.len())
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.0, buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => (buffer, offset) = (&mut buffer[count..], offset + count as u64),
            }
        }
        Ok(())
    }
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Disk for System {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let is_new = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let new: Vec<&Path> = folder.ancestors().take_while(is_new).collect();
        std::fs::create_dir_all(folder)?;
        // The name of a new folder is stored in the folder above it.
        new.iter().filter_map(|folder| folder.parent()).try_for_each(|above| match above.as_os_str().is_empty() {
            true => self.sync_folder(Path::new(".")),
            false => self.sync_folder(above),
        })
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(SystemFile(File::create(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(SystemFile(File::open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn read(&self, path: &Path) -> io::Result<Bytes> {
        std::fs::read(path).map(Bytes::Memory)
    }

    fn map(&self, path: &Path) -> io::Result<Bytes> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            // An empty file cannot be mapped. Its reader reports that it is empty.
            return Ok(Bytes::Memory(Vec::new()));
        }
        // SAFETY: the mapped bytes must neither change nor disappear. Files of tables are written once, and afterwards only
        // unlinked, which keeps the bytes. The documentation warns against shortening a file by other means.
        unsafe { memmap2::Mmap::map(&file) }.map(Bytes::Mapped)
    }

    fn resolve(&self, folder: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(folder)
    }

    #[cfg(unix)]
    fn identity(&self, folder: &Path) -> io::Result<FolderIdentity> {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(folder).map(|found| (found.dev(), found.ino()))
    }

    /// Elsewhere an open folder cannot be replaced, because its lock file is open.
    #[cfg(not(unix))]
    fn identity(&self, folder: &Path) -> io::Result<FolderIdentity> {
        std::fs::metadata(folder).map(|_| (0, 0))
    }

    fn process(&self) -> u32 {
        std::process::id()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
        names.collect()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Lock>> {
        // The file is never removed, so that all processes lock the same one. The system releases the lock when a
        // process dies.
        let mut file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        write!(file, "process {}", self.process())?;
        Ok(Some(Lock { file: Some(file), process: self.process() }))
    }
}

/// Writes a file completely or not at all, even if the power fails: under another name, synced, then renamed. The new
/// name is durable once the folder is synced. Errors: the system refuses; then nothing is left behind.
pub fn write_whole(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("new");
    let write = || {
        let mut file = disk.create(&temporary)?;
        file.write(bytes)?;
        file.sync()
    };
    let written = write().and_then(|()| disk.rename(&temporary, path));
    written.map_err(|error| {
        // It may not exist. Only the first error is reported.
        let _ = disk.remove(&temporary);
        Error::Io { path: path.to_owned(), error, needed: bytes.len() as u64 }
    })
}
