//! Files and cohorts: what `compare` asks of the core.

use crate::detach::{detached, locked};
use crate::earlier::Earlier;
use crate::error::{archive_to_python, to_python};
use crate::input::{Hashes, Input};
use crate::pool::Pool;
use lookalike_code::LANGUAGES;
use lookalike_compare::places::{Region, Ruler};
use lookalike_compare::submissions::{Submission, TokenNumbers};
use lookalike_compare::submitted_file::{FilePart, SubmittedFile, TextStretch, Tokens};
use lookalike_core::error::Result;
use lookalike_core::matching::bits::BIT;
use lookalike_core::matching::common::common;
use lookalike_core::matching::entry::Entry;
use lookalike_core::matching::passages::{Passage, PassageKind};
use lookalike_core::matching::score::MatchedPair;
use lookalike_core::matching::{Cohort as Weighed, Comparison, Holders, MatchOutcome, MatchSettings};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A stretch of a text as Python says it: language, start and end, rows of a lexer, values of its tokens, k and t.
type Part = (String, usize, usize, Option<Vec<u8>>, Option<Hashes>, u32, u32);
/// A submission as Python says it, and its files.
type GivenSubmission = ((u32, bool, u32), Vec<Arc<SubmittedFile>>);
/// File, start, end, first and last line.
type Place = (u32, u32, u32, u32, u32);
/// Two places, tokens, submitters that share it, whether it is exact, what it is, share of tokens with the same text,
/// bits, whether it is weak.
type PassageRow = (Place, Place, u32, u32, bool, &'static str, f64, f64, bool);
/// Left, right, score, coverages, matched tokens, longest passage, pairs it stands for, whether work was limited; share of
/// the smaller side that is contained, bits, evidence in tokens, bits of the strongest
/// passage if one is strong; score of everything and of code that can run.
type PairRow = ((u32, u32, f64, f64, f64, u32, u32, u64, bool), (f64, f64, u64, Option<f64>), (f64, Option<f64>));
/// Thresholds, whether it is prose, values of its tokens, exact texts of folded ones, places of its tokens in characters.
type PartTokens = ((u32, u32), bool, Vec<u64>, Vec<String>, Vec<(u32, u32)>);
/// Keys and first tokens of selected k-grams; text, token and words of string literals; tokens that are
/// no evidence.
type PartPicks = (Vec<(u64, u32)>, Vec<(String, u32, u32)>, Vec<u32>);

/// Name, family and suffixes of every language with a grammar.
#[pyfunction]
pub fn languages() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    LANGUAGES.iter().map(|language| (language.name, language.family, language.suffixes.to_vec())).collect()
}

/// A text as the HTML of one side of a pair page; marks are packed native 32-bit triples, regions are start, end, number.
#[pyfunction]
pub fn pane(text: Input, marks: Vec<u8>, regions: Vec<[u32; 3]>, is_left: bool, first_line: u32) -> PyResult<String> {
    let opened = text.open().map_err(to_python)?;
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_ne_bytes).unwrap_or(0);
    let marks: Vec<[u32; 3]> =
        marks.chunks_exact(12).map(|row| [number(&row[..4]), number(&row[4..8]), number(&row[8..])]).collect();
    Ok(lookalike_compare::pane::pane(&opened.decoded.text, &marks, &regions, is_left, first_line))
}

/// A file read as tokens.
#[pyclass(frozen, module = "lookalike._core")]
pub struct ReadFile {
    pub(crate) file: Arc<SubmittedFile>,
    pub(crate) reading: (String, bool, u32),
}

#[pymethods]
impl ReadFile {
    /// Reads a text by its parts; offsets count characters of a `str`, bytes otherwise.
    #[new]
    fn new(py: Python<'_>, text: Input, parts: Vec<Part>, comments: bool) -> PyResult<Self> {
        detached(py, text.len_bytes(), || read(&text, parts, comments)).map_err(to_python)
    }

    /// What a person reads.
    #[getter]
    fn text(&self) -> &str {
        &self.file.text
    }

