//! Writes the files of a submission as bytes for an archive, texts apart, and makes the files again from both.
//!
//! What a grammar or a lexer found is kept: the value, place and kind of each token, comments, and the code that cannot
//! run. Everything else follows from the text: exact names and string literals from the places of their tokens, letters
//! of prose from their stretches, selected k-grams from the tokens. So a stored file equals the file that was read, and
//! no hash stands for a text.
//!
//! ```text
//! byte      version 1
//! number    length of the plain bytes, then frames until they are complete: number length, zstd frame of 64 KiB or less
//! plain     facts of the caller; byte, 0 for analysed or 1 + the reason why everything is reachable; number of files
//! file      number of parts; for each part: language, k, t, stretches, byte: 0 prose, 1 code
//! code      number of different tokens, each 8 bytes of value and a byte of kind; then columns of all tokens: its number,
//!           bytes since the last one's end, its length; stretches: comments in bytes, what cannot run in tokens
//! ```
//!
//! A number is LEB128, 7 bits per byte, the lowest first. Bytes and strings begin with their length. Stretches are their
//! number, then for each the distance from the end before and the length. Distances that can be negative are
//! zigzag-coded. Cost: linear; about 1.5 bytes for each token of code.

use crate::reachability::{find, placed_parts};
use crate::submitted_file::{code, prose, CodeTokens, FilePart, Settled, SubmittedFile, Tokens};
use lookalike_code::reachable::Everything;
use lookalike_code::TokenKind;
use lookalike_core::frontend::{check_length, Span};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// The version of the layout.
const VERSION: u8 = 1;
/// Most plain bytes of a frame.
const PIECE: usize = 64 << 10;
/// Fewest bytes of a frame with its length.
const LEAST_FRAME: usize = 9;
/// Compression level.
const LEVEL: i32 = 1;
/// Reasons by their number in the layout.
const REASONS: [Everything; 6] = [
    Everything::Language,
    Everything::Unparsed,
    Everything::Mixed,
    Everything::NoEntry,
    Everything::Computed,
    Everything::TooLittle,
];
/// All kinds of tokens. They are stored by their own numbers.
const KINDS: [TokenKind; 9] = [
    TokenKind::Plain,
    TokenKind::Keyword,
    TokenKind::Name,
    TokenKind::Number,
    TokenKind::String,
    TokenKind::Comment,
    TokenKind::Operator,
    TokenKind::Type,
    TokenKind::Import,
];

/// Files that were restored, and what the caller stored with them.
#[derive(Debug)]
pub struct Restored {
    /// The files, in their order.
    pub files: Vec<SubmittedFile>,
    /// The facts of the caller.
    pub facts: Vec<u8>,
}

/// The files of a submission as bytes. Errors: memory that the compressor cannot have.
pub fn store(files: &[Arc<SubmittedFile>], facts: &[u8]) -> io::Result<Vec<u8>> {
    let (parts, tokens) = placed_parts(files);
    let (result, marks) = find(files, &parts, tokens);
    let mut plain = Vec::new();
    put_bytes(facts, &mut plain);
    let code = result.err().and_then(|reason| REASONS.iter().position(|one| *one == reason));
    plain.push(code.map_or(0, |at| at as u8 + 1));
    put(files.len() as u64, &mut plain);
    let mut first = parts.iter();
    for file in files {
        put(file.parts.len() as u64, &mut plain);
        for part in &file.parts {
            let dead = if part.tokens.is_empty() { None } else { first.next() }
                .and_then(|(_, _, start)| marks.get(*start as usize..*start as usize + part.tokens.len()));
            put_part(part, &file.text, dead.unwrap_or(&[]), &mut plain);
        }
    }
    packed(&plain)
}

/// Makes the files again from their bytes and texts. None if the bytes are not those of such texts.
pub fn restore(bytes: &[u8], texts: Vec<String>) -> Option<Restored> {
    let plain = unpacked(bytes)?;
    let mut rest = &plain[..];
    let facts = take_bytes(&mut rest)?.to_vec();
    let everything = match take_byte(&mut rest)? {
        0 => None,
        code => Some(*REASONS.get(usize::from(code) - 1)?),
    };
    if take(&mut rest)? != texts.len() as u64 {
        return None;
    }
    let mut files = Vec::with_capacity(texts.len());
    for text in texts {
        check_length(text.len()).ok()?;
        let (mut parts, mut unreachable) = (Vec::new(), Vec::new());
        for _ in 0..take(&mut rest)? {
            let (part, dead) = take_part(&mut rest, &text)?;
            parts.push(part);
            unreachable.push(dead);
        }
        files.push(SubmittedFile {
            text,
            parts,
            degraded: Vec::new(),
            settled: Some(Settled { everything, unreachable }),
        });
    }
    rest.is_empty().then_some(Restored { files, facts })
}

