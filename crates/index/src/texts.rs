//! Packs the readable texts of a document for storage, and unpacks them.
//!
//! The texts of several files are joined by one line feed. This joined text is what shingles and simhashes are made of,
//! so an exact count needs no more than unpacking. It is cut into pieces of at most [`PIECE`] bytes, each of which is
//! one zstd frame.
//!
//! ```text
//! byte      version 1
//! number    files, at least 1; for each file: number length of the name, the name, number length of the text in bytes
//! then, until the joined text is complete: number length of the frame, the frame
//! ```
//!
//! A number is LEB128: 7 bits per byte, the lowest first. Cost: zstd level 1, about 8 ns per byte of English, and 1 ns
//! to unpack; 45 % to 60 % of the bytes of short texts.

use lookalike_table::{Error, Result};
use std::path::Path;

/// Most bytes of text in one frame.
pub const PIECE: usize = 16 << 10;
/// Compression level: higher ones take several times as long and save about 5 % of such short pieces.
const LEVEL: i32 = 1;
/// The version of the layout.
const VERSION: u8 = 1;
/// What is between two files in the joined text.
const BETWEEN: &str = "\n";

/// A file of a document: its name, and its readable text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedText<'a> {
    /// Its path below the document; empty for a row of a corpus. Bytes, because names need not be Unicode.
    pub name: &'a [u8],
    /// What a person reads.
    pub text: &'a str,
}

/// Texts that were unpacked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredTexts {
    /// All texts, joined by one line feed.
    pub joined: String,
    /// The name of each file, and its bytes in the joined text.
    pub files: Vec<(Vec<u8>, std::ops::Range<usize>)>,
}

impl StoredTexts {
    /// The text of a file; empty if there is no such file.
    pub fn file(&self, number: usize) -> &str {
        self.files.get(number).and_then(|(_, range)| self.joined.get(range.clone())).unwrap_or("")
    }
}

