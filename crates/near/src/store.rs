//! A table of fingerprints that is updated: a set of rows (fingerprint, id), in memory or kept in a folder.
//!
//! **Structure.** New rows go to the *tail*, a few thousand that are compared one by one. A full tail becomes a run, and four runs of about
//! the same size become one of four times the size (size-tiered merging, as in log-structured trees), so that n rows are in
//! O(log n) runs and each is sorted O(log n) times. A row that is removed is marked, and left out when its run is merged; a run
//! of which half is gone is merged alone. A query asks the tail and every run.
//!
//! **Contract.** A row that is there is not inserted again, and one that is not there is not removed; both tell how many rows they
//! changed, so repeating them does no harm. One fingerprint may have many ids, and one id many fingerprints.
//!
//! **Durability.** A folder holds run files, which never change, and the manifest, which names them (`manifest.rs`). A commit writes new runs,
//! syncs them, makes their names durable, replaces the manifest by a rename and makes that durable; only then are files unlinked that
//! it no longer names. So what a commit returned from survives the end of the process and of the power, and what did not return
//! left the table as it was, or as it was to become. One writer at a time holds the lock of the folder; readers take none:
//! each sees the generation that it opened, whose files live as long as it does.
//!
//! **Source.** O'Neil, Cheng, Gawlick, O'Neil 1996, *The log-structured merge-tree*, for the runs; tiers by size as in Bentley, Saxe 1980.

use crate::disk::{write_whole, Disk, Lock};
use crate::error::{Error, Result};
use crate::file::{seal_of, RunFile};
use crate::manifest::{Entry, Manifest, Plan};
use crate::run::{Hit, Hold, Row, Run};
use lookalike_core::hamming::solve::{solve, Limit};
use lookalike_core::hamming::BITS;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a full tail: comparing a query with so many takes about as long as looking it up in a run.
pub const TAIL: usize = 1 << 12;
/// Runs of a size that are merged, and how much larger the next size is.
const TIER: usize = 4;
const MANIFEST: &str = "manifest";
const LOCK: &str = "lock";
const RUN: &str = "run-";

/// Where a table is kept.
#[derive(Debug)]
struct Home {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    generation: u64,
    next: u64,
    /// Held by a writer; a reader has none.
    lock: Option<Lock>,
    /// A commit failed: what the folder holds is not known before it is opened again.
    is_lost: bool,
}

impl Home {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// A set of rows that is searched by distance.
#[derive(Debug)]
pub struct Store {
    plan: Plan,
    runs: Vec<Run>,
    /// Fingerprints and ids of rows in no run, ascending by (fingerprint, id).
    tail: (Vec<u64>, Vec<u64>),
    home: Option<Home>,
}

/// The name of a run's file.
fn run_name(number: u64) -> String {
    format!("{RUN}{number:016x}")
}

impl Store {
    /// An empty table in memory. Errors: a distance that is too large, or a limit that is none of a table that grows.
    pub fn new(plan: Plan) -> Result<Self> {
        if matches!(plan.limit, Limit::Bytes(_)) {
            let reason = "a table that is updated has no limit of bytes: give a number of tables".to_owned();
            return Err(Error::Refused { reason });
        }
        solve(BITS, plan.distance, 1, plan.limit)?;
        Ok(Self { plan, runs: Vec::new(), tail: (Vec::new(), Vec::new()), home: None })
    }

    /// How tables are made.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.runs.iter().map(Run::len).sum::<usize>() + self.tail.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in memory; what is mapped is not counted.
    pub fn bytes(&self) -> usize {
        self.runs.iter().map(Run::bytes).sum::<usize>() + self.tail.0.len() * 16
    }

    /// Runs, largest last or not: how many places a query asks.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Commits of the folder; 0 in memory.
    pub fn generation(&self) -> u64 {
        self.home.as_ref().map_or(0, |home| home.generation)
    }

    /// The folder it is kept in.
    pub fn folder(&self) -> Option<&Path> {
        self.home.as_ref().map(|home| home.folder.as_path())
    }

