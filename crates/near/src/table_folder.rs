//! A table in a folder, and the order of writes that makes commits durable.
//!
//! A folder holds run files, which never change, and the manifest, which lists them (`manifest.rs`). A commit writes
//! new runs, syncs them, makes their names durable, replaces the manifest by a rename and makes that durable. Only then
//! are files unlinked that it no longer lists. So a commit that returned survives the end of the process and a power
//! failure. A commit that did not return left the table in its old or in its new state. One writer at a time holds the
//! lock of the folder. Readers take no lock: each sees the generation that it opened, and its files remain readable
//! while they are open.
//!
//! A table belongs to one folder and one process. Its path is resolved when it is opened, and the folder is compared by
//! device and number before each commit, so a change of directory or a folder that was replaced harms nothing. A process
//! that was forked with an open table cannot write it. Only files with names that this module makes are ever unlinked.

use crate::fingerprint_store::FingerprintStore;
use crate::footer::seal_of;
use crate::header::{FileHeader, FileKind};
use crate::manifest::{Manifest, NameEntry, RunEntry};
use crate::name_file::NameFile;
use crate::names::Names;
use crate::run::{Hold, Run};
use crate::run_file::RunFile;
use lookalike_table::disk::{write_whole, Bytes, Disk, FolderIdentity, Lock};
use lookalike_table::error::{Error, Result};
use lookalike_table::Written;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MANIFEST: &str = "manifest";
const LOCK: &str = "lock";
const RUN: &str = "run-";
const NAMES: &str = "names-";
/// What a file is called until it is complete.
const NEW: &str = ".new";
/// The beginning of a lock file that was written here.
const HOLDER: &str = "process ";

/// The folder of a table.
#[derive(Debug)]
pub struct TableFolder {
    disk: Arc<dyn Disk>,
    /// The resolved path, and what the folder was told by when it was opened.
    folder: PathBuf,
    identity: FolderIdentity,
    generation: u64,
    next: u64,
    /// The lock of a writer; a reader has none.
    lock: Option<Lock>,
    /// Whether a commit failed. The content of the folder is then unknown until it is opened again.
    is_lost: bool,
}

impl TableFolder {
    /// A folder that was opened by this path. Errors: the system refuses.
    fn new(disk: Arc<dyn Disk>, folder: &Path, lock: Option<Lock>, (generation, next): (u64, u64)) -> Result<Self> {
        let wrong = |error| Error::io(folder, error);
        let resolved = disk.resolve(folder).map_err(wrong)?;
        let identity = disk.identity(&resolved).map_err(wrong)?;
        Ok(Self { disk, folder: resolved, identity, generation, next, lock, is_lost: false })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn sync(&self) -> Result<()> {
        self.disk.sync_folder(&self.folder).map_err(|error| Error::io(&self.folder, error))
    }

    fn refused(&self, reason: &str) -> Error {
        Error::Refused { reason: format!("table in `{}` {reason}", self.folder.display()) }
    }

    /// Errors: the table was opened for reading or by another process, or a commit failed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match &self.lock {
            None => Err(self.refused("was opened for reading: open it for writing")),
            Some(lock) if lock.process != self.disk.process() => {
                Err(self.refused(&format!("belongs to process `{}`, which opened it: write it there", lock.process)))
            }
            Some(_) if self.is_lost => Err(self.refused("could not be saved: open it again")),
            Some(_) => Ok(()),
        }
    }

    /// Whether a path leads to this folder. Errors: the system does not say.
    fn is_at(&self, path: &Path) -> Result<bool> {
        match self.disk.identity(path) {
            Ok(found) => Ok(found == self.identity),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io(path, error)),
        }
    }

    /// Errors: another folder is where this one was, or the system does not say.
    fn check_place(&self) -> Result<()> {
        match self.is_at(&self.folder)? {
            true => Ok(()),
            false => Err(self.refused("was moved or replaced since it was opened: open it again where it is now")),
        }
    }
}

/// The file name of a run.
fn run_name(number: u64) -> String {
    format!("{RUN}{number:016x}")
}

/// The name of a file of strings.
fn names_name(number: u64) -> String {
    format!("{NAMES}{number:016x}")
}

/// Whether this is the name of a run or of a file of strings.
fn is_numbered(name: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let digits = name.strip_prefix(RUN).or_else(|| name.strip_prefix(NAMES));
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(is_digit))
}

/// Whether a file of this name is made here, and may be left behind by a crash.
fn is_left_behind(name: &str) -> bool {
    let whole = name.strip_suffix(NEW);
    is_numbered(whole.unwrap_or(name)) || whole == Some(MANIFEST)
}

