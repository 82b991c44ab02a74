//! Reads rows from chunks of lines or columns of texts, and signs them on all cores; batches come out in order.
//!
//! Cost: that of `sign.rs`, on all cores.

use crate::ids::{key, NO_ID};
use crate::line_cutter::{lines, JoinedLine, LineJoiner};
use crate::record::{self, Record, RecordColumns, RowName};
use crate::sign::{KeptTraits, RowState, Signed, Signer, Sketching};
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
    /// What is computed from them.
    pub sketching: Sketching,
    /// The columns of a JSON Lines record.
    pub columns: RecordColumns,
    /// Longest line, in bytes.
    pub most: usize,
    /// Which traits of the texts are kept.
    pub traits: KeptTraits,
    /// Whether the names of lines are kept as they are, and not only their keys.
    pub with_names: bool,
}

impl ReadSettings {
    /// Makes a signer. Errors: a parameter outside its range.
    fn signer(&self) -> Result<Signer> {
        Ok(Signer::new(self.shingling, &self.sketching)?.keeping(self.traits))
    }
}

/// A text as it was handed over.
#[derive(Clone, Copy, Debug)]
pub struct GivenText<'t> {
    /// Its bytes.
    pub bytes: &'t [u8],
    /// Whether its type says that it is Unicode: it is read as UTF-8 and never guessed at.
    pub is_unicode: bool,
    /// Whether parts of it that are no characters were replaced before.
    pub is_mended: bool,
}

impl<'t> GivenText<'t> {
    /// A text by its type.
    pub fn new(bytes: &'t [u8], is_unicode: bool) -> Self {
        Self { bytes, is_unicode, is_mended: false }
    }
}

/// Reads one file or column after the other.
pub struct RowReader {
    reading: ReadSettings,
    joiner: LineJoiner,
}

impl RowReader {
    /// Makes a reader. Errors: a parameter outside its range.
    pub fn new(reading: ReadSettings) -> Result<Self> {
        reading.signer()?;
        let joiner = LineJoiner::new(reading.most);
        Ok(Self { reading, joiner })
    }

    /// How texts become shingles.
    pub fn shingling(&self) -> Shingling {
        self.reading.shingling
    }

    /// Takes a chunk of a JSON Lines file. Returns the rows that end in it.
    pub fn lines(&mut self, chunk: &[u8], is_last: bool) -> Vec<Signed> {
        let ended = self.joiner.push(chunk, is_last);
        let tasks = cut_evenly(ended.rest);
        let mut parts: Vec<Signed> = Vec::new();
        let reading = &self.reading;
        let worker = || Worker::new(reading);
        parts.extend(ended.first.map(|line| sign_joined(reading, line)));
        parts.par_extend(tasks.into_par_iter().map_init(worker, |worker, block| sign_lines(reading, block, worker)));
        parts.extend(ended.last.map(|line| sign_joined(reading, line)));
        parts
    }

    /// Takes texts in memory; `None` stands for a missing text. Bytes of no type are decoded with the most likely
    /// encoding.
    pub fn texts<'t>(
        &self,
        texts: &(impl Fn(usize) -> Option<GivenText<'t>> + Sync),
        numbers: Option<&[f64]>,
        count: usize,
    ) -> Vec<Signed> {
        let per_task = texts_per_task(texts, count);
        let starts: Vec<usize> = (0..count).step_by(per_task).collect();
        let reading = &self.reading;
        let sign = |start: usize| {
            let mut signed = Signed::default();
            let Ok(mut signer) = reading.signer() else { return signed };
            for row in start..(start + per_task).min(count) {
                let number = numbers.and_then(|numbers| numbers.get(row)).copied().unwrap_or(f64::NAN);
                match texts(row) {
                    Some(text) if text.bytes.len() <= reading.most => {
                        sign_text(text, number, &mut signer, &mut signed);
                    }
                    Some(text) => signed.push_bad(too_long(text.bytes.len(), reading.most)),
                    None => signed.push_without(RowState::Missing),
                }
            }
            signed
        };
        starts.into_par_iter().map(sign).collect()
    }
}

/// Reads a typed string: what is ill-formed in it becomes U+FFFD. Nearly all are well formed, and the standard library
/// checks that several times faster than it mends.
pub fn unicode(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn sign_text(text: GivenText<'_>, number: f64, signer: &mut Signer, signed: &mut Signed) {
    if text.is_unicode {
        let read = unicode(text.bytes);
        if text.is_mended || matches!(read, Cow::Owned(_)) {
            signed.mend_next();
        }
        return signer.push(&read, number, signed);
    }
    match decode(text.bytes) {
        Ok(decoded) => signer.push(&decoded.text, number, signed),
        Err(error) => signed.push_bad(error.to_string()),
    }
}

fn too_long(bytes: usize, most: usize) -> String {
    format!("the record has `{bytes}` bytes, more than the limit of `{most}`")
}

/// Number of rows that make a task of about [`TASK`] bytes.
fn texts_per_task<'t>(texts: &impl Fn(usize) -> Option<GivenText<'t>>, count: usize) -> usize {
    let bytes: usize = (0..count).map(|row| texts(row).map_or(0, |text| text.bytes.len())).sum();
    (count * TASK).checked_div(bytes).map_or(count, |rows| rows.clamp(1, count)).max(1)
}

