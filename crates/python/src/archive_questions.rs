//! Questions about documents over a snapshot of an index, as Python calls them.

use crate::archive::RecordSigner;
use crate::compare::ReadFile;
use crate::detach::detached;
use crate::error::{archive_to_python, to_python};
use crate::input::Input;
use crate::segments::{Snapshot, StoredRow};
use crate::share::key_of;
use crate::texts::Texts;
use lookalike_compare::submitted_file::SubmittedFile;
use lookalike_index::idle::Idle;
use lookalike_index::questions::conditions::Conditions;
use lookalike_index::questions::seen::Seen;
use lookalike_index::questions::{Asked, Asker as Core, Found, Match, Measure, SameHash, Score, Wish};
use lookalike_index::record::Document;
use lookalike_index::sign::{RecordSigner as Signer, SignSettings};
use lookalike_table::{Error, Result};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rayon::prelude::*;
use std::sync::Arc;

/// Value, lower and upper limit, and whether it was counted on the texts.
type ScoreRow = (f64, f64, f64, bool);
/// Number, what is stored, documents with this content, scores, bits in which the simhashes differ, and whether the content
/// is the same.
type MatchRow = (u64, StoredRow, u64, Vec<ScoreRow>, u32, bool);
/// Matches, documents and distinct contents that answer the question; holders, rows, sketches and texts that were read.
/// Then documents with the hash of the asked one that have another text, and those that were not compared.
type FoundRow = (Vec<MatchRow>, u64, u64, [u64; 4], (u64, u64));
/// Verdict, nearest, candidates, what was read, documents with the same hash as in `FoundRow`.
type SeenRow = (bool, Option<MatchRow>, u64, [u64; 4], (u64, u64));
/// Distinct shingles and tokens of an asked text, and whether it has nothing but starter code.
type Extent = (u32, u32, bool);
/// Keys and values that meta data must have.
type Where = Vec<(String, String)>;

/// A document that questions are asked about.
#[pyclass(frozen, module = "lookalike._core")]
pub struct AskedDocument(pub(crate) Asked);

#[pymethods]
impl AskedDocument {
    /// The document as an index that another institution shared is asked: with keyed hashes, and without shingles to count.
    fn shared(&self, secret: &[u8]) -> PyResult<Self> {
        let document = key_of(secret)?.shared(&self.0.document);
        Ok(Self(Asked { document, ..Asked::default() }))
    }

    /// The document among others that have this starter code, which is not counted.
    fn beside(&self, starter: &Starter) -> Self {
        Self(self.0.clone().beside(starter.0.clone()))
    }

    /// Whether it has nothing but starter code.
    #[getter]
    fn is_starter(&self) -> bool {
        self.0.is_starter()
    }

    /// The hash of its content.
    #[getter]
    fn content(&self) -> [u8; 16] {
        self.0.document.content.to_be_bytes()
    }

    /// Distinct shingles, tokens, bytes, sampled shingles, and keys of the filter.
    #[getter]
    fn sizes(&self) -> (u32, u32, u64, usize, usize) {
        let made = &self.0.document;
        (made.shingles, made.length, made.bytes, made.samples.len(), made.features.len())
    }

    /// Distinct shingles that count: those of starter code do not.
    #[getter]
    fn counted(&self) -> u64 {
        self.0.counted()
    }

    /// Its simhash, if it has one.
    #[getter]
    fn simhash(&self) -> Option<u64> {
        self.0.document.simhash
    }
}

/// The shingles of the starter code of an index.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Starter(Arc<[u64]>);