/// The key of a submission of which no part has a selected k-gram: equal for the same content. Such submissions share no
/// k-gram, and are found only if they are the same. None for others, and for those without tokens.
pub fn short_key(files: &[Arc<SubmittedFile>]) -> Option<u64> {
    let parts = || files.iter().flat_map(|file| &file.parts).filter(|part| !part.tokens.is_empty());
    if parts().next().is_none() || parts().any(|part| !part.picks.is_empty()) {
        return None;
    }
    let mut hash = Xxh3::new();
    hash.update(b"short\0");
    for part in parts() {
        hash.update(&(part.language.len() as u64).to_le_bytes());
        hash.update(part.language.as_bytes());
        hash.update(&(part.tokens.len() as u64).to_le_bytes());
        match &part.tokens {
            Tokens::Characters(codes) => codes.iter().for_each(|code| hash.update(&code.to_le_bytes())),
            Tokens::Hashed(hashes) => hashes.iter().for_each(|value| hash.update(&value.to_le_bytes())),
        }
    }
    Some(hash.digest())
}

fn put_part(part: &FilePart, text: &str, dead: &[bool], out: &mut Vec<u8>) {
    put_bytes(part.language.as_bytes(), out);
    put(part.thresholds.0.into(), out);
    put(part.thresholds.1.into(), out);
    put_stretches(part.ranges().iter().map(|range| [range.start as u64, range.end as u64]), out);
    match &part.tokens {
        Tokens::Characters(_) => out.push(0),
        Tokens::Hashed(values) => {
            out.push(1);
            put_code(part, text, values, out);
            put_stretches(flagged(dead).map(|range| [range.start.into(), range.end.into()]), out);
        }
    }
}

fn put_code(part: &FilePart, text: &str, values: &[u64], out: &mut Vec<u8>) {
    let mut numbers: HashMap<(u64, u8), u64> = HashMap::new();
    let (mut different, mut column) = (Vec::new(), Vec::new());
    for (value, kind) in values.iter().zip(part.kinds()) {
        let (next, key) = (numbers.len() as u64, (*value, *kind as u8));
        let number = *numbers.entry(key).or_insert(next);
        if number == next {
            different.extend_from_slice(&value.to_le_bytes());
            different.push(key.1);
        }
        put(number, &mut column);
    }
    put(numbers.len() as u64, out);
    out.extend(different);
    put(values.len() as u64, out);
    out.extend(column);
    let spans = part.spans(text);
    let ends = std::iter::once(0).chain(spans.iter().map(|span| span.end));
    spans.iter().zip(ends).for_each(|(span, end)| put(zigzag(i64::from(span.start) - i64::from(end)), out));
    spans.iter().for_each(|span| put(span.end.saturating_sub(span.start).into(), out));
    put_stretches(part.comments().iter().map(|span| [span.start.into(), span.end.into()]), out);
}

fn take_part(rest: &mut &[u8], text: &str) -> Option<(FilePart, Vec<Range<u32>>)> {
    let language = std::str::from_utf8(take_bytes(rest)?).ok()?;
    let thresholds = (take_small(rest)?, take_small(rest)?);
    let ranges: Vec<Range<usize>> =
        take_stretches(rest, text.len() as u64)?.into_iter().map(|[start, end]| start as usize..end as usize).collect();
    match take_byte(rest)? {
        0 => Some((prose(text, ranges, thresholds).ok()?, Vec::new())),
        1 => {
            let tokens = take_code(rest, text)?;
            let length = tokens.tokens.len() as u64;
            let dead = take_stretches(rest, length)?.into_iter().map(|[start, end]| start as u32..end as u32);
            let dead = dead.collect();
            Some((code(text, language, thresholds, ranges, tokens).ok()?, dead))
        }
        _ => None,
    }
}

