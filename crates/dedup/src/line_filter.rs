//! Splits the lines of a file by a mask: kept lines are copied byte for byte, the others are handed over one by one.
//!
//! Cost: one search for line ends and one copy. At most one line that is not kept is held.

use crate::line_cutter::{is_complete, lines, LineCutter};

/// A line that the mask does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedLine {
    /// Its number in the file, from 0.
    pub row: u64,
    /// The number of kept bytes before it.
    pub at: u64,
    /// The line with its line feed, if it has one.
    pub line: Vec<u8>,
}

/// Filters the lines of one file.
#[derive(Debug, Default)]
pub struct LineFilter {
    cutter: LineCutter,
    row: u64,
    at: u64,
    /// The bytes so far of an open line that is not kept.
    held: Vec<u8>,
}

impl LineFilter {
    /// The number of lines that have ended.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// Appends the kept bytes of a chunk to `kept`, and the lines that end in it and are not kept to `removed`. The mask
    /// has a 0 for every line that is not kept; lines beyond its end are kept.
    pub fn push(
        &mut self,
        chunk: &[u8],
        is_last: bool,
        mask: &[u8],
        kept: &mut Vec<u8>,
        removed: &mut Vec<RemovedLine>,
    ) {
        self.filter(chunk, is_last, mask, removed, |bytes| kept.extend_from_slice(bytes));
    }

    /// Appends the lines that end in a chunk and that the mask marks with 0; like [`LineFilter::push`] without the kept
    /// bytes.
    pub fn pick(&mut self, chunk: &[u8], is_last: bool, mask: &[u8], picked: &mut Vec<RemovedLine>) {
        self.filter(chunk, is_last, mask, picked, |_| ());
    }

    fn filter(
        &mut self,
        chunk: &[u8],
        is_last: bool,
        mask: &[u8],
        removed: &mut Vec<RemovedLine>,
        mut keep: impl FnMut(&[u8]),
    ) {
        let cut = self.cutter.split(chunk, is_last);
        // The pieces are adjacent in the chunk, so neighbouring kept pieces are copied at once.
        let (mut copied, mut stop) = (0, 0);
        for piece in lines(cut.head).chain(lines(cut.whole)).chain(lines(cut.tail)) {
            let start = stop;
            stop += piece.len();
            if mask.get(self.row as usize).is_some_and(|keep| *keep == 0) {
                self.at += (start - copied) as u64;
                keep(&chunk[copied..start]);
                self.held.extend_from_slice(piece);
                copied = stop;
            }
            if is_complete(piece) {
                self.end(removed);
            }
        }
        self.at += (chunk.len() - copied) as u64;
        keep(&chunk[copied..]);
        if cut.ends_file_inside {
            self.end(removed);
        }
    }

    fn end(&mut self, removed: &mut Vec<RemovedLine>) {
        if !self.held.is_empty() {
            removed.push(RemovedLine { row: self.row, at: self.at, line: std::mem::take(&mut self.held) });
        }
        self.row += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(fixed(300))]

        #[test]
        fn kept_and_removed_lines_are_all_lines(
            text in "[ab\n]{0,60}", mask in prop::collection::vec(0u8..2, 61), cuts in prop::collection::vec(0usize..60, 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(text.len())).chain([0, text.len()]).collect();
            cuts.sort_unstable();
            let (mut lines, mut kept, mut removed) = (LineFilter::default(), Vec::new(), Vec::new());
            for (i, pair) in cuts.windows(2).enumerate() {
                lines.push(&text.as_bytes()[pair[0]..pair[1]], i + 2 == cuts.len(), &mask, &mut kept, &mut removed);
            }
            let (mut expected_kept, mut expected) = (Vec::new(), Vec::new());
            for (row, line) in text.split_inclusive('\n').enumerate() {
                match mask[row] {
                    0 => expected.push(RemovedLine { row: row as u64, at: expected_kept.len() as u64, line: line.into() }),
                    _ => expected_kept.extend_from_slice(line.as_bytes()),
                }
            }
            prop_assert_eq!(lines.rows(), text.split_inclusive('\n').count() as u64);
            prop_assert_eq!(kept, expected_kept);
            let (mut lines, mut picked) = (LineFilter::default(), Vec::new());
            for (i, pair) in cuts.windows(2).enumerate() {
                lines.pick(&text.as_bytes()[pair[0]..pair[1]], i + 2 == cuts.len(), &mask, &mut picked);
            }
            let rows = |lines: &[RemovedLine]| lines.iter().map(|one| (one.row, one.line.clone())).collect::<Vec<_>>();
            prop_assert_eq!(rows(&picked), rows(&expected));
            prop_assert_eq!(removed, expected);
        }
    }
}
