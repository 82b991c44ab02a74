//! A table whose ids are strings: the same rows, whose numbers stand for strings (`names.rs`).
//!
//! The ids of a table are all numbers or all strings; the first rows decide. Answers are ascending by string.

use crate::fingerprint_store::FingerprintStore;
use crate::manifest::TablePlan;
use crate::names::{Names, Strings};
use crate::pairs::NamedPairs;
use crate::run::{FingerprintRow, Hold};
use lookalike_core::hamming::tables::{Answers, Hit};
use lookalike_table::error::{Error, Result};

impl FingerprintStore {
    /// Whether the ids are strings.
    pub fn is_named(&self) -> bool {
        self.names.is_some()
    }

    /// Errors: the ids of the table are of the other kind. A table without rows takes any.
    pub fn check_kind(&self, is_named: bool) -> Result<()> {
        if self.is_named() == is_named || self.is_empty() {
            return Ok(());
        }
        let (own, given) = if is_named { ("numbers", "strings") } else { ("strings", "numbers") };
        Err(Error::Refused {
            reason: format!("ids of this table are {own}, not {given}: use those, or build a new table"),
        })
    }

    /// Inserts rows whose ids are strings. Returns how many are new. Errors: as for [`Self::insert`], or the ids are
    /// numbers; then no row is inserted.
    pub fn insert_named(&mut self, values: &[u64], names: &[&str]) -> Result<usize> {
        self.check_writable()?;
        if names.is_empty() {
            return Ok(0);
        }
        self.check_kind(true)?;
        let new = self.names.get_or_insert_default().assign(names)?;
        let rows: Vec<FingerprintRow> = values.iter().copied().zip(new.ids.iter().copied()).collect();
        let count = self.insert(&rows)?;
        if let Some(names) = &mut self.names {
            names.add(new);
        }
        Ok(count)
    }

    /// Removes rows whose ids are strings. Returns how many there were. Errors: as for [`Self::remove`], or the ids are
    /// numbers.
    pub fn remove_named(&mut self, values: &[u64], names: &[&str]) -> Result<usize> {
        self.check_writable()?;
        if names.is_empty() {
            return Ok(0);
        }
        self.check_kind(true)?;
        let Some(own) = &self.names else { return Ok(0) };
        let ids = names.iter().map(|name| own.id(name)).collect::<Result<Vec<_>>>()?;
        let rows: Vec<FingerprintRow> = values.iter().zip(ids).filter_map(|(value, id)| Some((*value, id?))).collect();
        self.remove(&rows)
    }

    /// The strings of ids. Errors: a file is damaged, or an id has no string.
    pub fn strings(&self, ids: &[u64]) -> Result<Strings> {
        let found = self.names.as_ref().map_or(Ok(None), |names| names.strings(ids))?;
        found.ok_or_else(|| Error::damaged(&self.manifest_path(), "an id has no string"))
    }

    /// Makes a table in memory from rows whose ids are strings. Errors: as for [`Self::new`].
    pub fn build_named(plan: TablePlan, hold: Hold, values: &[u64], names: &[&str]) -> Result<Self> {
        let mut own = Names::default();
        let new = own.assign(names)?;
        let rows = values.iter().copied().zip(new.ids.iter().copied()).collect();
        own.add(new);
        let mut store = Self::build(plan, hold, rows)?;
        store.names = Some(own);
        Ok(store)
    }

    /// Hits, with their ids as strings and ascending by them if the table has such. Errors: a file is damaged.
    pub fn named_hits(&self, hits: Vec<Hit>) -> Result<(Vec<Hit>, Option<Strings>)> {
        if !self.is_named() {
            return Ok((hits, None));
        }
        let names = self.strings(&hits.iter().map(|hit| hit.id).collect::<Vec<_>>())?;
        let mut order: Vec<usize> = (0..hits.len()).collect();
        order.sort_unstable_by_key(|i| (names.get(*i), hits[*i].value));
        Ok((order.iter().map(|i| hits[*i]).collect(), Some(order.iter().map(|i| names.get(*i)).collect())))
    }

    /// Answers, with their ids as strings and ascending by query and string if the table has such. Errors: a file is
    /// damaged.
    pub fn named_answers(&self, answers: Answers) -> Result<(Answers, Option<Strings>)> {
        if !self.is_named() {
            return Ok((answers, None));
        }
        let names = self.strings(&answers.ids)?;
        let mut order: Vec<usize> = (0..answers.ids.len()).collect();
        order.sort_unstable_by_key(|i| (answers.queries[*i], names.get(*i), answers.distances[*i]));
        let sorted = Answers {
            queries: order.iter().map(|i| answers.queries[*i]).collect(),
            ids: order.iter().map(|i| answers.ids[*i]).collect(),
            distances: order.iter().map(|i| answers.distances[*i]).collect(),
            candidates: answers.candidates,
        };
        Ok((sorted, Some(order.iter().map(|i| names.get(*i)).collect())))
    }