    /// Tokens in all.
    #[getter]
    fn tokens(&self) -> usize {
        self.file.tokens()
    }

    /// Encoding, whether it was guessed, characters replaced.
    #[getter]
    fn reading(&self) -> (String, bool, u32) {
        self.reading.clone()
    }

    /// The tokens and picks of each part, for tests and for a closer look.
    fn parts(&self) -> Vec<(PartTokens, PartPicks)> {
        self.file.parts.iter().map(|part| part_columns(&self.file.text, part)).collect()
    }

    /// Why some of it was read otherwise than its language says.
    #[getter]
    fn degraded(&self) -> Vec<String> {
        self.file.degraded.clone()
    }
}

fn part_columns(text: &str, part: &FilePart) -> (PartTokens, PartPicks) {
    let (is_prose, values) = match &part.tokens {
        Tokens::Characters(codes) => (true, codes.iter().map(|code| u64::from(*code)).collect()),
        Tokens::Hashed(hashes) => (false, hashes.clone()),
    };
    let ruler = Ruler::new(text);
    let spans = part.spans(text).iter().map(|span| (ruler.character(span.start), ruler.character(span.end))).collect();
    let picks = part.picks.iter().map(|pick| (pick.key, pick.at)).collect();
    let exact = |number: u32| String::from_utf8_lossy(part.exact_text(number)).into_owned();
    let literals = part.literals.iter().map(|literal| (exact(literal.key as u32), literal.at, literal.words)).collect();
    let verbatim = part.verbatim.iter().map(|number| exact(*number)).collect();
    ((part.thresholds, is_prose, values, verbatim, spans), (picks, literals, part.trivial().collect()))
}

fn read(text: &Input, parts: Vec<Part>, comments: bool) -> Result<ReadFile> {
    let opened = text.open()?;
    let decoded = &opened.decoded;
    let reading = (decoded.encoding.to_string(), decoded.guessed, decoded.replaced);
    let whole = decoded.text.clone().into_owned();
    let offsets = Offsets::new(&whole, opened.is_str());
    let stretches: Vec<TextStretch> = parts
        .iter()
        .map(|(language, start, end, rows, values, k, t)| TextStretch {
            language,
            range: offsets.byte(*start)..if opened.is_str() { offsets.byte(*end) } else { whole.len() },
            lexed: rows.as_ref().map(|rows| lexed(rows, &offsets)),
            values: values.as_ref().map(|values| values.0.clone()),
            thresholds: (*k, *t),
        })
        .collect();
    let file = SubmittedFile::read(whole, &stretches, comments)?;
    Ok(ReadFile { file: Arc::new(file), reading })
}

/// Turns offsets as the caller counts into bytes. The text is looked at once; an offset then costs [`STEP`] characters at most, in any
/// order.
struct Offsets<'a> {
    text: &'a str,
    /// The byte of every [`STEP`]th character; empty if the caller counts bytes, or each character has one.
    steps: Vec<usize>,
}

/// Characters between two known places.
const STEP: usize = 64;

impl<'a> Offsets<'a> {
    fn new(text: &'a str, is_str: bool) -> Self {
        let counts_bytes = !is_str || text.is_ascii();
        let places = text.char_indices().map(|(at, _)| at).step_by(STEP);
        Self { text, steps: if counts_bytes { Vec::new() } else { places.collect() } }
    }

    fn byte(&self, offset: usize) -> usize {
        if self.steps.is_empty() {
            return offset.min(self.text.len());
        }
        let Some(from) = self.steps.get(offset / STEP).copied() else { return self.text.len() };
        let rest = &self.text[from..];
        from + rest.char_indices().nth(offset % STEP).map_or(rest.len(), |(at, _)| at)
    }
}

/// Rows of three little-endian 32-bit numbers, their offsets in bytes.
fn lexed(rows: &[u8], offsets: &Offsets) -> Vec<[u32; 3]> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u32, |all, byte| all << 8 | u32::from(*byte));
    rows.chunks_exact(12)
        .map(|row| {
            let [start, end] = [&row[..4], &row[4..8]].map(|bytes| offsets.byte(number(bytes) as usize) as u32);
            [start, end, number(&row[8..])]
        })
        .collect()
}

