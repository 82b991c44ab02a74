//! Chunks of a file, cut anywhere, as whole lines: a line that begins in one chunk and ends in another is put together.
//!
//! A line of more than `most` bytes is never held: it is counted, reported as too long, and the next one is found.
//!
//! Cost: a search for the first and last line feed of a chunk, and a copy of what lies across two chunks.

/// Cuts chunks.
#[derive(Debug)]
pub struct Cutter {
    /// The beginning of a line whose end has not come.
    held: Vec<u8>,
    /// Whether the line at hand is too long, so that what comes of it is dropped.
    is_skipping: bool,
    most: usize,
}

/// What a chunk completes.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole<'a> {
    /// The line that began before the chunk, without its end; None if none did or it has not ended.
    pub first: Option<Line>,
    /// Lines that lie within the chunk, each with its line feed.
    pub rest: &'a [u8],
    /// A line that the file ends with, without a line feed.
    pub last: Option<Line>,
}

/// A line across chunks.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without the line feed.
    Held(Vec<u8>),
    /// It was longer than is allowed.
    TooLong,
}

impl Cutter {
    /// Lines of up to `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { held: Vec::new(), is_skipping: false, most }
    }

    /// Takes a chunk; `is_last` says that the file ends with it.
    pub fn push<'a>(&mut self, chunk: &'a [u8], is_last: bool) -> Whole<'a> {
        let (mut first, mut rest) = (None, chunk);
        if self.is_inside() {
            match memchr::memchr(b'\n', chunk) {
                Some(end) => {
                    self.hold(&chunk[..end]);
                    first = Some(self.take());
                    rest = &chunk[end + 1..];
                }
                None => {
                    self.hold(chunk);
                    rest = &[];
                }
            }
        }
        let end = memchr::memrchr(b'\n', rest).map_or(0, |end| end + 1);
        let (whole, tail) = rest.split_at(end);
        if !tail.is_empty() {
            self.hold(tail);
        }
        let last = (is_last && self.is_inside()).then(|| self.take());
        Whole { first, rest: whole, last }
    }

    fn is_inside(&self) -> bool {
        self.is_skipping || !self.held.is_empty()
    }

    fn hold(&mut self, part: &[u8]) {
        if self.is_skipping || self.held.len() + part.len() > self.most {
            self.is_skipping = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(part);
        }
    }

    fn take(&mut self) -> Line {
        if std::mem::take(&mut self.is_skipping) {
            Line::TooLong
        } else {
            Line::Held(std::mem::take(&mut self.held))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// Every line as text, `…` for those that are too long.
    fn cut(chunks: &[&[u8]], most: usize) -> Vec<String> {
        let mut cutter = Cutter::new(most);
        let mut lines = Vec::new();
        let shown = |line: Line| match line {
            Line::Held(bytes) => String::from_utf8(bytes).expect("ASCII"),
            Line::TooLong => "…".to_owned(),
        };
        for (i, chunk) in chunks.iter().enumerate() {
            let whole = cutter.push(chunk, i + 1 == chunks.len());
            lines.extend(whole.first.map(shown));
            lines.extend(
                whole
                    .rest
                    .split_inclusive(|byte| *byte == b'\n')
                    .map(|line| String::from_utf8(line.strip_suffix(b"\n").unwrap_or(line).to_vec()).expect("ASCII")),
            );
            lines.extend(whole.last.map(shown));
        }
        lines
    }

    proptest! {
        #![proptest_config(fixed(300))]

        #[test]
        fn lines_do_not_depend_on_the_chunks(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            let whole: Vec<String> = text.split_inclusive('\n').map(|line| line.trim_end_matches('\n').to_owned()).collect();
            prop_assert_eq!(cut(&chunks, 1000), whole);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_is_found() {
        assert_eq!(cut(&[b"ab\ncd", b"efgh", b"ij\nk\n", b"l"], 5), ["ab", "…", "k", "l"]);
        assert_eq!(cut(&[b"abcd", b"ef"], 5), ["…"]);
        assert_eq!(cut(&[b"abcd", b"e"], 5), ["abcde"]);
    }
}
