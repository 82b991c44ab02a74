//! Signs stored documents again from their texts, where another version made their keys, or where keys are damaged.
//!
//! What is not made of the text stays: id, meta data, person, time, flags and leader. A document whose text is not kept,
//! or is not the one that its content hash was made of, cannot be signed again.
//!
//! Cost: that of signing, and of unpacking the text.

use crate::record::Document;
use crate::sign::{content_hash, RecordSigner};
use crate::texts::{StoredTexts, TextUnpacker};
use lookalike_compare::stored;
use lookalike_compare::submitted_file::{SubmittedFile, TEXT};
use lookalike_table::{Error, Result};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A file of a stored submission: what is needed to read it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// Its name.
    pub name: Vec<u8>,
    /// Its readable text.
    pub text: String,
    /// Its stretches: language, and bytes of the text.
    pub stretches: Vec<(String, Range<usize>)>,
}

/// The files of a stored submission with their languages, and the facts that a comparison stored with them. Files of a
/// document without tokens are prose. None if its text is not kept, or is another one. Errors: damaged.
pub fn kept_files(document: &Document) -> Result<Option<(Vec<KeptFile>, Vec<u8>)>> {
    let Some(texts) = own_texts(document)? else { return Ok(None) };
    let (mut files, mut facts) = (Vec::new(), Vec::new());
    for (place, (name, range)) in texts.files.iter().enumerate() {
        let stretches = vec![(TEXT.to_owned(), 0..range.len())];
        files.push(KeptFile { name: name.clone(), text: texts.file(place).to_owned(), stretches });
    }
    if !document.tokens.is_empty() {
        let all = files.iter().map(|file| file.text.clone()).collect();
        let damaged = || Error::damaged(Path::new("tokens"), "stored files differ from what was written");
        let restored = stored::restore(&document.tokens, all).ok_or_else(damaged)?;
        for (file, found) in files.iter_mut().zip(&restored.files) {
            let of_part = |part: &lookalike_compare::submitted_file::FilePart| {
                let language = part.language.clone();
                part.ranges().iter().map(move |range| (language.clone(), range.clone())).collect::<Vec<_>>()
            };
            file.stretches = found.parts.iter().flat_map(of_part).collect();
        }
        facts = restored.facts;
    }
    Ok(Some((files, facts)))
}

/// The stored texts of a document; none if they are not kept, or are not those of its content hash. Errors: damaged.
fn own_texts(document: &Document) -> Result<Option<StoredTexts>> {
    if document.text.is_empty() {
        return Ok(None);
    }
    let texts = TextUnpacker::new()?.unpack(&document.text)?;
    let content = content_hash((0..texts.files.len()).map(|place| texts.file(place)));
    Ok((content == document.content).then_some(texts))
}

/// What is not made of the text, from the old document; everything else from the new one.
fn with_the_rest_of(old: Document, made: Document) -> Document {
    let Document { id, meta, submitter, known_as, time, flags, leader, .. } = old;
    Document { id, meta, submitter, known_as, time, flags, leader, ..made }
}

impl RecordSigner {
    /// Signs a stored row again from its text. None if it keeps no text, is a submission, or its text has another content
    /// hash. Errors: the text cannot be unpacked.
    pub fn again(&mut self, old: Document) -> Result<Option<Document>> {
        let Some(texts) = own_texts(&old)?.filter(|_| old.tokens.is_empty()) else { return Ok(None) };
        match &texts.files[..] {
            [(name, _)] if name.is_empty() => Ok(Some(with_the_rest_of(old, self.row(texts.file(0))?))),
            _ => Ok(None),
        }
    }

    /// Signs a stored submission again, of which the files have been read again. Errors: as
    /// [`RecordSigner::submission`].
    pub fn submission_again(
        &mut self,
        old: Document,
        files: &[(Vec<u8>, Arc<SubmittedFile>)],
        facts: &[u8],
    ) -> Result<Document> {
        Ok(with_the_rest_of(old, self.submission(files, facts)?))
    }
}
