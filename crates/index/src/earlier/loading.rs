//! Makes the files of a stored document again, from its text and what was stored of its tokens.
//!
//! A row of a corpus is one prose text; its tokens are read again. Cost: linear in the text.

use crate::snapshot::Snapshot;
use crate::texts::{StoredTexts, TextUnpacker};
use lookalike_compare::stored::restore;
use lookalike_compare::submitted_file::{SubmittedFile, TextStretch, TEXT};
use lookalike_table::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// A stored document that was read again.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its files.
    pub files: Vec<Arc<SubmittedFile>>,
    /// What Python stored of it; empty for a row of a corpus.
    pub facts: Vec<u8>,
}

/// Reads documents again; reuses its memory.
pub struct Loader {
    texts: TextUnpacker,
    /// Noise and guarantee threshold of rows.
    thresholds: (u32, u32),
}

impl Loader {
    /// Makes a loader. `thresholds` are those of the rows of a corpus. Errors: memory that cannot be had.
    pub fn new(thresholds: (u32, u32)) -> Result<Self> {
        Ok(Self { texts: TextUnpacker::new()?, thresholds })
    }

    /// Reads a document. Errors: damaged, or its text is not kept.
    pub fn load(&mut self, snapshot: &Snapshot, number: u64) -> Result<Loaded> {
        let texts = unpacked(&mut self.texts, snapshot, number)?;
        match snapshot.tokens(number)?.filter(|tokens| !tokens.is_empty()) {
            Some(tokens) => submission(&tokens, &texts).ok_or_else(|| damaged(number)),
            None => self.row(&texts),
        }
    }

    /// A row of a corpus.
    fn row(&self, texts: &StoredTexts) -> Result<Loaded> {
        let whole = TextStretch {
            language: TEXT,
            range: 0..texts.joined.len(),
            lexed: None,
            values: None,
            thresholds: self.thresholds,
        };
        let file = SubmittedFile::read(texts.joined.clone(), &[whole], false);
        let file = file.map_err(|error| Error::refused(error.to_string()))?;
        Ok(Loaded { files: vec![Arc::new(file)], facts: Vec::new() })
    }
}

/// Reads the files of a document to align them with another one: those of a row of a corpus, which has these thresholds, are
/// without selected k-grams. Errors: damaged, or its text is not kept.
pub fn load_to_align(
    unpacker: &mut TextUnpacker,
    thresholds: (u32, u32),
    snapshot: &Snapshot,
    number: u64,
) -> Result<Vec<Arc<SubmittedFile>>> {
    let texts = unpacked(unpacker, snapshot, number)?;
    if let Some(tokens) = snapshot.tokens(number)?.filter(|tokens| !tokens.is_empty()) {
        return submission(&tokens, &texts).map(|loaded| loaded.files).ok_or_else(|| damaged(number));
    }
    let file = SubmittedFile::unselected(texts.joined, thresholds);
    Ok(vec![Arc::new(file.map_err(|error| Error::refused(error.to_string()))?)])
}

fn unpacked(unpacker: &mut TextUnpacker, snapshot: &Snapshot, number: u64) -> Result<StoredTexts> {
    let text = snapshot.text(number)?;
    let text = text.ok_or_else(|| Error::refused(format!("the text of document `{number}` is not kept")))?;
    unpacker.unpack(&text)
}

fn submission(tokens: &[u8], texts: &StoredTexts) -> Option<Loaded> {
    let texts = (0..texts.files.len()).map(|file| texts.file(file).to_owned()).collect();
    let restored = restore(tokens, texts)?;
    Some(Loaded { files: restored.files.into_iter().map(Arc::new).collect(), facts: restored.facts })
}

fn damaged(number: u64) -> Error {
    Error::damaged(Path::new("tokens"), format!("the tokens of document `{number}` are not those of its text"))
}