/// Submissions being compared.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Cohort {
    submissions: Vec<Submission>,
    weighed: Weighed,
    pool: Pool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    comparison: Comparison,
    outcome: MatchOutcome,
}

#[pymethods]
impl Cohort {
    /// Sorts and weighs submissions: (submitter, old, place of the name, files) each; template files; what to ask. `least`
    /// is the least score, containment, evidence and bits, and the least worth of strong passages by language. With
    /// `earlier`, submitters are its persons, and it counts who holds what; otherwise `submitters` may say how many there are.
    #[new]
    #[pyo3(signature = (submissions, templates, max_sharing, least, cluster_threshold, max_pairs, threads, submitters=None, earlier=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        submissions: Vec<(u32, bool, u32, Vec<Py<ReadFile>>)>,
        templates: Vec<Py<ReadFile>>,
        max_sharing: Option<u32>,
        least: (f64, f64, u32, u32, HashMap<String, u32>),
        cluster_threshold: f64,
        max_pairs: usize,
        threads: usize,
        submitters: Option<u32>,
        earlier: Option<Py<Earlier>>,
    ) -> PyResult<Self> {
        let files = |files: &[Py<ReadFile>]| files.iter().map(|file| file.get().file.clone()).collect::<Vec<_>>();
        let given: Vec<_> = submissions.iter().map(|(who, old, rank, all)| ((*who, *old, *rank), files(all))).collect();
        let templates = files(&templates);
        let (min_score, min_contained, min_evidence, min_bits, passages) = least;
        let settings = MatchSettings {
            max_sharing,
            min_score,
            min_contained,
            min_evidence,
            min_bits,
            cluster_threshold,
            max_pairs,
        };
        let pool = Pool::new(threads)?;
        let outside = Outside { submitters, earlier: earlier.as_ref().map(Py::get) };
        let made = detached(py, usize::MAX, || build(given, templates, settings, passages, pool, outside));
        made.map_err(archive_to_python)
    }

    /// Compares the next `rows` submissions with all others, then makes the passages of so many pairs; whether there is
    /// more to do.
    fn advance(&self, py: Python<'_>, rows: u32) -> bool {
        locked(py, &self.state, |state| {
            let more = self.pool.install(|| state.comparison.advance(&self.weighed, rows));
            if !more {
                state.outcome = std::mem::take(&mut state.comparison).finish();
            }
            more
        })
    }

    /// Tokens, template tokens, too common tokens and own tokens of each submission.
    fn counts(&self) -> Vec<(usize, usize, usize, usize)> {
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
        let entries = self.weighed.entries().iter().zip(self.weighed.weighed());
        entries
            .map(|(entry, weighed)| {
                let tokens = entry.parts.iter().map(|part| (part.end - part.start) as usize).sum();
                let own = weighed.own();
                let template = count(&weighed.template);
                (tokens, template, tokens - own - template.min(tokens - own), own)
            })
            .collect()
    }

    /// Number of tokens of each submission that cannot run, and "analysed" or the reason why that is not known.
    fn reachability(&self) -> Vec<(usize, String)> {
        let entries = self.weighed.entries().iter().zip(&self.submissions);
        let row = |(entry, submission): (&Entry, &Submission)| (dead_tokens(entry), analysis(submission));
        entries.map(row).collect()
    }

    /// Submissions too short to have a k-gram.
    fn too_short(&self) -> Vec<usize> {
        let entries = self.weighed.entries().iter().enumerate();
        entries.filter(|(_, entry)| entry.picks.is_empty()).map(|(i, _)| i).collect()
    }

    /// The pairs of a list, best first: 0 for the main list, 1 for contained pairs, 2 for those that share too
    /// little, 3 for other pairs that share a strong passage.
    fn pairs(&self, py: Python<'_>, which: usize) -> Vec<PairRow> {
        let row = |pair: &MatchedPair| {
            let ([left, right], measures) = (pair.coverage, &pair.measures);
            let amounts = (pair.matched, pair.longest, pair.stands_for, pair.is_limited);
            let shares = (pair.left, pair.right, measures.score, left, right);
            let first = (shares.0, shares.1, shares.2, shares.3, shares.4, amounts.0, amounts.1, amounts.2, amounts.3);
            let strength = measures.strength.map(as_bits);
            let worth = (measures.contained, as_bits(measures.bits), measures.evidence, strength);
            (first, worth, (measures.whole, measures.reachable))
        };
        locked(py, &self.state, |state| of_list(&state.outcome, which).iter().map(row).collect())
    }

    /// Pairs of each list, pairs of none, the histogram, pairs of contents that were aligned, and pairs that
    /// reached a limit of work.
    fn totals(&self, py: Python<'_>) -> ([u64; 4], u64, Vec<u64>, u64, u64) {
        locked(py, &self.state, |State { outcome, .. }| {
            let counts = [outcome.count, outcome.contained_count, outcome.little_count, outcome.shared_count];
            (counts, outcome.below, outcome.histogram.clone(), outcome.aligned, outcome.limited)
        })
    }

    /// The passages of all pairs of a list, pair by pair.
    fn passages(&self, py: Python<'_>, which: usize) -> Vec<Vec<PassageRow>> {
        locked(py, &self.state, |state| {
            let rulers: Vec<Vec<Ruler>> = self.submissions.iter().map(Submission::rulers).collect();
            let pairs = of_list(&state.outcome, which).iter();
            pairs
                .map(|pair| {
                    let sides = [pair.left as usize, pair.right as usize];
                    pair.passages.iter().map(|passage| self.passage(&rulers, sides, passage)).collect()
                })
                .collect()
        })
    }

    /// What does not match inside the passages of a list, pair by pair: side (0 or 1), file, start and end.
    fn gaps(&self, py: Python<'_>, which: usize) -> Vec<Vec<(u32, u32, u32, u32)>> {
        locked(py, &self.state, |state| {
            let rulers: Vec<Vec<Ruler>> = self.submissions.iter().map(Submission::rulers).collect();
            let of = |side: usize, entry: u32, [start, end]: [u32; 2]| {
                let region = self.submissions[entry as usize].region(&rulers[entry as usize], start, end);
                (side as u32, region.file, region.start, region.end)
            };
            let in_pair = |pair: &MatchedPair| {
                let both = pair.gaps.iter().flat_map(|[left, right]| [(0, pair.left, *left), (1, pair.right, *right)]);
                let filled = both.filter(|(_, _, [start, end])| start < end);
                filled.map(|(side, entry, range)| of(side, entry, range)).collect()
            };
            of_list(&state.outcome, which).iter().map(in_pair).collect()
        })
    }

    /// Clusters: representative, then members with their scores.
    fn clusters(&self, py: Python<'_>) -> Vec<(u32, Vec<(u32, f64)>)> {
        locked(py, &self.state, |State { outcome, .. }| {
            let clusters = outcome.clusters.iter();
            clusters.map(|cluster| (cluster.representative, cluster.members.clone())).collect()
        })
    }

    /// Passages that very many have: submission, place, tokens, holders.
    fn common(&self) -> Vec<(u32, Place, u32, Vec<u32>)> {
        let found = common(&self.weighed).into_iter();
        found
            .map(|passage| {
                let submission = &self.submissions[passage.entry as usize];
                let place = submission.region(&submission.rulers(), passage.start, passage.end);
                (passage.entry, as_place(place), passage.end - passage.start, passage.holders)
            })
            .collect()
    }

    /// Groups of identical submissions that are too large to list all pairs: their members, in the order of names.
    fn groups(&self) -> Vec<Vec<u32>> {
        let classes = self.weighed.classes();
        classes.groups().map(|first| classes.members(first).to_vec()).collect()
    }

    /// What colours a file: packed native 32-bit triples of start, end and class.
    fn marks<'py>(&self, py: Python<'py>, submission: usize, file: u32) -> Bound<'py, PyBytes> {
        let rows = match (self.submissions.get(submission), self.weighed.weighed().get(submission)) {
            (Some(read), Some(weighed)) if (file as usize) < read.files.len() => {
                let entry = &self.weighed.entries()[submission];
                read.marks(file, &weighed.template, &weighed.common, &entry.unreachable)
            }
            _ => Vec::new(),
        };
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|number| number.to_ne_bytes()).collect();
        PyBytes::new(py, &bytes)
    }
}

