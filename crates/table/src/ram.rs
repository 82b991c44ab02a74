//! A disk in memory that fails at a chosen call, and knows what survives a power failure. For tests.
//!
//! Every call is counted. The chosen call, and all after it if the disk breaks for good, fails: a write leaves half of its bytes.
//! A power failure keeps what was synced. Of the rest it keeps what a seed says: changes of names one by one, and of bytes that
//! were not synced any part, or zeros in their place.

use crate::disk::{Bytes, Disk, FolderIdentity, Lock, NewFile, OpenFile};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bytes of a file, as programs see them and as they were synced last.
#[derive(Debug, Default)]
struct Inode {
    bytes: Vec<u8>,
    synced: Vec<u8>,
}

type SharedInode = Arc<Mutex<Inode>>;
type Names = BTreeMap<PathBuf, SharedInode>;
/// The content of all files by path.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A change of names that is not durable until the folder is synced.
#[derive(Clone, Debug)]
enum Change {
    Set(PathBuf, SharedInode),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

fn apply(files: &mut Names, change: &Change) {
    match change {
        Change::Set(path, file) => drop(files.insert(path.clone(), file.clone())),
        Change::Remove(path) => drop(files.remove(path)),
        Change::Rename(from, to) => {
            if let Some(file) = files.remove(from) {
                files.insert(to.clone(), file);
            }
        }
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the call that fails, counted from 0.
    pub at: usize,
    /// The error of the system.
    pub kind: ErrorKind,
    /// Whether all later calls fail too.
    pub is_lasting: bool,
}

#[derive(Debug, Default)]
struct State {
    files: Names,
    /// The durable names as of the last sync of the folder, and the changes since.
    durable: Names,
    changes: Vec<Change>,
    /// Number of calls so far, and their names.
    calls: usize,
    trace: Vec<&'static str>,
    fault: Option<Fault>,
    /// Whether a sync of bytes returns without doing anything.
    forgets_bytes: bool,
    /// The number of the folder, and of the process that asks.
    folder: u64,
    process: u32,
}

/// A disk in memory; clones are the same disk.
#[derive(Clone, Debug, Default)]
pub struct Ram(Arc<Mutex<State>>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mixed(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

impl Ram {
    /// An empty disk that fails.
    pub fn failing(fault: Fault) -> Self {
        Self::default().that_fails(fault)
    }

    /// The same disk, from now on with a fault; calls are counted from its first one.
    pub fn that_fails(self, fault: Fault) -> Self {
        locked(&self.0).fault = Some(fault);
        self
    }

    /// A disk that is full from a call on.
    pub fn full_from(at: usize) -> Self {
        Self::failing(Fault { at, kind: ErrorKind::StorageFull, is_lasting: true })
    }

    /// A disk that says bytes are durable when they are not.
    pub fn forgetting() -> Self {
        let disk = Self::default();
        locked(&disk.0).forgets_bytes = true;
        disk
    }

    /// A disk with these files.
    pub fn with(files: Files) -> Self {
        let disk = Self::default();
        let names: Names = files
            .into_iter()
            .map(|(path, bytes)| (path, Arc::new(Mutex::new(Inode { synced: bytes.clone(), bytes }))))
            .collect();
        let mut state = locked(&disk.0);
        (state.files, state.durable) = (names.clone(), names);
        drop(state);
        disk
    }

    /// The files that programs see now.
    pub fn files(&self) -> Files {
        locked(&self.0).files.iter().map(|(path, file)| (path.clone(), locked(file).bytes.clone())).collect()
    }

    /// A disk with the files that programs see now.
    pub fn copy(&self) -> Self {
        Self::with(self.files())
    }

    /// Number of calls so far.
    pub fn calls(&self) -> usize {
        locked(&self.0).calls
    }

    /// The names of the calls so far, in order.
    pub fn trace(&self) -> Vec<&'static str> {
        locked(&self.0).trace.clone()
    }

    /// Puts another folder with the same content in the place of the first.
    pub fn replace_folder(&self) {
        locked(&self.0).folder += 1;
    }

    /// Goes on as another process.
    pub fn fork(&self) {
        locked(&self.0).process += 1;
    }

    /// A disk as it may be after a power failure. Seed 0 keeps only what is durable, seed 1 everything, others a part.
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let state = locked(&self.0);
        let mut names = state.durable.clone();
        for (i, change) in state.changes.iter().enumerate() {
            if seed == 1 || seed > 1 && mixed(seed ^ mixed(i as u64)) & 1 == 1 {
                apply(&mut names, change);
            }
        }
        let survivor =
            |(i, (path, file)): (usize, (&PathBuf, &SharedInode))| (path.clone(), survived(file, seed, i as u64));
        Self::with(names.iter().enumerate().map(survivor).collect())
    }

    /// Counts a call. Errors: the disk is to fail.
    fn call(&self, name: &'static str) -> io::Result<MutexGuard<'_, State>> {
        let mut state = locked(&self.0);
        let number = state.calls;
        state.calls += 1;
        state.trace.push(name);
        match state.fault {
            Some(fault) if number == fault.at || fault.is_lasting && number > fault.at => {
                Err(io::Error::from(fault.kind))
            }
            _ => Ok(state),
        }
    }

    fn found(state: &State, path: &Path) -> io::Result<SharedInode> {
        state.files.get(path).cloned().ok_or_else(|| io::Error::from(ErrorKind::NotFound))
    }
}

/// What is left of a file after a power failure.
fn survived(file: &SharedInode, seed: u64, number: u64) -> Vec<u8> {
    let inode = locked(file);
    let chance = mixed(seed ^ mixed(!number));
    match seed {
        0 => inode.synced.clone(),
        1 => inode.bytes.clone(),
        _ => {
            // The length may be known before the bytes.
            let more = inode.bytes.len().saturating_sub(inode.synced.len());
            let kept = inode.synced.len() + if more == 0 { 0 } else { chance as usize % (more + 1) };
            let mut bytes = inode.bytes[..kept.min(inode.bytes.len())].to_vec();
            if chance >> 32 & 1 == 1 {
                let synced = inode.synced.len().min(bytes.len());
                bytes[synced..].fill(0);
            }
            bytes
        }
    }
}

/// A file that is being written or read.
#[derive(Debug)]
struct RamFile {
    disk: Ram,
    file: SharedInode,
}

impl NewFile for RamFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let failed = self.disk.call("write").err();
        let count = if failed.is_some() { bytes.len() / 2 } else { bytes.len() };
        locked(&self.file).bytes.extend_from_slice(&bytes[..count]);
        failed.map_or(Ok(()), Err)
    }

    fn sync(&mut self) -> io::Result<()> {
        let forgets = self.disk.call("sync")?.forgets_bytes;
        let mut inode = locked(&self.file);
        if !forgets {
            inode.synced = inode.bytes.clone();
        }
        Ok(())
    }
}

impl OpenFile for RamFile {
    fn length(&self) -> io::Result<u64> {
        drop(self.disk.call("length")?);
        Ok(locked(&self.file).bytes.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        drop(self.disk.call("read_at")?);
        let inode = locked(&self.file);
        let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= inode.bytes.len() as u64);
        let end = end.ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))?;
        buffer.copy_from_slice(&inode.bytes[offset as usize..end as usize]);
        Ok(())
    }
}