fn take_code(rest: &mut &[u8], text: &str) -> Option<CodeTokens> {
    let mut different = Vec::new();
    for _ in 0..take(rest)? {
        let (value, after) = rest.split_first_chunk::<8>()?;
        *rest = after;
        let kind = take_byte(rest)?;
        different.push((u64::from_le_bytes(*value), *KINDS.iter().find(|one| **one as u8 == kind)?));
    }
    // Each token takes three bytes at least, so a false count cannot claim memory.
    let count = usize::try_from(take(rest)?).ok().filter(|count| *count <= rest.len() / 3)?;
    let (mut tokens, mut kinds) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let (value, kind) = *different.get(usize::try_from(take(rest)?).ok()?)?;
        tokens.push(value);
        kinds.push(kind);
    }
    let mut distances = Vec::with_capacity(count);
    for _ in 0..count {
        distances.push(unzigzag(take(rest)?));
    }
    let (mut spans, mut end) = (Vec::with_capacity(count), 0i64);
    for distance in distances {
        let start = end.checked_add(distance)?;
        end = start.checked_add(i64::from(take_small(rest)?))?;
        let is_inside = start >= 0 && end <= text.len() as i64;
        spans.push(is_inside.then_some(Span { start: start as u32, end: end as u32 })?);
    }
    let comments = take_stretches(rest, text.len() as u64)?;
    let comments = comments.into_iter().map(|[start, end]| Span { start: start as u32, end: end as u32 }).collect();
    Some(CodeTokens { tokens, spans, kinds, comments })
}

/// The stretches of flags that are set.
fn flagged(flags: &[bool]) -> impl Iterator<Item = Range<u32>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + flags.get(at..)?.iter().position(|flag| *flag)?;
        at = start + flags[start..].iter().take_while(|flag| **flag).count();
        Some(start as u32..at as u32)
    })
}

fn put_stretches(stretches: impl Iterator<Item = [u64; 2]>, out: &mut Vec<u8>) {
    let all: Vec<[u64; 2]> = stretches.collect();
    put(all.len() as u64, out);
    let mut last = 0;
    for [start, end] in all {
        put(zigzag(start as i64 - last as i64), out);
        put(end.saturating_sub(start), out);
        last = end;
    }
}

/// Stretches of something of this length.
fn take_stretches(rest: &mut &[u8], length: u64) -> Option<Vec<[u64; 2]>> {
    let count = usize::try_from(take(rest)?).ok().filter(|count| *count <= rest.len() / 2)?;
    let (mut found, mut last) = (Vec::with_capacity(count), 0i64);
    for _ in 0..count {
        let start = last.checked_add(unzigzag(take(rest)?))?;
        last = start.checked_add(i64::try_from(take(rest)?).ok()?)?;
        let is_inside = start >= 0 && last as u64 <= length;
        found.push(is_inside.then_some([start as u64, last as u64])?);
    }
    Some(found)
}

/// Plain bytes as they are stored: compressed, in frames. Errors: memory that the compressor cannot have.
pub fn packed(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = vec![VERSION];
    put(plain.len() as u64, &mut out);
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    for piece in plain.chunks(PIECE) {
        put_bytes(&compressor.compress(piece)?, &mut out);
    }
    Ok(out)
}

pub(crate) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes;
    let length = Some(take_byte(&mut rest)?).filter(|version| *version == VERSION).and_then(|_| take(&mut rest))?;
    let length = usize::try_from(length).ok()?;
    if length > (rest.len() / LEAST_FRAME + 1).saturating_mul(PIECE) {
        return None;
    }
    let mut decompressor = zstd::bulk::Decompressor::new().ok()?;
    let (mut plain, mut piece) = (Vec::new(), Vec::with_capacity(PIECE));
    while plain.len() < length {
        piece.clear();
        decompressor.decompress_to_buffer(take_bytes(&mut rest)?, &mut piece).ok()?;
        let is_whole = piece.len() == PIECE.min(length - plain.len());
        plain.extend_from_slice(is_whole.then_some(&piece)?);
    }
    rest.is_empty().then_some(plain)
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(rest)?;
        let bits = u64::from(byte & 0x7F);
        number |= (bits << shift >> shift == bits).then_some(bits << shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_small(rest: &mut &[u8]) -> Option<u32> {
    take(rest)?.try_into().ok()
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}
