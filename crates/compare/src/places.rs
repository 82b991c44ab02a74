//! Turns tokens into places that a person can read (file, characters, lines), and into marks that colour a file.

use crate::submissions::Submission;
use crate::submitted_file::SubmittedFile;
use lookalike_code::TokenKind;
use lookalike_core::frontend::Span;

/// Classes of marks in addition to [`TokenKind`]: template, material that too many share, and code that cannot run.
/// Built-in types, which are [`TokenKind::Type`], have the mark of keywords, so 9 is free.
const TEMPLATE: u32 = 7;
const COMMON: u32 = 8;
const UNREACHABLE: u32 = 9;

/// A range of one file, in characters and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Index of the file.
    pub file: u32,
    /// First character.
    pub start: u32,
    /// Character after the last.
    pub end: u32,
    /// Line of the first character, from 1.
    pub start_line: u32,
    /// Line of the last character.
    pub end_line: u32,
}

/// Translates offsets in bytes to characters and lines.
pub struct Ruler<'a> {
    text: &'a str,
    is_ascii: bool,
    /// Start of each line in bytes.
    lines: Vec<u32>,
    /// Number of characters before every [`STEP`] bytes.
    characters: Vec<u32>,
}

const STEP: usize = 256;

impl<'a> Ruler<'a> {
    /// Reads the text once.
    pub fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        let is_ascii = text.is_ascii();
        let mut characters = Vec::new();
        if !is_ascii {
            let mut count = 0;
            for step in text.as_bytes().chunks(STEP) {
                characters.push(count);
                count += step.iter().filter(|byte| is_first(**byte)).count() as u32;
            }
        }
        Self { text, is_ascii, lines, characters }
    }

    /// Number of characters before a byte offset; beyond the end, all of them.
    pub fn character(&self, at: u32) -> u32 {
        if self.is_ascii {
            return at.min(self.text.len() as u32);
        }
        let step = (at as usize / STEP).min(self.characters.len().saturating_sub(1));
        let rest = &self.text.as_bytes()[step * STEP..(at as usize).min(self.text.len())];
        self.characters.get(step).copied().unwrap_or(0) + rest.iter().filter(|byte| is_first(**byte)).count() as u32
    }

    /// Line of a byte offset, from 1.
    pub fn line(&self, at: u32) -> u32 {
        self.lines.partition_point(|start| *start <= at) as u32
    }

    fn region(&self, file: u32, start: u32, end: u32) -> Region {
        let (start_line, end_line) = (self.line(start), self.line(end.saturating_sub(1).max(start)));
        Region { file, start: self.character(start), end: self.character(end), start_line, end_line }
    }
}

fn is_first(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

impl Submission {
    /// Makes the rulers of its files.
    pub fn rulers(&self) -> Vec<Ruler<'_>> {
        self.files.iter().map(|file| Ruler::new(&file.text)).collect()
    }

    /// The region of the tokens from `start` to `end`. REQUIRES: they lie in one part.
    pub fn region(&self, rulers: &[Ruler], start: u32, end: u32) -> Region {
        let (file, part, first) = self.part_of(start);
        let file_read = &self.files[file as usize];
        let spans = file_read.parts[part as usize].spans(&file_read.text);
        let from = spans.get((start - first) as usize).map_or(0, |span| span.start);
        let to = spans.get((end.max(start + 1) - 1 - first) as usize).map_or(from, |span| span.end);
        rulers[file as usize].region(file, from, to)
    }

    fn part_of(&self, token: u32) -> (u32, u32, u32) {
        let after = self.parts.partition_point(|(_, _, first)| *first <= token);
        self.parts[after.saturating_sub(1)]
    }

    /// The marks of a file: start, end and class in characters, ascending by start. Classes are those of [`TokenKind`],
    /// 7 for template, 8 for material that too many share and 9 for code that cannot run. `unreachable` may be empty.
    pub fn marks(&self, file: u32, template: &[bool], common: &[bool], unreachable: &[bool]) -> Vec<[u32; 3]> {
        let read = &self.files[file as usize];
        let mut marks = Vec::new();
        for (_, part, first) in self.parts.iter().filter(|part| part.0 == file) {
            let part = &read.parts[*part as usize];
            marks.extend(part.comments().iter().map(|span| [span.start, span.end, TokenKind::Comment as u32]));
            let coloured = part.spans(&read.text).iter().zip(part.kinds());
            marks.extend(coloured.filter_map(|(span, kind)| Some([span.start, span.end, colour(*kind)?])));
            let range = *first as usize..*first as usize + part.tokens.len();
            for (flags, class) in [(template, TEMPLATE), (common, COMMON), (unreachable, UNREACHABLE)] {
                let own = flags.get(range.clone()).unwrap_or(&[]);
                stretches(own, part.spans(&read.text), class, &mut marks);
            }
        }
        marks.sort_unstable();
        in_characters(read, marks)
    }
}

/// The class of a token's mark, if it has one.
fn colour(kind: TokenKind) -> Option<u32> {
    match kind {
        TokenKind::Keyword | TokenKind::Type | TokenKind::Import => Some(TokenKind::Keyword as u32),
        TokenKind::Number | TokenKind::String => Some(kind as u32),
        _ => None,
    }
}

/// Appends a mark for each run of flagged tokens.
fn stretches(flags: &[bool], spans: &[Span], class: u32, marks: &mut Vec<[u32; 3]>) {
    let mut open: Option<[u32; 3]> = None;
    for (is_flagged, span) in flags.iter().zip(spans) {
        match (&mut open, is_flagged) {
            (Some(mark), true) => mark[1] = mark[1].max(span.end),
            (None, true) => open = Some([span.start, span.end, class]),
            (_, false) => marks.extend(open.take()),
        }
    }
    marks.extend(open);
}

fn in_characters(file: &SubmittedFile, mut marks: Vec<[u32; 3]>) -> Vec<[u32; 3]> {
    if !file.text.is_ascii() {
        let ruler = Ruler::new(&file.text);
        for mark in &mut marks {
            (mark[0], mark[1]) = (ruler.character(mark[0]), ruler.character(mark[1]));
        }
    }
    marks
}
