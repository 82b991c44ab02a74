//! A folder for the files of one sort, removed with everything in it when the sort is over.

use lookalike_table::disk::System;
use lookalike_table::spill::Sorter;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that exists as long as this value.
#[derive(Debug)]
pub struct SpillFolder {
    path: PathBuf,
    /// The folder around it, if that was made for it.
    above: Option<PathBuf>,
}

impl SpillFolder {
    /// Makes a new folder in `above`, which is made too if it is gone. Errors: it cannot be made.
    pub fn new(above: &Path, name: &str) -> io::Result<Self> {
        let is_new = !above.exists();
        std::fs::create_dir_all(above)?;
        for number in 0u32.. {
            let path = above.join(format!("{name}-{number}"));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, above: is_new.then(|| above.to_owned()) }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no name is free for a folder of temporary files"))
    }

    /// A sorter that keeps up to `budget_bytes` in memory and the rest here.
    pub fn sorter(&self, budget_bytes: usize) -> Sorter {
        Sorter::new(Arc::new(System), budget_bytes, &self.path)
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to the caller, who removes the folder above.
        let _ = std::fs::remove_dir_all(&self.path);
        if let Some(above) = &self.above {
            let _ = std::fs::remove_dir(above);
        }
    }
}
