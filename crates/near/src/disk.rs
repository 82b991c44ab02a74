//! All that touches a file system, in one trait: what is durable when each call returns, and nothing else.
//!
//! Tests put a disk in its place that fails at the Nth call, or that forgets what was not synced.

use crate::error::{Error, Result};
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

/// A place for files.
pub trait Disk: Send + Sync + std::fmt::Debug {
    /// Makes a folder, and those above it, unless it is there.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Writes a new file, or one in the place of an old one; its bytes are durable afterwards, its name is not.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Gives a file another name, in the place of one that has it, at once; not yet durable.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file; those that read it go on.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// The bytes of a file, read into memory.
    fn read(&self, path: &Path) -> io::Result<Bytes>;

    /// The bytes of a file where they lie. REQUIRES: nobody ever shortens it.
    fn map(&self, path: &Path) -> io::Result<Bytes>;

    /// The names in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Takes the lock of a file until what is returned is dropped or the process ends; nothing if someone has it.
    fn lock(&self, path: &Path) -> io::Result<Option<Lock>>;
}

/// A lock that is held.
#[derive(Debug)]
pub struct Lock {
    /// The file whose closing ends it.
    pub file: Option<File>,
}

/// The bytes of a file.
#[derive(Debug)]
pub enum Bytes {
    /// Where they lie.
    Mapped(memmap2::Mmap),
    /// A copy.
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

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Disk for System {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
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
            // An empty file cannot be mapped; that it is empty is what its reader complains about.
            return Ok(Bytes::Memory(Vec::new()));
        }
        // SAFETY: the files of a table are written once, synced, renamed and from then on only ever unlinked, so that the bytes behind the
        // map neither change nor go away. Who shortens one by other means is told in the documents what happens.
        unsafe { memmap2::Mmap::map(&file) }.map(Bytes::Mapped)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
        names.collect()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Lock>> {
        // The file is kept, so that its lock is one for all; the death of a process frees it.
        let mut file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        write!(file, "process {}", std::process::id())?;
        Ok(Some(Lock { file: Some(file) }))
    }
}

/// Writes a file so that it is there whole or not at all, even if the power fails: under another name, synced, then renamed. The
/// new name is durable once the folder is synced. Errors: the system refuses; nothing is left behind then.
pub fn write_whole(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("new");
    let written = disk.write(&temporary, bytes).and_then(|()| disk.rename(&temporary, path));
    written.map_err(|error| {
        // It may not be there; what failed first is what counts.
        let _ = disk.remove(&temporary);
        Error::Io { path: path.to_owned(), error, needed: bytes.len() as u64 }
    })
}
