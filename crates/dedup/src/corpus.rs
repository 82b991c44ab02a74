//! A corpus as it is read: batches go in, are signed on all cores, and are kept in their order.
//!
//! Cost: that of `sign.rs`, on all cores; 40 bytes a row in memory beside the store.

use crate::lines::{Cutter, Line};
use crate::record::{self, Columns, Record};
use crate::sign::{Row, Signed, Signer, Sketching, State};
use crate::store::Store;
use lookalike_core::error::Result;
use lookalike_core::frontend::decode::decode;
use lookalike_core::sketch::shingle::Shingling;
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// Bytes that one core signs at a time.
const TASK: usize = 1 << 19;
/// Problems that are kept with their reasons; more are only counted.
const MAX_PROBLEMS: usize = 1_000;

/// How a corpus is read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// How texts become shingles.
    pub shingling: Shingling,
    /// What is kept of them.
    pub sketching: Sketching,
    /// The columns of JSON Lines.
    pub columns: Columns,
    /// Longest line, in bytes.
    pub most: usize,
}

/// A row that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its number in the corpus.
    pub row: u32,
    /// Why.
    pub reason: String,
}

/// Rows and what is known of them.
pub struct Corpus {
    reading: Reading,
    cutter: Cutter,
    /// What is known of each row.
    pub rows: Vec<Row>,
    /// Their shingles and sketches.
    pub store: Store,
    /// The first of those that could not be read.
    pub problems: Vec<Problem>,
    /// How many could not be read.
    pub bad: u64,
    /// Rows by [`State`], in its order.
    pub states: [u64; 5],
}

/// Why a corpus could not take more rows.
#[derive(Debug)]
pub enum Refusal {
    /// The store's file cannot be written.
    Io(io::Error),
    /// There are more rows than 32 bits can number.
    TooMany,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Corpus {
    /// An empty corpus that keeps up to `budget_bytes` in memory and the rest in files of `folder`.
    ///
    /// Errors: a parameter outside its range.
    pub fn new(reading: Reading, budget_bytes: usize, folder: &Path) -> Result<Self> {
        Signer::new(reading.shingling, reading.sketching)?;
        let cutter = Cutter::new(reading.most);
        let store = Store::new(budget_bytes, folder);
        Ok(Self { reading, cutter, rows: Vec::new(), store, problems: Vec::new(), bad: 0, states: [0; 5] })
    }

    /// Takes a chunk of a file of JSON Lines. Errors: the store's file cannot be written, or there are too many rows.
    pub fn push_lines(&mut self, chunk: &[u8], is_last: bool) -> std::result::Result<(), Refusal> {
        let whole = self.cutter.push(chunk, is_last);
        let tasks = cut_evenly(whole.rest);
        let mut parts: Vec<Signed> = Vec::new();
        let reading = &self.reading;
        let (first, last) = (whole.first, whole.last);
        let hand = || Hand::new(reading);
        parts.extend(first.map(|line| across(reading, line)));
        parts.par_extend(tasks.into_par_iter().map_init(hand, |hand, lines| sign_lines(reading, lines, hand)));
        parts.extend(last.map(|line| across(reading, line)));
        parts.into_iter().try_for_each(|signed| self.take(signed))
    }

    /// Takes texts that are at hand; `None` where there is none. Bytes that are no UTF-8 are read in the encoding that
    /// they seem to have.
    ///
    /// Errors: as [`Corpus::push_lines`].
    pub fn push_texts<'t>(
        &mut self,
        texts: &(impl Fn(usize) -> Option<&'t [u8]> + Sync),
        numbers: Option<&[f64]>,
        count: usize,
    ) -> std::result::Result<(), Refusal> {
        let per_task = texts_per_task(texts, count);
        let starts: Vec<usize> = (0..count).step_by(per_task).collect();
        let reading = &self.reading;
        let sign = |start: usize| {
            let mut signed = Signed::default();
            let Ok(mut signer) = Signer::new(reading.shingling, reading.sketching) else { return signed };
            for row in start..(start + per_task).min(count) {
                let number = numbers.and_then(|numbers| numbers.get(row)).copied().unwrap_or(f64::NAN);
                match texts(row) {
                    Some(text) if text.len() <= reading.most => match decode(text) {
                        Ok(decoded) => signer.push(&decoded.text, number, &mut signed),
                        Err(error) => signed.push_bad(error.to_string()),
                    },
                    Some(text) => signed.push_bad(too_long(text.len(), reading.most)),
                    None => signed.push_without(State::Missing),
                }
            }
            signed
        };
        let parts: Vec<Signed> = starts.into_par_iter().map(sign).collect();
        parts.into_iter().try_for_each(|signed| self.take(signed))
    }

    fn take(&mut self, mut signed: Signed) -> std::result::Result<(), Refusal> {
        let first = self.rows.len();
        if first + signed.rows.len() > u32::MAX as usize {
            return Err(Refusal::TooMany);
        }
        self.bad += signed.problems.len() as u64;
        let room = MAX_PROBLEMS.saturating_sub(self.problems.len());
        let problems = std::mem::take(&mut signed.problems);
        self.problems
            .extend(problems.into_iter().take(room).map(|(row, reason)| Problem { row: first as u32 + row, reason }));
        signed.rows.iter().for_each(|row| self.states[row.state as usize] += 1);
        self.rows.extend(self.store.push(signed)?);
        Ok(())
    }

    /// How it is read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }
}

fn too_long(bytes: usize, most: usize) -> String {
    format!("`{bytes}` bytes are more than the `{most}` a record may have")
}

/// How many rows make a task of about [`TASK`] bytes.
fn texts_per_task<'t>(texts: &impl Fn(usize) -> Option<&'t [u8]>, count: usize) -> usize {
    let bytes: usize = (0..count).map(|row| texts(row).map_or(0, <[u8]>::len)).sum();
    (count * TASK).checked_div(bytes).map_or(count, |rows| rows.clamp(1, count)).max(1)
}