    /// Where a row stands in the tail, or where it would.
    fn tail_place(&self, (value, id): Row) -> std::result::Result<usize, usize> {
        let (values, ids) = &self.tail;
        let from = values.partition_point(|other| *other < value);
        let count = values[from..].partition_point(|other| *other == value);
        ids[from..from + count].binary_search(&id).map(|i| from + i).map_err(|i| from + i)
    }

    /// Whether a row is there. Errors: a file is damaged.
    pub fn contains(&self, row: Row) -> Result<bool> {
        let found = self.tail_place(row).is_ok() || self.runs.iter().any(|run| run.place(row).is_some());
        self.checked()?;
        Ok(found)
    }

    /// Errors: something of a mapped file that was read so far is damaged.
    fn checked(&self) -> Result<()> {
        self.runs.iter().try_for_each(Run::checked)
    }

    /// Errors: opened for reading, or a commit failed.
    fn check_writable(&self) -> Result<()> {
        let reason = match &self.home {
            Some(home) if home.lock.is_none() => format!("table in `{}` was opened for reading", home.folder.display()),
            Some(home) if home.is_lost => format!("table in `{}` could not be saved", home.folder.display()),
            _ => return Ok(()),
        };
        Err(Error::Refused { reason: format!("{reason}: open it for writing") })
    }

    /// Inserts rows; how many were not there. Errors: not writable, a damaged file; then none is inserted.
    pub fn insert(&mut self, rows: &[Row]) -> Result<usize> {
        self.check_writable()?;
        let mut new = rows.to_vec();
        new.sort_unstable();
        new.dedup();
        new.retain(|row| self.tail_place(*row).is_err() && !self.runs.iter().any(|run| run.place(*row).is_some()));
        self.checked()?;
        let count = new.len();
        match self.tail.0.len() + count >= TAIL {
            true => self.overflow(new)?,
            false => new.into_iter().for_each(|row| self.insert_into_tail(row)),
        }
        Ok(count)
    }

    fn insert_into_tail(&mut self, row: Row) {
        if let Err(place) = self.tail_place(row) {
            self.tail.0.insert(place, row.0);
            self.tail.1.insert(place, row.1);
        }
    }

    /// Makes a run of the tail and new rows.
    fn overflow(&mut self, mut rows: Vec<Row>) -> Result<()> {
        rows.extend(self.tail.0.iter().copied().zip(self.tail.1.iter().copied()));
        let run = Run::build(self.plan, rows)?;
        self.tail = (Vec::new(), Vec::new());
        self.runs.push(run);
        self.merge()
    }

    /// Removes rows; how many were there. Errors: not writable, a damaged file.
    pub fn remove(&mut self, rows: &[Row]) -> Result<usize> {
        self.check_writable()?;
        let count = rows.iter().filter(|row| self.remove_one(**row)).count();
        self.checked()?;
        self.merge()?;
        Ok(count)
    }

    fn remove_one(&mut self, row: Row) -> bool {
        if let Ok(place) = self.tail_place(row) {
            self.tail.0.remove(place);
            self.tail.1.remove(place);
            return true;
        }
        let found = self.runs.iter_mut().find_map(|run| run.place(row).map(|place| (run, place)));
        found.map(|(run, place)| run.delete(place)).is_some()
    }

    /// Merges runs until there are fewer than [`TIER`] of any size, and none is half gone.
    fn merge(&mut self) -> Result<()> {
        self.runs.retain(|run| !run.is_empty());
        let tier = |run: &Run| (run.len() / TAIL).max(1).ilog(TIER);
        loop {
            let is_sparse = |run: &Run| run.len() * 2 < run.size();
            let crowded = self
                .runs
                .iter()
                .map(tier)
                .find(|size| self.runs.iter().filter(|run| tier(run) == *size).count() >= TIER);
            let chosen: Vec<bool> = match crowded {
                Some(size) => self.runs.iter().map(|run| tier(run) == size).collect(),
                None => self.runs.iter().map(is_sparse).collect(),
            };
            if !chosen.contains(&true) {
                return Ok(());
            }
            self.merge_chosen(&chosen)?;
        }
    }