/// Joins the texts of files.
pub fn joined(files: &[NamedText<'_>]) -> String {
    files.iter().map(|file| file.text).collect::<Vec<_>>().join(BETWEEN)
}

/// Packs texts with the same memory.
pub struct TextPacker {
    compressor: zstd::bulk::Compressor<'static>,
    frame: Vec<u8>,
}

impl TextPacker {
    /// Makes a packer. Errors: memory that the compressor cannot have.
    pub fn new() -> Result<Self> {
        let compressor = zstd::bulk::Compressor::new(LEVEL).map_err(|error| Error::io(Path::new("zstd"), error))?;
        Ok(Self { compressor, frame: Vec::with_capacity(zstd::zstd_safe::compress_bound(PIECE)) })
    }

    /// Packs the files of a document. REQUIRES: `whole` is their joined text.
    pub fn pack(&mut self, files: &[NamedText<'_>], whole: &str) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(whole.len() / 2 + 32);
        out.push(VERSION);
        put(files.len() as u64, &mut out);
        for file in files {
            put(file.name.len() as u64, &mut out);
            out.extend_from_slice(file.name);
            put(file.text.len() as u64, &mut out);
        }
        for piece in whole.as_bytes().chunks(PIECE) {
            self.frame.clear();
            let packed = self.compressor.compress_to_buffer(piece, &mut self.frame);
            let length = packed.map_err(|error| Error::io(Path::new("zstd"), error))?;
            put(length as u64, &mut out);
            out.extend_from_slice(&self.frame);
        }
        Ok(out)
    }
}

/// Unpacks texts with the same memory.
pub struct TextUnpacker {
    decompressor: zstd::bulk::Decompressor<'static>,
    piece: Vec<u8>,
}

impl TextUnpacker {
    /// Makes an unpacker. Errors: memory that the decompressor cannot have.
    pub fn new() -> Result<Self> {
        let decompressor = zstd::bulk::Decompressor::new().map_err(|error| Error::io(Path::new("zstd"), error))?;
        Ok(Self { decompressor, piece: Vec::with_capacity(PIECE) })
    }

    /// Unpacks the texts of a document. Errors: [`Error::Damaged`] for bytes that [`TextPacker::pack`] did not make.
    pub fn unpack(&mut self, packed: &[u8]) -> Result<StoredTexts> {
        self.read(packed).ok_or_else(|| Error::damaged(Path::new("texts"), "a stored text cannot be unpacked"))
    }

    fn read(&mut self, packed: &[u8]) -> Option<StoredTexts> {
        let (version, mut rest) = packed.split_first()?;
        let count = usize::try_from(take(&mut rest)?).ok().filter(|count| *count > 0 && *version == VERSION)?;
        // A name and a length take two bytes at least, so a false count cannot claim memory.
        let mut files = Vec::with_capacity(count.min(rest.len()));
        let mut length = 0usize;
        for number in 0..count {
            let name = take_bytes(&mut rest)?.to_vec();
            let start = length.checked_add(if number > 0 { BETWEEN.len() } else { 0 })?;
            length = start.checked_add(usize::try_from(take(&mut rest)?).ok()?)?;
            files.push((name, start..length));
        }
        let joined = String::from_utf8(self.pieces(rest, length)?).ok()?;
        let are_apart = files.iter().all(|(_, range)| joined.get(range.clone()).is_some());
        are_apart.then_some(StoredTexts { joined, files })
    }

    /// Unpacks the frames of a text of `length` bytes.
    fn pieces(&mut self, mut rest: &[u8], length: usize) -> Option<Vec<u8>> {
        // A frame takes nine bytes at least, and holds at most a piece.
        if length > (rest.len() / 9 + 1).saturating_mul(PIECE) {
            return None;
        }
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let frame = take_bytes(&mut rest)?;
            self.piece.clear();
            let expected = PIECE.min(length - bytes.len());
            let got = self.decompressor.decompress_to_buffer(frame, &mut self.piece).ok()?;
            bytes.extend_from_slice(Some(&self.piece).filter(|_| got == expected)?);
        }
        rest.is_empty().then_some(bytes)
    }
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        let bits = u64::from(byte & 0x7F);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(files: &[(Vec<u8>, String)]) -> (Vec<u8>, String) {
        let named: Vec<NamedText> = files.iter().map(|(name, text)| NamedText { name, text }).collect();
        let whole = joined(&named);
        (TextPacker::new().expect("memory").pack(&named, &whole).expect("memory"), whole)
    }

    fn files() -> impl Strategy<Value = Vec<(Vec<u8>, String)>> {
        let text = prop_oneof!["\\PC{0,80}", (0usize..40_000).prop_map(|count| "aé\n".repeat(count / 4))];
        prop::collection::vec((prop::collection::vec(any::<u8>(), 0..9), text), 1..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn texts_come_back_as_they_were(files in files()) {
            let (bytes, whole) = packed(&files);
            let found = TextUnpacker::new().expect("memory").unpack(&bytes).expect("whole");
            prop_assert_eq!(&found.joined, &whole);
            for (number, (name, text)) in files.iter().enumerate() {
                prop_assert_eq!((&found.files[number].0, found.file(number)), (name, text.as_str()));
            }
        }

        #[test]
        fn damaged_texts_are_refused_or_read_as_some_text(files in files(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let (mut bytes, _) = packed(&files);
            let place = at.index(bytes.len());
            let cut = bytes[..place].to_vec();
            prop_assert!(TextUnpacker::new().expect("memory").unpack(&cut).is_err(), "cut short");
            bytes[place] ^= 1 << bit;
            // Checksums of pages find such damage; here it must only not end the program.
            let _ = TextUnpacker::new().expect("memory").unpack(&bytes);
        }
    }

    #[test]
    fn no_bytes_are_no_texts() {
        let mut unpacker = TextUnpacker::new().expect("memory");
        assert!(unpacker.unpack(&[]).is_err());
        assert!(unpacker.unpack(&[2, 1, 0, 0]).is_err(), "another version");
        assert!(unpacker.unpack(&[1, 0]).is_err(), "no file");
        assert_eq!(unpacker.unpack(&[1, 1, 0, 0]).expect("an empty text").joined, "");
        assert!(unpacker.unpack(&[1, 1, 0, 0, 7]).is_err(), "more than a text");
    }
}