#[pymethods]
impl Starter {
    /// Number of distinct shingles.
    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Answers questions by the parameters of an index.
#[pyclass(frozen, module = "lookalike._core")]
pub struct Asker {
    signer: Py<RecordSigner>,
    /// Signers for all questions: as that of the index, but the text of a question is not packed.
    asking: (SignSettings, Idle<Signer>),
    /// Signers for `seen`, which needs resemblance only.
    seeing: (SignSettings, Idle<Signer>),
    idle: Idle<Core>,
}

#[pymethods]
impl Asker {
    /// `is_keyed`: the index has keys of its own, which [`AskedDocument::shared`] makes of the k-grams. Otherwise passages are
    /// asked for with files that have their k-grams already.
    #[new]
    #[pyo3(signature = (signer, is_keyed=false))]
    fn new(signer: Py<RecordSigner>, is_keyed: bool) -> PyResult<Self> {
        let settings = &signer.get().settings;
        let asking = SignSettings { texts: false, passages: settings.passages && is_keyed, ..settings.clone() };
        let seeing = SignSettings { passages: false, modulus: None, simhash: None, ..asking.clone() };
        let with_signer = |settings: SignSettings| {
            let first = Signer::new(&settings).map_err(archive_to_python)?;
            Ok::<_, PyErr>((settings, Idle::new(first)))
        };
        let first = Core::new(settings).map_err(archive_to_python)?;
        let (asking, seeing) = (with_signer(asking)?, with_signer(seeing)?);
        Ok(Self { signer, asking, seeing, idle: Idle::new(first) })
    }

    /// Signs a text to ask about it; `is_seen` to ask only whether it was seen.
    fn text(&self, py: Python<'_>, text: Input, is_seen: bool) -> PyResult<AskedDocument> {
        let opened = text.open().map_err(to_python)?;
        let by = if is_seen { &self.seeing } else { &self.asking };
        let sign = || self.asked_row(by, &opened.decoded.text);
        detached(py, text.len_bytes(), sign).map(AskedDocument).map_err(archive_to_python)
    }

    /// Signs the files of a submission to ask about it.
    fn files(&self, py: Python<'_>, files: Vec<(PyBackedBytes, Py<ReadFile>)>) -> PyResult<AskedDocument> {
        let files: Vec<(Vec<u8>, Arc<SubmittedFile>)> =
            files.iter().map(|(name, file)| (name.to_vec(), file.get().file.clone())).collect();
        let kept = if self.keeps_texts() { &files[..] } else { &[] };
        let texts = kept.iter().map(|(_, file)| file.text.to_string()).collect();
        let sign = |signer: &mut Signer| signer.submission(&files, b"").map(|document| asked(signer, document, texts));
        let made = detached(py, usize::MAX, || with_signer(&self.asking, sign));
        made.map(AskedDocument).map_err(archive_to_python)
    }

    /// The shingles of the starter code of a snapshot. Cost: the flags of all documents.
    fn starter(&self, py: Python<'_>, snapshot: &Snapshot) -> PyResult<Starter> {
        let found = detached(py, usize::MAX, || self.with_asker(|asker| asker.starter(&snapshot.0)));
        found.map(Starter).map_err(archive_to_python)
    }

    /// The documents that answer a question: identical, resemblance or containment of at least the threshold, distance of at
    /// most so many bits.
    #[pyo3(signature = (question, snapshot, asked, top, conditions, threshold=0.0, distance=0))]
    #[allow(clippy::too_many_arguments)]
    fn ask(
        &self,
        py: Python<'_>,
        question: &str,
        snapshot: &Snapshot,
        asked: &AskedDocument,
        top: usize,
        conditions: Where,
        threshold: f64,
        distance: u32,
    ) -> PyResult<FoundRow> {
        let (snapshot, asked, conditions) = (&snapshot.0, &asked.0, Conditions::new(conditions));
        let wish = Wish { conditions: &conditions, top, threshold };
        let ask = |asker: &mut Core| match question {
            "identical" => asker.identical(snapshot, asked, wish),
            "resemblance" => asker.resemblance(snapshot, asked, wish),
            "containment" => asker.containment(snapshot, asked, wish),
            "distance" => asker.distance(snapshot, asked, distance, wish),
            _ => Err(Error::refused(format!("question `{question}` is not known"))),
        };
        let found = detached(py, usize::MAX, || self.with_asker(ask)).map_err(archive_to_python)?;
        Ok(found_row(found))
    }

    /// Whether a document like this one is there.
    fn seen(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        asked: &AskedDocument,
        threshold: f64,
        conditions: Where,
    ) -> PyResult<SeenRow> {
        let conditions = Conditions::new(conditions);
        let wish = Wish { conditions: &conditions, top: 1, threshold };
        let seen = detached(py, usize::MAX, || self.with_asker(|asker| asker.seen(&snapshot.0, &asked.0, wish)));
        seen.map(seen_row).map_err(archive_to_python)
    }

