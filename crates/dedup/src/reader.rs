//! Rows as they are read: chunks of lines or columns of texts in, signed on all cores, batches out in their order.
//!
//! Cost: that of `sign.rs`, on all cores.

use crate::lines::{Cutter, Line};
use crate::record::{self, Record, RecordColumns};
use crate::sign::{RowState, Signed, Signer, Sketching};
use lookalike_core::error::Result;
use lookalike_core::frontend::decode::decode;
use lookalike_core::sketch::shingle::Shingling;
use rayon::prelude::*;
use std::borrow::Cow;

/// Bytes that one core signs at a time.
const TASK: usize = 1 << 19;

/// How rows are read.
#[derive(Clone, Debug)]
pub struct ReadSettings {
    /// How texts become shingles.
    pub shingling: Shingling,
    /// What is kept of them.
    pub sketching: Sketching,
    /// The columns of JSON Lines.
    pub columns: RecordColumns,
    /// Longest line, in bytes.
    pub most: usize,
}

/// Reads one source after the other.
pub struct RowReader {
    reading: ReadSettings,
    cutter: Cutter,
}

impl RowReader {
    /// Errors: a parameter outside its range.
    pub fn new(reading: ReadSettings) -> Result<Self> {
        Signer::new(reading.shingling, &reading.sketching)?;
        let cutter = Cutter::new(reading.most);
        Ok(Self { reading, cutter })
    }

    /// How it reads.
    pub fn reading(&self) -> &ReadSettings {
        &self.reading
    }

    /// Takes a chunk of a file of JSON Lines, cut anywhere: the rows that end in it.
    pub fn lines(&mut self, chunk: &[u8], is_last: bool) -> Vec<Signed> {
        let whole = self.cutter.push(chunk, is_last);
        let tasks = cut_evenly(whole.rest);
        let mut parts: Vec<Signed> = Vec::new();
        let reading = &self.reading;
        let hand = || Worker::new(reading);
        parts.extend(whole.first.map(|line| across(reading, line)));
        parts.par_extend(tasks.into_par_iter().map_init(hand, |hand, lines| sign_lines(reading, lines, hand)));
        parts.extend(whole.last.map(|line| across(reading, line)));
        parts
    }

    /// Takes texts that are at hand; `None` where there is none. Bytes that are no UTF-8 are read in the encoding that
    /// they seem to have.
    pub fn texts<'t>(
        &self,
        texts: &(impl Fn(usize) -> Option<&'t [u8]> + Sync),
        numbers: Option<&[f64]>,
        count: usize,
    ) -> Vec<Signed> {
        let per_task = texts_per_task(texts, count);
        let starts: Vec<usize> = (0..count).step_by(per_task).collect();
        let reading = &self.reading;
        let sign = |start: usize| {
            let mut signed = Signed::default();
            let Ok(mut signer) = Signer::new(reading.shingling, &reading.sketching) else { return signed };
            for row in start..(start + per_task).min(count) {
                let number = numbers.and_then(|numbers| numbers.get(row)).copied().unwrap_or(f64::NAN);
                match texts(row) {
                    Some(text) if text.len() <= reading.most => match decode(text) {
                        Ok(decoded) => signer.push(&decoded.text, number, &mut signed),
                        Err(error) => signed.push_bad(error.to_string()),
                    },
                    Some(text) => signed.push_bad(too_long(text.len(), reading.most)),
                    None => signed.push_without(RowState::Missing),
                }
            }
            signed
        };
        starts.into_par_iter().map(sign).collect()
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
struct Worker {
    /// None only for parameters that were refused when the corpus was made.
    signer: Option<Signer>,
    buffer: String,
}

impl Worker {
    fn new(reading: &ReadSettings) -> Self {
        Self { signer: Signer::new(reading.shingling, &reading.sketching).ok(), buffer: String::new() }
    }
}

/// Signs whole lines.
fn sign_lines(reading: &ReadSettings, lines: &[u8], hand: &mut Worker) -> Signed {
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

fn sign_line(reading: &ReadSettings, line: &[u8], hand: &mut Worker, signed: &mut Signed) {
    let (record, name) = record::read_named(line, &reading.columns, &mut hand.buffer);
    if reading.columns.name.is_some() {
        signed.names.push(name.map(Cow::into_owned));
    }
    match record {
        Record::Text(text, number) => {
            if let Some(signer) = &mut hand.signer {
                signer.push(text, number.unwrap_or(f64::NAN), signed);
            }
        }
        Record::Blank => signed.push_without(RowState::Blank),
        Record::Missing => signed.push_without(RowState::Missing),
        Record::Bad(reason) => signed.push_bad(reason),
    }
}

/// Signs a line across two chunks.
fn across(reading: &ReadSettings, line: Line) -> Signed {
    match line {
        Line::Held(bytes) if bytes.is_empty() => {
            let mut signed = without_name(reading);
            signed.push_without(RowState::Blank);
            signed
        }
        Line::Held(bytes) => sign_lines(reading, &bytes, &mut Worker::new(reading)),
        Line::TooLong => {
            let mut signed = without_name(reading);
            signed.push_bad(format!("the line has more than the `{}` bytes a record may have", reading.most));
            signed
        }
    }
}

/// What a row without a name is put into.
fn without_name(reading: &ReadSettings) -> Signed {
    Signed { names: reading.columns.name.iter().map(|_| None).collect(), ..Signed::default() }
}