/// Cuts whole lines into blocks of about [`TASK`] bytes.
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

/// The signer and buffer of one core.
struct Worker {
    /// None only for parameters that [`RowReader::new`] refuses.
    signer: Option<Signer>,
    buffer: String,
}

impl Worker {
    fn new(reading: &ReadSettings) -> Self {
        Self { signer: reading.signer().ok(), buffer: String::new() }
    }
}

/// Signs a block of whole lines.
fn sign_lines(reading: &ReadSettings, block: &[u8], worker: &mut Worker) -> Signed {
    // English has about one word per six bytes.
    let mut signed = Signed { ids: Vec::with_capacity(block.len() / 6), ..Signed::default() };
    for line in lines(block) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.len() > reading.most {
            push_too_long(reading, &mut signed);
        } else {
            sign_line(reading, line, worker, &mut signed);
        }
    }
    signed
}

/// Appends a line that is not read, because it is too long. It has no name.
fn push_too_long(reading: &ReadSettings, signed: &mut Signed) {
    push_name(reading, None, signed);
    signed.push_bad(format!("the line has more bytes than the limit of `{}`", reading.most));
}

/// Appends the name of a line, if names are read.
fn push_name(reading: &ReadSettings, name: Option<RowName<'_>>, signed: &mut Signed) {
    if reading.columns.name.is_some() {
        signed.name_keys.push(name.as_ref().map_or(NO_ID, |name| key(name.text.as_bytes(), name.is_string)));
        if reading.with_names {
            signed.names.push(name.map(|name| name.text.into_owned()));
        }
    }
}

fn sign_line(reading: &ReadSettings, line: &[u8], worker: &mut Worker, signed: &mut Signed) {
    let (record, name) = record::read(line, &reading.columns, &mut worker.buffer);
    let is_mended = matches!(record, Record::Mended(..));
    push_name(reading, name, signed);
    match record {
        Record::Text(text, number) | Record::Mended(text, number) => {
            if is_mended {
                signed.mend_next();
            }
            if let Some(signer) = &mut worker.signer {
                signer.push(text, number.unwrap_or(f64::NAN), signed);
            }
        }
        Record::Blank => signed.push_without(RowState::Blank),
        Record::Missing => signed.push_without(RowState::Missing),
        Record::Bad(reason) => signed.push_bad(reason),
    }
}

/// Signs a line that lies in several chunks.
fn sign_joined(reading: &ReadSettings, line: JoinedLine) -> Signed {
    match line {
        JoinedLine::Bytes(bytes) => sign_lines(reading, &bytes, &mut Worker::new(reading)),
        JoinedLine::TooLong => {
            let mut signed = Signed::default();
            push_too_long(reading, &mut signed);
            signed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use lookalike_core::frontend::{Options, Unit};
    use proptest::prelude::*;

    /// The state of every row of a file that is read in such chunks.
    fn states(text: &str, cuts: &[usize], most: usize) -> Vec<(RowState, Option<String>)> {
        let shingling =
            Shingling::new(Options { unit: Unit::Word, homoglyphs: false }, 2, false, 64).expect("in range");
        let columns = RecordColumns { text: "text".to_owned(), number: None, name: Some("id".to_owned()) };
        let mut reader = RowReader::new(ReadSettings {
            shingling,
            sketching: Sketching::None,
            columns,
            most,
            traits: KeptTraits::None,
            with_names: true,
        })
        .expect("in range");
        let mut cuts: Vec<usize> = cuts.iter().map(|at| *at.min(&text.len())).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let mut parts = Vec::new();
        for (number, pair) in cuts.windows(2).enumerate() {
            parts.extend(reader.lines(&text.as_bytes()[pair[0]..pair[1]], number + 2 == cuts.len()));
        }
        let rows = |part: Signed| part.rows.into_iter().map(|row| row.state).zip(part.names).collect::<Vec<_>>();
        parts.into_iter().flat_map(rows).collect()
    }

    proptest! {
        #![proptest_config(fixed(300))]

        #[test]
        fn the_limit_of_a_line_does_not_depend_on_the_chunks(
            lengths in prop::collection::vec(0usize..40, 0..6), cuts in prop::collection::vec(0usize..200, 0..6),
            most in 0usize..50, ends in any::<bool>(),
        ) {
            let mut text: String =
                lengths.iter().map(|length| format!("{{\"text\":\"{}\"}}\n", "a".repeat(*length))).collect();
            if !ends {
                text.pop();
            }
            let expected: Vec<RowState> = text
                .lines()
                .map(|line| match line.len() {
                    length if length > most => RowState::Bad,
                    11 => RowState::Missing,
                    _ => RowState::Compared,
                })
                .collect();
            let found = states(&text, &cuts, most);
            prop_assert_eq!(found.iter().map(|one| one.0).collect::<Vec<_>>(), expected);
            prop_assert!(found.iter().all(|one| one.1.is_none()), "none has a name");
        }
    }
}