    /// Signs each text and tells whether a document like it is there, and how long the text is, on all cores; the reason where
    /// a text cannot be read.
    #[allow(clippy::type_complexity)]
    #[pyo3(signature = (snapshot, texts, threshold, conditions, starter=None))]
    fn seen_many(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        texts: Texts,
        threshold: f64,
        conditions: Where,
        starter: Option<Py<Starter>>,
    ) -> PyResult<Vec<(Option<(SeenRow, Extent)>, Option<String>)>> {
        let (view, conditions) = (texts.view()?, Conditions::new(conditions));
        let starter = starter.map_or_else(Default::default, |starter| starter.get().0.clone());
        let wish = Wish { conditions: &conditions, top: 1, threshold };
        let one = |row: usize| -> Result<std::result::Result<(Seen, Extent), String>> {
            let opened = match view.text(row) {
                Ok(opened) => opened,
                Err(reason) => return Ok(Err(reason)),
            };
            let asked = self.asked_row(&self.seeing, &opened.decoded.text)?;
            let asked = asked.beside(starter.clone());
            let extent = (asked.document.shingles, asked.document.length, asked.is_starter());
            self.with_asker(|asker| asker.seen(&snapshot.0, &asked, wish)).map(|seen| Ok((seen, extent)))
        };
        let pool = &self.signer.get().pool;
        let work = || pool.install(|| (0..view.len()).into_par_iter().map(&one).collect::<Result<Vec<_>>>());
        let seen = detached(py, usize::MAX, work).map_err(archive_to_python)?;
        let row = |seen: std::result::Result<(Seen, Extent), String>| match seen {
            Ok((seen, extent)) => (Some((seen_row(seen), extent)), None),
            Err(reason) => (None, Some(reason)),
        };
        Ok(seen.into_iter().map(row).collect())
    }
}

impl Asker {
    /// Whether stored texts decide whether a document is identical.
    fn keeps_texts(&self) -> bool {
        self.signer.get().settings.texts
    }

    /// Signs a text to ask about it.
    fn asked_row(&self, by: &(SignSettings, Idle<Signer>), text: &str) -> Result<Asked> {
        let texts = if self.keeps_texts() { vec![text.to_owned()] } else { Vec::new() };
        with_signer(by, |signer| signer.row(text).map(|document| asked(signer, document, texts)))
    }

    /// Works with an asker that is not at work.
    fn with_asker<T>(&self, work: impl FnOnce(&mut Core) -> Result<T>) -> Result<T> {
        self.idle.with(|| Core::new(&self.signer.get().settings), work)
    }
}

/// Works with a signer that is not at work.
fn with_signer<T>(
    (settings, idle): &(SignSettings, Idle<Signer>),
    work: impl FnOnce(&mut Signer) -> Result<T>,
) -> Result<T> {
    idle.with(|| Signer::new(settings), work)
}

/// The document that was signed last, to ask about it: the one place where documents become questions.
fn asked(signer: &Signer, document: Document, texts: Vec<String>) -> Asked {
    Asked { document, shingles: signer.shingles().to_vec(), texts, ..Asked::default() }
}

fn match_row(found: Match) -> MatchRow {
    let score = |score: Score| (score.value, score.low, score.high, score.is_exact);
    let (scores, bits) = match found.measure {
        Measure::Identical { is_verified } => (vec![score(Score { is_exact: is_verified, ..Score::exact(1.0) })], 0),
        Measure::Resemblance(one) => (vec![score(one)], 0),
        Measure::Containment(inside, holds) => (vec![score(inside), score(holds)], 0),
        Measure::Distance(bits) => (Vec::new(), bits),
    };
    let is_identical = matches!(found.measure, Measure::Identical { .. });
    (found.number, StoredRow(found.row), found.copies, scores, bits, is_identical)
}

fn found_row(found: Found) -> FoundRow {
    let matches = found.matches.into_iter().map(match_row).collect();
    (matches, found.documents, found.distinct, read(found.work), same_hash(found.same_hash))
}

fn seen_row(seen: Seen) -> SeenRow {
    (seen.is_seen, seen.nearest.map(match_row), seen.candidates, read(seen.work), same_hash(seen.same_hash))
}

fn same_hash(found: SameHash) -> (u64, u64) {
    (found.other_text, found.uncompared)
}

fn read(work: lookalike_index::questions::Work) -> [u64; 4] {
    [work.holders, work.rows, work.sketches, work.texts]
}
