//! Cuts the first record from bytes of CSV (RFC 4180); the bytes may end anywhere.
//!
//! Cost: one pass over the record; fields without quotes are borrowed.

use std::borrow::Cow;

/// Delimiters of CSV.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// Text of bytes; what is no UTF-8 is written as `\xNN`.
pub(crate) fn readable(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    Cow::Owned(text)
}

/// The most frequent delimiter of a header; the usual one if none is more frequent.
pub(crate) fn delimiter(header: &[u8], usual: u8) -> u8 {
    let count = |delimiter: u8| header.iter().filter(|byte| **byte == delimiter).count();
    DELIMITERS.into_iter().fold(usual, |best, other| if count(other) > count(best) { other } else { best })
}

/// The fields of the first record, and its length with the line end; none if it is not complete. A quote opens a field
/// only at its start (RFC 4180).
pub(crate) fn fields(data: &[u8], delimiter: u8, last: bool) -> Option<(Vec<Cow<'_, [u8]>>, usize)> {
    let (mut fields, mut at) = (Vec::new(), 0);
    loop {
        let (field, end) = match data.get(at) {
            Some(b'"') => quoted(data, at, delimiter, last)?,
            _ => {
                let end = at + bare(&data[at..], delimiter);
                (Cow::Borrowed(&data[at..end]), end)
            }
        };
        fields.push(field);
        match data.get(end) {
            Some(byte) if *byte == delimiter => at = end + 1,
            Some(b'\r') if data.get(end + 1) == Some(&b'\n') => return Some((fields, end + 2)),
            Some(b'\r') if end + 1 == data.len() && !last => return None,
            Some(_) => return Some((fields, end + 1)),
            None => return last.then_some((fields, end)),
        }
    }
}

/// Bytes up to the end of a field without quotes.
fn bare(data: &[u8], delimiter: u8) -> usize {
    data.iter().position(|byte| *byte == delimiter || *byte == b'\n' || *byte == b'\r').unwrap_or(data.len())
}

/// A field that begins with a quote, and its end; none if it is not complete.
fn quoted(data: &[u8], start: usize, delimiter: u8, last: bool) -> Option<(Cow<'_, [u8]>, usize)> {
    let (mut text, mut at) = (Vec::new(), start + 1);
    loop {
        let Some(length) = data[at..].iter().position(|byte| *byte == b'"') else {
            // A quote that is never closed takes the rest.
            text.extend_from_slice(&data[at..]);
            return last.then_some((Cow::Owned(text), data.len()));
        };
        text.extend_from_slice(&data[at..at + length]);
        at += length + 1;
        match data.get(at) {
            Some(b'"') => {
                text.push(b'"');
                at += 1;
            }
            None if !last => return None,
            _ => break,
        }
    }
    let rest = bare(&data[at..], delimiter);
    text.extend_from_slice(&data[at..at + rest]);
    Some((Cow::Owned(text), at + rest))
}
