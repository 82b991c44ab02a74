//! A disk in memory that fails at a chosen call and knows what survives a power failure.

use crate::disk::{Bytes, Disk, FolderIdentity, Lock};
use lookalike_core::hash::mix64;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

type Files = BTreeMap<PathBuf, Arc<Vec<u8>>>;

/// A change of names that is not durable until the folder is synced.
#[derive(Clone, Debug)]
enum Change {
    Set(PathBuf, Arc<Vec<u8>>),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

fn apply(files: &mut Files, change: &Change) {
    match change {
        Change::Set(path, bytes) => drop(files.insert(path.clone(), bytes.clone())),
        Change::Remove(path) => drop(files.remove(path)),
        Change::Rename(from, to) => {
            if let Some(bytes) = files.remove(from) {
                files.insert(to.clone(), bytes);
            }
        }
    }
}

#[derive(Debug, Default)]
struct State {
    /// The files as programs see them.
    files: Files,
    /// The durable files as of the last sync, and the changes of names since.
    durable: Files,
    changes: Vec<Change>,
    /// Number of calls so far that change something.
    calls: usize,
    /// The number of the folder, and of the process that asks.
    folder: u64,
    process: u32,
}

/// A disk in memory.
#[derive(Debug, Default)]
pub struct Ram {
    state: Mutex<State>,
    /// The first call that fails; all later ones fail too.
    fails_at: Option<usize>,
    /// Whether bytes are not durable although the disk says so.
    forgets_bytes: bool,
}

impl Ram {
    /// A disk whose calls fail after the first `calls`.
    pub fn failing_at(calls: usize) -> Self {
        Self { fails_at: Some(calls), ..Self::default() }
    }

    /// A disk that says bytes are durable when they are not.
    pub fn forgetting() -> Self {
        Self { forgets_bytes: true, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics inside")
    }

    /// Number of calls that changed something.
    pub fn calls(&self) -> usize {
        self.state().calls
    }

    /// Puts another folder with the same content in the place of the first.
    pub fn replace_folder(&self) {
        self.state().folder += 1;
    }

    /// Goes on as another process.
    pub fn fork(&self) {
        self.state().process += 1;
    }

    /// Counts a call. Errors: the disk is to fail.
    fn call(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        state.calls += 1;
        match self.fails_at {
            Some(at) if state.calls > at => Err(io::Error::from(ErrorKind::StorageFull)),
            _ => Ok(state),
        }
    }

    /// A disk with the files that programs see now.
    pub fn copy(&self) -> Self {
        Self::with(self.state().files.clone())
    }

    pub fn with(files: Files) -> Self {
        Self { state: Mutex::new(State { durable: files.clone(), files, ..State::default() }), ..Self::default() }
    }

    pub fn files(&self) -> Files {
        self.state().files.clone()
    }

    /// A disk as it may be after a power failure: the durable files and some of the changes since, chosen by the seed.
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let state = self.state();
        let mut files = state.durable.clone();
        for (i, change) in state.changes.iter().enumerate() {
            // Seed 0 chooses none of them, seed 1 all.
            if seed == 1 || seed > 1 && mix64(seed ^ mix64(i as u64)) & 1 == 1 {
                apply(&mut files, change);
            }
        }
        Self::with(files)
    }
}

impl Disk for Ram {
    fn create_folder(&self, _: &Path) -> io::Result<()> {
        self.call().map(drop)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // A failing write has written some bytes.
        let failed = self.call().err();
        let count = if failed.is_some() { bytes.len() / 2 } else { bytes.len() };
        let mut state = self.state();
        let kept = Arc::new(bytes[..count].to_vec());
        state.files.insert(path.to_owned(), kept.clone());
        let durable = if self.forgets_bytes { Arc::new(Vec::new()) } else { kept };
        state.changes.push(Change::Set(path.to_owned(), durable));
        failed.map_or(Ok(()), Err)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.call()?;
        let change = Change::Rename(from.to_owned(), to.to_owned());
        apply(&mut state.files, &change);
        state.changes.push(change);
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut state = self.call()?;
        let changes = std::mem::take(&mut state.changes);
        changes.iter().for_each(|change| apply(&mut state.durable, change));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.call()?;
        apply(&mut state.files, &Change::Remove(path.to_owned()));
        state.changes.push(Change::Remove(path.to_owned()));
        Ok(())
    }

    fn read(&self, path: &Path) -> io::Result<Bytes> {
        let file = self.state().files.get(path).map(|bytes| bytes.to_vec());
        file.map(Bytes::Memory).ok_or_else(|| io::Error::from(ErrorKind::NotFound))
    }

    fn map(&self, path: &Path) -> io::Result<Bytes> {
        self.read(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |path: &PathBuf| Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned());
        Ok(self.state().files.keys().filter_map(name).collect())
    }

    fn resolve(&self, folder: &Path) -> io::Result<PathBuf> {
        Ok(folder.to_owned())
    }

    fn identity(&self, _: &Path) -> io::Result<FolderIdentity> {
        Ok((0, self.state().folder))
    }

    fn process(&self) -> u32 {
        self.state().process
    }

    fn lock(&self, _: &Path) -> io::Result<Option<Lock>> {
        let process = self.call()?.process;
        Ok(Some(Lock { file: None, process }))
    }
}