impl Cohort {
    fn passage(&self, rulers: &[Vec<Ruler>], sides: [usize; 2], passage: &Passage) -> PassageRow {
        let place = |side: usize| {
            let region =
                self.submissions[sides[side]].region(&rulers[sides[side]], passage.start[side], passage.end[side]);
            as_place(region)
        };
        let sort = match passage.kind {
            PassageKind::Run => "run",
            PassageKind::Repeat => "repeat",
            PassageKind::Literal => "literal",
        };
        let [tokens, same] = passage.same_text.map(f64::from);
        let (same, bits) = (same / tokens.max(1.0), as_bits(passage.bits));
        (place(0), place(1), passage.tokens, passage.shared_by, passage.exact, sort, same, bits, passage.is_weak)
    }
}

fn of_list(outcome: &MatchOutcome, list: usize) -> &[MatchedPair] {
    [&outcome.pairs, &outcome.contained, &outcome.little, &outcome.shared].get(list).map_or(&[], |pairs| pairs)
}

fn as_bits(thousandths: u64) -> f64 {
    thousandths as f64 / BIT as f64
}

fn dead_tokens(entry: &Entry) -> usize {
    entry.unreachable.iter().filter(|is_dead| **is_dead).count()
}

/// "analysed", or the reason why all code counts as reachable.
fn analysis(submission: &Submission) -> String {
    submission.everything.map_or_else(|| "analysed".to_string(), |reason| reason.to_string())
}