    /// Puts the chosen runs together. Errors: a file is damaged; then nothing changes.
    fn merge_chosen(&mut self, chosen: &[bool]) -> Result<()> {
        let mut rows = Vec::new();
        self.runs.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen).for_each(|(run, _)| rows.extend(run.live()));
        self.checked()?;
        let run = Run::build(self.plan, rows)?;
        let mut is_chosen = chosen.iter();
        self.runs.retain(|_| is_chosen.next() != Some(&true));
        self.runs.push(run);
        Ok(())
    }

    /// Puts everything together in one run. Errors: not writable, a damaged file.
    pub fn compact(&mut self) -> Result<()> {
        self.check_writable()?;
        let tail = std::mem::take(&mut self.tail);
        let rows: Vec<Row> = tail.0.into_iter().zip(tail.1).collect();
        if !rows.is_empty() {
            self.runs.push(Run::build(self.plan, rows)?);
        }
        if self.runs.len() > 1 || self.runs.iter().any(|run| run.len() < run.size()) {
            self.merge_chosen(&vec![true; self.runs.len()])?;
        }
        Ok(())
    }

    /// All rows within a distance of a fingerprint, nearest first, then by id. Errors: a distance beyond that of the plan, a damaged file.
    pub fn query(&self, value: u64, distance: u32) -> Result<Vec<Hit>> {
        if distance > self.plan.distance {
            let most = self.plan.distance;
            let reason = format!("is more than this table was made for: use at most {most}, or build one for it");
            return Err(
                lookalike_core::error::Error::Parameter { name: "distance", value: distance.into(), reason }.into()
            );
        }
        let mut hits = Vec::new();
        for (other, id) in self.tail.0.iter().zip(&self.tail.1) {
            let between = (value ^ other).count_ones();
            if between <= distance {
                hits.push(Hit { distance: between, id: *id, value: *other });
            }
        }
        self.runs.iter().for_each(|run| run.find(value, distance, &mut hits));
        self.checked()?;
        hits.sort_unstable();
        Ok(hits)
    }

    /// All rows, ascending by (fingerprint, id). Errors: a file is damaged.
    pub fn rows(&self) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = self.tail.0.iter().copied().zip(self.tail.1.iter().copied()).collect();
        self.runs.iter().for_each(|run| rows.extend(run.live()));
        self.checked()?;
        rows.sort_unstable();
        Ok(rows)
    }
}