impl Disk for Ram {
    fn create_folder(&self, _: &Path) -> io::Result<()> {
        self.call("create_folder").map(drop)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let mut state = self.call("create")?;
        let file = SharedInode::default();
        let change = Change::Set(path.to_owned(), file.clone());
        apply(&mut state.files, &change);
        state.changes.push(change);
        Ok(Box::new(RamFile { disk: self.clone(), file }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn OpenFile>> {
        let file = Self::found(&*self.call("open")?, path)?;
        Ok(Box::new(RamFile { disk: self.clone(), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.call("rename")?;
        Self::found(&state, from)?;
        let change = Change::Rename(from.to_owned(), to.to_owned());
        apply(&mut state.files, &change);
        state.changes.push(change);
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut state = self.call("sync_folder")?;
        let changes = std::mem::take(&mut state.changes);
        changes.iter().for_each(|change| apply(&mut state.durable, change));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.call("remove")?;
        Self::found(&state, path)?;
        let change = Change::Remove(path.to_owned());
        apply(&mut state.files, &change);
        state.changes.push(change);
        Ok(())
    }

    fn read(&self, path: &Path) -> io::Result<Bytes> {
        let file = Self::found(&*self.call("read")?, path)?;
        let bytes = locked(&file).bytes.clone();
        Ok(Bytes::Memory(bytes))
    }

    fn map(&self, path: &Path) -> io::Result<Bytes> {
        let file = Self::found(&*self.call("map")?, path)?;
        let bytes = locked(&file).bytes.clone();
        Ok(Bytes::Memory(bytes))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.call("list")?;
        let name = |path: &PathBuf| Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned());
        Ok(state.files.keys().filter_map(name).collect())
    }

    fn resolve(&self, folder: &Path) -> io::Result<PathBuf> {
        self.call("resolve").map(|_| folder.to_owned())
    }

    fn identity(&self, _: &Path) -> io::Result<FolderIdentity> {
        self.call("identity").map(|state| (0, state.folder))
    }

    fn process(&self) -> u32 {
        locked(&self.0).process
    }

    fn lock(&self, _: &Path) -> io::Result<Option<Lock>> {
        let process = self.call("lock")?.process;
        Ok(Some(Lock { file: None, process }))
    }
}
