//! Lines out of a stream: what a mask keeps goes on byte for byte, what it does not is handed over line by line.
//!
//! Cost: one search for line ends and one copy; no more than one line that is taken out is held.

/// A line that is taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its number in the file.
    pub row: u64,
    /// Bytes of the output that come before it.
    pub at: u64,
    /// The line with its end.
    pub line: Vec<u8>,
}

/// Takes lines out of one file.
#[derive(Debug, Default)]
pub struct Lines {
    row: u64,
    at: u64,
    held: Vec<u8>,
    is_inside: bool,
}

impl Lines {
    /// The number of lines that have ended.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// Appends what is kept of a chunk to `kept`, and the lines that end in it and are not kept to `removed`. Lines that the mask does not
    /// reach are kept.
    pub fn push(&mut self, chunk: &[u8], is_last: bool, mask: &[u8], kept: &mut Vec<u8>, removed: &mut Vec<Removed>) {
        let mut start = 0;
        // Lines that are kept one after the other are copied at once.
        let mut copied = 0;
        while start < chunk.len() {
            let end = memchr::memchr(b'\n', &chunk[start..]).map(|step| start + step + 1);
            let stop = end.unwrap_or(chunk.len());
            self.is_inside = true;
            if mask.get(self.row as usize).is_some_and(|keep| *keep == 0) {
                self.copy(&chunk[copied..start], kept);
                self.held.extend_from_slice(&chunk[start..stop]);
                copied = stop;
            }
            start = stop;
            if end.is_some() {
                self.end(removed);
            }
        }
        self.copy(&chunk[copied..], kept);
        if is_last && self.is_inside {
            self.end(removed);
        }
    }

    /// Appends the lines that end in a chunk and that the mask marks with 0, and nothing else: [`Lines::push`] without what is kept.
    pub fn pick(&mut self, chunk: &[u8], is_last: bool, mask: &[u8], picked: &mut Vec<Removed>) {
        let mut start = 0;
        while start < chunk.len() {
            let end = memchr::memchr(b'\n', &chunk[start..]).map(|step| start + step + 1);
            let stop = end.unwrap_or(chunk.len());
            self.is_inside = true;
            if mask.get(self.row as usize).is_some_and(|keep| *keep == 0) {
                self.held.extend_from_slice(&chunk[start..stop]);
            }
            start = stop;
            if end.is_some() {
                self.end(picked);
            }
        }
        if is_last && self.is_inside {
            self.end(picked);
        }
    }

    fn copy(&mut self, bytes: &[u8], kept: &mut Vec<u8>) {
        kept.extend_from_slice(bytes);
        self.at += bytes.len() as u64;
    }

    fn end(&mut self, removed: &mut Vec<Removed>) {
        if !self.held.is_empty() {
            removed.push(Removed { row: self.row, at: self.at, line: std::mem::take(&mut self.held) });
        }
        self.row += 1;
        self.is_inside = false;
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
            let (mut lines, mut kept, mut removed) = (Lines::default(), Vec::new(), Vec::new());
            for (i, pair) in cuts.windows(2).enumerate() {
                lines.push(&text.as_bytes()[pair[0]..pair[1]], i + 2 == cuts.len(), &mask, &mut kept, &mut removed);
            }
            let (mut expected_kept, mut expected) = (Vec::new(), Vec::new());
            for (row, line) in text.split_inclusive('\n').enumerate() {
                match mask[row] {
                    0 => expected.push(Removed { row: row as u64, at: expected_kept.len() as u64, line: line.into() }),
                    _ => expected_kept.extend_from_slice(line.as_bytes()),
                }
            }
            prop_assert_eq!(lines.rows(), text.split_inclusive('\n').count() as u64);
            prop_assert_eq!(kept, expected_kept);
            let (mut lines, mut picked) = (Lines::default(), Vec::new());
            for (i, pair) in cuts.windows(2).enumerate() {
                lines.pick(&text.as_bytes()[pair[0]..pair[1]], i + 2 == cuts.len(), &mask, &mut picked);
            }
            let rows = |lines: &[Removed]| lines.iter().map(|one| (one.row, one.line.clone())).collect::<Vec<_>>();
            prop_assert_eq!(rows(&picked), rows(&expected));
            prop_assert_eq!(removed, expected);
        }
    }
}