/// Errors: a folder for a new table holds anything but what an interrupted save left there.
fn check_vacant(disk: &dyn Disk, folder: &Path) -> Result<()> {
    let names = disk.list(folder).map_err(|error| Error::io(folder, error))?;
    if names.iter().any(|name| name == MANIFEST) {
        let reason = format!("`{}` already holds a table: choose another folder", folder.display());
        return Err(Error::Refused { reason });
    }
    let is_lock = |bytes: &[u8]| bytes.is_empty() || bytes.starts_with(HOLDER.as_bytes());
    // The lock is made first, so what lies beside no lock was not left by a save.
    let was_saved = disk.read(&folder.join(LOCK)).is_ok_and(|bytes| is_lock(&bytes));
    let is_ours = |name: &str| was_saved && (name == LOCK || is_left_behind(name));
    match names.iter().find(|name| !is_ours(name)) {
        None => Ok(()),
        Some(other) => {
            let folder = folder.display();
            let reason = format!("`{folder}` holds other files, such as `{other}`: choose a new or an empty folder");
            Err(Error::Refused { reason })
        }
    }
}

impl FingerprintStore {
    /// Opens the table in a folder. A writer takes its lock and removes what a crash left behind. Errors: there is no
    /// table, or it is damaged, of another version, or being written.
    pub fn open(disk: Arc<dyn Disk>, folder: &Path, hold: Hold, is_writer: bool) -> Result<Self> {
        let manifest_path = folder.join(MANIFEST);
        // Without a table nothing is made in the folder.
        disk.read(&manifest_path).map_err(|error| Error::io(&manifest_path, error))?;
        let lock = if is_writer { Some(take_lock(&*disk, folder)?) } else { None };
        let mut seen = None;
        loop {
            let bytes = disk.read(&manifest_path).map_err(|error| Error::io(&manifest_path, error))?;
            let manifest = Manifest::from_bytes(&manifest_path, &bytes)?;
            let opened = open_files(&*disk, folder, &manifest, hold);
            match opened {
                // A writer may have committed and unlinked the file meanwhile; then there is a new generation.
                Err(Error::Io { error, .. })
                    if error.kind() == ErrorKind::NotFound && seen != Some(manifest.generation) =>
                {
                    seen = Some(manifest.generation);
                    continue;
                }
                Err(Error::Io { path, error, .. }) if error.kind() == ErrorKind::NotFound => {
                    return Err(Error::damaged(&path, "it is missing"));
                }
                _ => {}
            }
            let (runs, names) = opened?;
            let mut store = Self::with(manifest.plan, hold, runs, manifest.tail);
            store.names = names;
            store.home = Some(TableFolder::new(disk, folder, lock, (manifest.generation, manifest.next))?);
            store.sweep();
            return Ok(store);
        }
    }

    /// The path of the manifest, to name it in an error; empty in memory.
    pub(crate) fn manifest_path(&self) -> PathBuf {
        self.home.as_ref().map_or_else(PathBuf::new, |home| home.path(MANIFEST))
    }

    /// Number of commits; 0 in memory.
    pub fn generation(&self) -> u64 {
        self.home.as_ref().map_or(0, |home| home.generation)
    }

    /// Saves a table in memory to a new folder and keeps it there, or commits the changes if it is there already.
    /// Errors: the folder holds another table, is being written, or the system refuses.
    pub fn save(&mut self, disk: Arc<dyn Disk>, folder: &Path) -> Result<()> {
        match &self.home {
            Some(home) if home.is_at(folder)? => self.commit(),
            Some(home) => {
                let reason = format!("table is stored in `{}`: copy that folder", home.folder.display());
                Err(Error::Refused { reason })
            }
            None => self.settle(disk, folder),
        }
    }

    /// Saves a table in memory to a folder without one. Errors: as for [`Self::save`]; then the table stays in memory.
    fn settle(&mut self, disk: Arc<dyn Disk>, folder: &Path) -> Result<()> {
        disk.create_folder(folder).map_err(|error| Error::io(folder, error))?;
        check_vacant(&*disk, folder)?;
        let lock = Some(take_lock(&*disk, folder)?);
        // Another process may have saved a table between the first look and the lock.
        check_vacant(&*disk, folder)?;
        self.home = Some(TableFolder::new(disk, folder, lock, (0, 1))?);
        let saved = self.commit();
        if saved.is_err() {
            self.home = None;
            self.runs.iter_mut().for_each(|run| run.file = None);
            self.names.as_mut().map_or(Ok(()), Names::leave)?;
        }
        saved
    }