    /// All rows, ascending by fingerprint and id, with their ids as strings if the table has such. Errors: a file is
    /// damaged.
    pub fn named_rows(&self) -> Result<(Vec<FingerprintRow>, Option<Strings>)> {
        let rows = self.rows()?;
        if !self.is_named() {
            return Ok((rows, None));
        }
        let names = self.strings(&rows.iter().map(|row| row.1).collect::<Vec<_>>())?;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|i| (rows[*i].0, names.get(*i)));
        Ok((order.iter().map(|i| rows[*i]).collect(), Some(order.iter().map(|i| names.get(*i)).collect())))
    }

    /// Ids as texts: strings as they are, numbers in decimal. Errors: a file is damaged.
    fn texts(&self, ids: &[u64]) -> Result<Strings> {
        if self.is_named() {
            return self.strings(ids);
        }
        let mut texts = Strings::default();
        ids.iter().for_each(|id| texts.push(&id.to_string()));
        Ok(texts)
    }

    /// The pairs of queries, with the ids they were asked by, and rows within a distance; ascending by query, id and
    /// distance. Errors: as for [`Self::query_batch`].
    pub fn near(&self, queries: &[u64], asked: &[&str], distance: u32) -> Result<NamedPairs> {
        let (answers, names) = self.named_answers(self.query_batch(queries, distance)?)?;
        let right = names.map_or_else(|| self.texts(&answers.ids), Ok)?;
        let left =
            answers.queries.iter().map(|query| asked.get(*query as usize).copied().unwrap_or_default()).collect();
        Ok(NamedPairs { left, right, distances: answers.distances.into_iter().map(u32::from).collect() })
    }

    /// The pairs of rows with different ids within a distance, each once, the lower id first; ascending by both ids and
    /// distance. Errors: as for [`Self::query_batch`].
    pub fn join(&self, distance: u32) -> Result<NamedPairs> {
        let rows = self.rows()?;
        let (values, ids): (Vec<u64>, Vec<u64>) = rows.into_iter().unzip();
        let answers = self.query_batch(&values, distance)?;
        let (left, right) = (self.texts(&ids)?, self.texts(&answers.ids)?);
        let row = |i: usize| answers.queries[i] as usize;
        // Strings are compared as such, numbers as numbers.
        let number = |id: u64| if self.is_named() { 0 } else { id };
        let key = |i: &usize| {
            let (own, other) = (number(ids[row(*i)]), number(answers.ids[*i]));
            ((own, left.get(row(*i))), (other, right.get(*i)), answers.distances[*i])
        };
        let mut order: Vec<usize> = (0..answers.ids.len()).filter(|i| key(i).0 < key(i).1).collect();
        order.sort_unstable_by_key(key);
        Ok(NamedPairs {
            left: order.iter().map(|i| left.get(row(*i))).collect(),
            right: order.iter().map(|i| right.get(*i)).collect(),
            distances: order.iter().map(|i| u32::from(answers.distances[*i])).collect(),
        })
    }

    /// Forgets strings that no row has. Errors: a file is damaged.
    pub(crate) fn forget_names(&mut self) -> Result<()> {
        if self.names.is_none() {
            return Ok(());
        }
        let mut live: Vec<u64> = self.rows()?.into_iter().map(|row| row.1).collect();
        live.sort_unstable();
        live.dedup();
        self.names.as_mut().map_or(Ok(()), |names| names.compact(&live))
    }

    /// Reads all strings, and checks that each id has one. Errors: damaged.
    pub(crate) fn verify_names(&self) -> Result<()> {
        let Some(names) = &self.names else { return Ok(()) };
        names.verify()?;
        let ids: Vec<u64> = self.rows()?.into_iter().map(|row| row.1).collect();
        self.strings(&ids).map(drop)
    }

    /// Inserts rows whose ids are numbers. Returns how many are new. Errors: as for [`Self::insert`], or the ids are
    /// strings.
    pub fn insert_numbered(&mut self, rows: &[FingerprintRow]) -> Result<usize> {
        if rows.is_empty() {
            return self.check_writable().map(|()| 0);
        }
        self.check_kind(false)?;
        if self.is_empty() {
            self.names = None;
        }
        self.insert(rows)
    }

    /// Removes rows whose ids are numbers. Returns how many there were. Errors: as for [`Self::remove`], or the ids are
    /// strings.
    pub fn remove_numbered(&mut self, rows: &[FingerprintRow]) -> Result<usize> {
        if rows.is_empty() {
            return self.check_writable().map(|()| 0);
        }
        self.check_kind(false)?;
        self.remove(rows)
    }
}