/// What is kept.
impl Store {
    /// Opens the table in a folder: for writing, which takes its lock and sweeps what a crash left, or for reading.
    /// Errors: there is none, it is damaged, of another version, or being written.
    pub fn open(disk: Arc<dyn Disk>, folder: &Path, hold: Hold, is_writer: bool) -> Result<Self> {
        let lock = if is_writer { Some(take_lock(&*disk, folder)?) } else { None };
        let manifest_path = folder.join(MANIFEST);
        let mut seen = None;
        loop {
            let bytes = disk.read(&manifest_path).map_err(|error| Error::io(&manifest_path, error))?;
            let manifest = Manifest::from_bytes(&manifest_path, &bytes)?;
            let runs =
                manifest.runs.iter().map(|entry| open_run(&*disk, folder, entry, hold)).collect::<Result<Vec<_>>>();
            match runs {
                // A writer may have committed and unlinked it meanwhile; then there is another generation.
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
            let (plan, generation, next, tail) = (manifest.plan, manifest.generation, manifest.next, manifest.tail);
            let home = Home { disk: disk.clone(), folder: folder.to_owned(), generation, next, lock, is_lost: false };
            let store = Self { plan, runs: runs?, tail, home: Some(home) };
            store.sweep();
            return Ok(store);
        }
    }

    /// Saves a table in memory in a folder of its own, where it then lives; or commits what changed if it lives there already.
    /// Errors: the folder holds another table, is being written, or the system refuses.
    pub fn save(&mut self, disk: Arc<dyn Disk>, folder: &Path) -> Result<()> {
        match &self.home {
            Some(home) if home.folder == folder => self.commit(),
            Some(home) => {
                let reason = format!("table lives in `{}`: copy that folder", home.folder.display());
                Err(Error::Refused { reason })
            }
            None => {
                disk.create_folder(folder).map_err(|error| Error::io(folder, error))?;
                let lock = Some(take_lock(&*disk, folder)?);
                let names = disk.list(folder).map_err(|error| Error::io(folder, error))?;
                if names.iter().any(|name| name == MANIFEST) {
                    let reason = format!("`{}` holds a table already: choose another folder", folder.display());
                    return Err(Error::Refused { reason });
                }
                let home = Home { disk, folder: folder.to_owned(), generation: 0, next: 1, lock, is_lost: false };
                self.home = Some(home);
                let saved = self.commit();
                if saved.is_err() {
                    self.home = None;
                    self.runs.iter_mut().for_each(|run| run.file = None);
                }
                saved
            }
        }
    }

    /// Makes everything durable. When it returns without an error, what was inserted and removed survives; with one, the folder holds
    /// the table as it was after the last commit, or as it is now, and nothing can be written before it is opened again.
    pub fn commit(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.home.is_none() {
            return Err(Error::Refused { reason: "table lives in memory: save it in a folder first".to_owned() });
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
            let image = run.image(home.next);
            run.checked()?;
            write_whole(&*home.disk, &home.folder.join(run_name(home.next)), &image)?;
            let (rows, length) = (run.size() as u64, image.len() as u64);
            run.file = Some(Entry { number: home.next, rows, length, seal: seal_of(&image), deleted: Vec::new() });
            home.next += 1;
            is_new = true;
        }
        let sync = |home: &Home| home.disk.sync_folder(&home.folder).map_err(|error| Error::io(&home.folder, error));
        if is_new {
            sync(home)?;
        }
        let entry = |run: &Run| run.file.clone().map(|entry| Entry { deleted: run.deleted(), ..entry });
        let manifest = Manifest {
            generation: home.generation + 1,
            plan: self.plan,
            next: home.next,
            runs: self.runs.iter().filter_map(entry).collect(),
            tail: self.tail.clone(),
        };
        write_whole(&*home.disk, &home.path(MANIFEST), &manifest.to_bytes())?;
        sync(home)?;
        home.generation += 1;
        Ok(())
    }

    /// Unlinks files of runs that no manifest names any more, also those that a crash left. What cannot be unlinked stays until the
    /// next time: it takes room, nothing else.
    fn sweep(&self) {
        let Some(home) = self.home.as_ref().filter(|home| home.lock.is_some()) else { return };
        let named: Vec<String> = self.runs.iter().filter_map(|run| Some(run_name(run.file.as_ref()?.number))).collect();
        for name in home.disk.list(&home.folder).unwrap_or_default() {
            let is_ours = name.starts_with(RUN) || name == format!("{MANIFEST}.new");
            if is_ours && !named.contains(&name) {
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

/// Opens the file of a run. Errors: missing, damaged, not the file that the manifest means.
fn open_run(disk: &dyn Disk, folder: &Path, entry: &Entry, hold: Hold) -> Result<Run> {
    let path = folder.join(run_name(entry.number));
    let bytes = match hold {
        Hold::Memory => disk.read(&path),
        Hold::Mapped => disk.map(&path),
    };
    let file = RunFile::open(&path, bytes.map_err(|error| Error::io(&path, error))?)?;
    let is = (file.header.number, file.header.rows, file.header.length, file.seal);
    if is != (entry.number, entry.rows, entry.length, entry.seal) {
        return Err(Error::damaged(&path, "it is not the file that the manifest means"));
    }
    Run::open(&file, entry, hold)
}

/// Reads everything of the table in a folder, and whether its parts fit together; how many rows it has. Errors: it is damaged.
pub fn check(disk: Arc<dyn Disk>, folder: &Path) -> Result<usize> {
    let store = Store::open(disk, folder, Hold::Mapped, false)?;
    store.runs.iter().try_for_each(Run::verify)?;
    Ok(store.len())
}