    /// Makes all changes durable. After an error the folder holds the table as of the last commit, or as it is now, and
    /// nothing can be written before it is opened again.
    pub fn commit(&mut self) -> Result<()> {
        self.check_writable()?;
        match &self.home {
            Some(home) => home.check_place()?,
            None => {
                return Err(Error::Refused { reason: "table is only in memory: save it to a folder first".to_owned() })
            }
        }
        let done = self.write();
        if let (Err(_), Some(home)) = (&done, &mut self.home) {
            home.is_lost = true;
        }
        done?;
        self.sweep();
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let Some(home) = &mut self.home else { return Ok(()) };
        let mut is_new = false;
        for run in self.runs.iter_mut().filter(|run| run.file.is_none()) {
            // A run file is durable, with its name, when it is written.
            let Written { length, seal } = run.write(home.disk.clone(), &home.folder.join(run_name(home.next)))?;
            let rows = run.size() as u64;
            let entry = RunEntry { number: home.next, rows, length, seal, deleted: run.deleted() };
            if self.hold == Hold::Mapped {
                *run = open_run(&*home.disk, &home.folder, &entry, self.hold)?;
            }
            run.file = Some(entry);
            home.next += 1;
        }
        if let Some(names) = &mut self.names {
            names.merge()?;
            names.write(|image| {
                let bytes = image(home.next);
                write_whole(&*home.disk, &home.folder.join(names_name(home.next)), &bytes)?;
                let header = FileHeader::read(&home.folder, &bytes, FileKind::Names)?;
                home.next += 1;
                is_new = true;
                let FileHeader { number, rows, length, .. } = header;
                Ok(NameEntry { number, rows, length, seal: seal_of(&bytes) })
            })?;
        }
        if is_new {
            home.sync()?;
        }
        let entry = |run: &Run| run.file.clone().map(|entry| RunEntry { deleted: run.deleted(), ..entry });
        let manifest = Manifest {
            generation: home.generation + 1,
            plan: self.plan,
            next: home.next,
            runs: self.runs.iter().filter_map(entry).collect(),
            tail: self.tail.clone(),
            names: self.names.as_ref().map(Names::entries),
        };
        home.check_place()?;
        write_whole(&*home.disk, &home.path(MANIFEST), &manifest.to_bytes())?;
        home.sync()?;
        home.generation += 1;
        Ok(())
    }

    /// Unlinks run files that the manifest does not list, also those that a crash left behind. A file that cannot be
    /// unlinked stays until the next sweep; it only takes space.
    fn sweep(&self) {
        let Some(home) = self.home.as_ref().filter(|home| home.lock.is_some()) else { return };
        let runs = self.runs.iter().filter_map(|run| Some(run_name(run.file.as_ref()?.number)));
        let names = self.names.iter().flat_map(Names::entries).map(|file| names_name(file.number));
        let named: Vec<String> = runs.chain(names).collect();
        for name in home.disk.list(&home.folder).unwrap_or_default() {
            if is_left_behind(&name) && !named.contains(&name) {
                let _ = home.disk.remove(&home.path(&name));
            }
        }
    }
}

fn take_lock(disk: &dyn Disk, folder: &Path) -> Result<Lock> {
    let path = folder.join(LOCK);
    match disk.lock(&path).map_err(|error| Error::io(&path, error))? {
        Some(lock) => Ok(lock),
        None => {
            let holder = disk.read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
            Err(Error::Locked { path: folder.to_owned(), holder })
        }
    }
}

/// Opens the files that a manifest lists. Errors: one is missing, damaged, or another one.
fn open_files(disk: &dyn Disk, folder: &Path, manifest: &Manifest, hold: Hold) -> Result<(Vec<Run>, Option<Names>)> {
    let runs = manifest.runs.iter().map(|entry| open_run(disk, folder, entry, hold)).collect::<Result<Vec<_>>>()?;
    let Some(entries) = &manifest.names else { return Ok((runs, None)) };
    let mut names = Names::default();
    for entry in entries {
        let path = folder.join(names_name(entry.number));
        let file = NameFile::open(&path, contents(disk, &path, hold)?)?;
        let is = (file.header.number, file.header.rows, file.header.length, file.seal);
        if is != (entry.number, entry.rows, entry.length, entry.seal) {
            return Err(Error::damaged(&path, "it is not the file listed in the manifest"));
        }
        names.open(file, entry.clone(), hold == Hold::Mapped)?;
    }
    Ok((runs, Some(names)))
}

/// The bytes of a file, mapped or read.
fn contents(disk: &dyn Disk, path: &Path, hold: Hold) -> Result<Bytes> {
    let bytes = match hold {
        Hold::Mapped => disk.map(path),
        _ => disk.read(path),
    };
    bytes.map_err(|error| Error::io(path, error))
}

/// Opens the file of a run. Errors: it is missing, damaged, or not the file that the manifest lists.
fn open_run(disk: &dyn Disk, folder: &Path, entry: &RunEntry, hold: Hold) -> Result<Run> {
    let path = folder.join(run_name(entry.number));
    let file = RunFile::open(&path, contents(disk, &path, hold)?)?;
    if file.identity() != (entry.rows, entry.length, entry.seal) {
        return Err(Error::damaged(&path, "it is not the file listed in the manifest"));
    }
    Run::open(&file, entry, hold)
}

/// Reads the whole table in a folder, checks that its parts are consistent, and returns the number of rows. Errors: it
/// is damaged.
pub fn check(disk: Arc<dyn Disk>, folder: &Path) -> Result<usize> {
    let store = FingerprintStore::open(disk, folder, Hold::Mapped, false)?;
    store.runs.iter().try_for_each(Run::verify)?;
    store.verify_names()?;
    Ok(store.len())
}