/// Whether each token of a submission cannot run, a token between two parts included, and what `Cohort.reachability`
/// says of it. For tests and for a closer look.
#[pyfunction]
pub fn unreachable(files: Vec<Py<ReadFile>>) -> (Vec<bool>, String) {
    let files = files.iter().map(|file| file.get().file.clone()).collect();
    let (submission, mut entry) = TokenNumbers::default().entry(files, 0, false);
    entry.unreachable.resize(entry.tokens.len(), false);
    (entry.unreachable, analysis(&submission))
}

fn as_place(region: Region) -> Place {
    (region.file, region.start, region.end, region.start_line, region.end_line)
}

/// What is counted outside the cohort.
struct Outside<'a> {
    submitters: Option<u32>,
    earlier: Option<&'a Earlier>,
}

fn build(
    given: Vec<GivenSubmission>,
    templates: Vec<Arc<SubmittedFile>>,
    settings: MatchSettings,
    passages: HashMap<String, u32>,
    pool: Pool,
    outside: Outside,
) -> lookalike_table::Result<Cohort> {
    let mut numbers = TokenNumbers::new(passages);
    let templates: Vec<Entry> = templates.into_iter().map(|file| numbers.entry(vec![file], 0, false).1).collect();
    let (mut submissions, mut entries) = (Vec::new(), Vec::new());
    for ((submitter, old, rank), files) in given {
        let (submission, mut entry) = numbers.entry(files, submitter, old);
        entry.rank = rank;
        submissions.push(submission);
        entries.push(entry);
    }
    let holders = match outside.earlier {
        Some(earlier) => earlier.all.holders(&entries, &numbers)?,
        None => Holders { submitters: outside.submitters, ..Holders::default() },
    };
    let weighed = pool.install(|| Weighed::among(entries, &templates, settings, holders));
    Ok(Cohort { submissions, weighed, pool, state: Mutex::default() })
}
