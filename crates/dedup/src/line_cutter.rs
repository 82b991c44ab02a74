//! Cuts the chunks of a file into lines; a chunk may end anywhere, also inside a line.
//!
//! [`LineCutter`] finds the line ends. [`LineJoiner`] builds on it and puts a line together that lies in several chunks;
//! `line_filter.rs` builds on it and copies lines without holding them.
//!
//! Cost: a search for the first and last line feed of a chunk. The joiner also copies lines that lie in several chunks.

/// Splits chunks at the line that is open between them.
#[derive(Debug, Default)]
pub struct LineCutter {
    /// Whether the last chunk ended inside a line.
    is_open: bool,
}

/// A chunk, split where lines begin and end. The three slices follow each other and are the whole chunk.
#[derive(Debug, PartialEq, Eq)]
pub struct CutChunk<'a> {
    /// More of the line that an earlier chunk began, with its line feed if it ends here; empty if no line was open.
    pub head: &'a [u8],
    /// Complete lines, each with its line feed.
    pub whole: &'a [u8],
    /// The beginning of a line that does not end in this chunk.
    pub tail: &'a [u8],
    /// Whether the file ends inside a line: its last line has no line feed.
    pub ends_file_inside: bool,
}

impl LineCutter {
    /// Splits the next chunk; `is_last` says that the file ends with it. The next call then begins another file.
    pub fn split<'a>(&mut self, chunk: &'a [u8], is_last: bool) -> CutChunk<'a> {
        let head_end = match (self.is_open, memchr::memchr(b'\n', chunk)) {
            (false, _) => 0,
            (true, Some(at)) => at + 1,
            (true, None) => chunk.len(),
        };
        let (head, rest) = chunk.split_at(head_end);
        let whole_end = memchr::memrchr(b'\n', rest).map_or(0, |at| at + 1);
        let (whole, tail) = rest.split_at(whole_end);
        let is_open = !tail.is_empty() || self.is_open && !is_complete(head);
        self.is_open = is_open && !is_last;
        CutChunk { head, whole, tail, ends_file_inside: is_open && is_last }
    }
}

/// Whether a piece of a line has the line's end.
pub fn is_complete(piece: &[u8]) -> bool {
    piece.ends_with(b"\n")
}

/// The lines of a block, each with its line feed; the last may have none.
pub fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', block).map(|at| at + 1).chain([block.len()]).filter_map(move |end| {
        let line = &block[start..end];
        start = end;
        (!line.is_empty()).then_some(line)
    })
}

/// Puts together the lines that lie in several chunks. A line of more than `most` bytes is never held: the rest of it is
/// passed over, and it is reported as too long.
#[derive(Debug)]
pub struct LineJoiner {
    cutter: LineCutter,
    /// The beginning of the open line.
    held: Vec<u8>,
    /// Whether the open line is too long, so that the rest of it is dropped.
    is_skipping: bool,
    most: usize,
}

/// The lines that end in a chunk.
#[derive(Debug, PartialEq, Eq)]
pub struct EndedLines<'a> {
    /// The line that an earlier chunk began, if it ends in this one.
    pub first: Option<JoinedLine>,
    /// Lines that lie within the chunk, each with its line feed.
    pub rest: &'a [u8],
    /// The last line of the file, if it has no line feed.
    pub last: Option<JoinedLine>,
}

/// A line from several chunks.
#[derive(Debug, PartialEq, Eq)]
pub enum JoinedLine {
    /// Its bytes, without the line feed; at least one.
    Bytes(Vec<u8>),
    /// It is longer than the limit.
    TooLong,
}

impl LineJoiner {
    /// Joins lines of up to `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { cutter: LineCutter::default(), held: Vec::new(), is_skipping: false, most }
    }

    /// Takes the next chunk; `is_last` says that the file ends with it.
    pub fn push<'a>(&mut self, chunk: &'a [u8], is_last: bool) -> EndedLines<'a> {
        let cut = self.cutter.split(chunk, is_last);
        self.hold(cut.head.strip_suffix(b"\n").unwrap_or(cut.head));
        let first = is_complete(cut.head).then(|| self.take());
        self.hold(cut.tail);
        let last = cut.ends_file_inside.then(|| self.take());
        EndedLines { first, rest: cut.whole, last }
    }

    fn hold(&mut self, piece: &[u8]) {
        if self.is_skipping || self.held.len() + piece.len() > self.most {
            self.is_skipping = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(piece);
        }
    }

    fn take(&mut self) -> JoinedLine {
        if std::mem::take(&mut self.is_skipping) {
            JoinedLine::TooLong
        } else {
            JoinedLine::Bytes(std::mem::take(&mut self.held))
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
        let mut joiner = LineJoiner::new(most);
        let mut found = Vec::new();
        let shown = |line: JoinedLine| match line {
            JoinedLine::Bytes(bytes) => String::from_utf8(bytes).expect("ASCII"),
            JoinedLine::TooLong => "…".to_owned(),
        };
        for (i, chunk) in chunks.iter().enumerate() {
            let whole = joiner.push(chunk, i + 1 == chunks.len());
            found.extend(whole.first.map(shown));
            let text =
                |line: &[u8]| String::from_utf8(line.strip_suffix(b"\n").unwrap_or(line).to_vec()).expect("ASCII");
            found.extend(super::lines(whole.rest).map(text));
            found.extend(whole.last.map(shown));
        }
        found
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