/// Stretches of whole lines of about [`TASK`] bytes.
fn cut_evenly(mut lines: &[u8]) -> Vec<&[u8]> {
    let mut tasks = Vec::new();
    while !lines.is_empty() {
        let from = TASK.min(lines.len()) - 1;
        let end = memchr::memchr(b'\n', &lines[from..]).map_or(lines.len(), |step| from + step + 1);
        let (task, rest) = lines.split_at(end);
        tasks.push(task);
        lines = rest;
    }
    tasks
}

/// What one core signs lines with.
struct Hand {
    /// None only for parameters that were refused when the corpus was made.
    signer: Option<Signer>,
    buffer: String,
}

impl Hand {
    fn new(reading: &Reading) -> Self {
        Self { signer: Signer::new(reading.shingling, reading.sketching).ok(), buffer: String::new() }
    }
}

/// Signs whole lines.
fn sign_lines(reading: &Reading, lines: &[u8], hand: &mut Hand) -> Signed {
    // English has a word in six to seven bytes.
    let mut signed = Signed { ids: Vec::with_capacity(lines.len() / 6), ..Signed::default() };
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', lines) {
        sign_line(reading, &lines[start..end], hand, &mut signed);
        start = end + 1;
    }
    if start < lines.len() {
        sign_line(reading, &lines[start..], hand, &mut signed);
    }
    signed
}

fn sign_line(reading: &Reading, line: &[u8], hand: &mut Hand, signed: &mut Signed) {
    match record::read(line, &reading.columns, &mut hand.buffer) {
        Record::Text(text, number) => {
            if let Some(signer) = &mut hand.signer {
                signer.push(text, number.unwrap_or(f64::NAN), signed);
            }
        }
        Record::Blank => signed.push_without(State::Blank),
        Record::Missing => signed.push_without(State::Missing),
        Record::Bad(reason) => signed.push_bad(reason),
    }
}

/// Signs a line across two chunks.
fn across(reading: &Reading, line: Line) -> Signed {
    match line {
        Line::Held(bytes) if bytes.is_empty() => {
            let mut signed = Signed::default();
            signed.push_without(State::Blank);
            signed
        }
        Line::Held(bytes) => sign_lines(reading, &bytes, &mut Hand::new(reading)),
        Line::TooLong => {
            let mut signed = Signed::default();
            signed.push_bad(format!("the line has more than the `{}` bytes a record may have", reading.most));
            signed
        }
    }
}
