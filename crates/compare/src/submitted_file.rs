//! Reads one file as tokens: characters of prose, leaves of code, or the tokens of an external lexer.
//!
//! Cost: one pass of the front end and one of the fingerprinter. The spans of characters are not kept, because they
//! would take twice the memory of everything else; they are computed again when they are shown.

use lookalike_code::reachable::{Everything, Outline};
use lookalike_code::{language, lexed, CodeLanguage, TokenKind};
use lookalike_core::error::Result;
use lookalike_core::fingerprint::{Fingerprinter, Thresholds};
use lookalike_core::frontend::{self, Options, Span, Stream, Unit};
use lookalike_core::hash::identity::token_value;
use lookalike_core::matching::entry::{Literal, Pick};
use lookalike_core::scheme::SchemeKind as Scheme;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// The name of the language of prose.
pub const TEXT: &str = "text";
/// Prose is compared by the characters of its canonical form; look-alike letters count as Latin.
const PROSE: Options = Options { unit: Unit::Character, homoglyphs: true };
/// Least number of words in a string literal that is compared. The name of a header or a key has one.
const LITERAL_WORDS: u32 = 2;
/// Least length of a string literal that is compared, in bytes with its quotes.
const LITERAL_BYTES: usize = 6;

/// A stretch of a text and its language.
pub struct TextStretch<'a> {
    /// [`TEXT`], a language of `lookalike_code`, or the name of an external lexer.
    pub language: &'a str,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// The tokens of an external lexer: start and end in bytes of the text, and a class; see `lookalike_code::lexed`.
    pub lexed: Option<Vec<[u32; 3]>>,
    /// The value of each of these tokens, where the caller made it: then the class is not looked at.
    pub values: Option<Vec<u64>>,
    /// Noise and guarantee threshold.
    pub thresholds: (u32, u32),
}

/// The tokens of a stretch.
#[derive(Debug)]
pub enum Tokens {
    /// Code points.
    Characters(Vec<u32>),
    /// Hashes.
    Hashed(Vec<u64>),
}

impl Default for Tokens {
    fn default() -> Self {
        Self::Hashed(Vec::new())
    }
}

impl Tokens {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        match self {
            Self::Characters(tokens) => tokens.len(),
            Self::Hashed(tokens) => tokens.len(),
        }
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Neighbouring stretches of a file in one language, read as one run of tokens. A passage may continue from one page of
/// a document to the next, past the page mark.
#[derive(Debug, Default)]
pub struct FilePart {
    /// The name of its language.
    pub language: String,
    /// Its tokens.
    pub tokens: Tokens,
    /// Noise and guarantee threshold.
    pub thresholds: (u32, u32),
    /// Selected k-grams, by the position of their first token in the part.
    pub picks: Vec<Pick>,
    /// Number of the exact text of each folded token, 0 for the others; empty for prose.
    pub verbatim: Vec<u32>,
    /// The distinct exact texts of this part; number 1 is the first.
    pub texts: Vec<Box<[u8]>>,
    /// String literals, by the position of their token in the part. Their key is the number of their text.
    pub literals: Vec<Literal>,
    ranges: Vec<Range<usize>>,
    /// The span of each token in the file's text; for prose, computed when first needed.
    spans: OnceLock<Vec<Span>>,
    kinds: Vec<TokenKind>,
    comments: Vec<Span>,
    /// What is known of the definitions in its stretches of code, in order; empty for other text.
    pub outlines: Vec<StretchOutline>,
}

/// What is known of the definitions in a stretch of code.
#[derive(Debug)]
pub struct StretchOutline {
    /// The family of its language.
    pub family: &'static str,
    /// Whether unreachable code is looked for in its language.
    pub is_analysed: bool,
    /// Its first token in the part.
    pub first: u32,
    /// The definitions, if it was parsed and its language is analysed.
    pub outline: Option<Outline>,
}

/// What is known of a stored file's code that cannot run: it was found when the file was stored, with all files of its
/// submission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The reason why all code of the submission counts as reachable, if it was not analysed.
    pub everything: Option<Everything>,
    /// For each part, the stretches of tokens that cannot run, ascending.
    pub unreachable: Vec<Vec<Range<u32>>>,
}

/// A file that has been read.
#[derive(Debug)]
pub struct SubmittedFile {
    /// The text that a person reads.
    pub text: String,
    /// Its parts, in order.
    pub parts: Vec<FilePart>,
    /// Reasons why some of it was not read as its language.
    pub degraded: Vec<String>,
    /// What is known of its code, if it comes from an archive.
    pub settled: Option<Settled>,
}

impl SubmittedFile {
    /// Reads `text`, stretch by stretch.
    ///
    /// Errors: a text of 4 GiB or more, or thresholds out of range.
    pub fn read(text: String, stretches: &[TextStretch], comments: bool) -> Result<Self> {
        frontend::check_length(text.len())?;
        let mut file = Self { text, parts: Vec::new(), degraded: Vec::new(), settled: None };
        let goes_on =
            |one: &TextStretch, next: &TextStretch| one.language == next.language && one.range.end <= next.range.start;
        for run in stretches.chunk_by(goes_on) {
            let part = file.part(run, comments)?;
            file.parts.push(part);
        }
        Ok(file)
    }

    /// Reads prose to align it with another text: no k-grams are selected, and the spans are made in the same pass.
    ///
    /// Errors: a text of 4 GiB or more.
    pub fn unselected(text: String, thresholds: (u32, u32)) -> Result<Self> {
        let Stream { tokens, spans, .. } = frontend::stream(&text, PROSE)?;
        let tokens = Tokens::Characters(tokens.iter().map(|token| *token as u32).collect());
        let (whole, spans) = (0..text.len(), OnceLock::from(spans));
        let ranges = vec![whole];
        let part = FilePart { language: TEXT.to_string(), tokens, thresholds, ranges, spans, ..FilePart::default() };
        Ok(Self { text, parts: vec![part], degraded: Vec::new(), settled: None })
    }

    /// Number of tokens in all parts.
    pub fn tokens(&self) -> usize {
        self.parts.iter().map(|part| part.tokens.len()).sum()
    }

    fn part(&mut self, run: &[TextStretch], comments: bool) -> Result<FilePart> {
        let Some(first) = run.first() else { return CodePieces::default().part(TEXT, (1, 1), Vec::new()) };
        let ranges: Vec<Range<usize>> = run.iter().map(|stretch| stretch.range.clone()).collect();
        if first.lexed.is_none() && language(first.language).is_none() {
            return prose(&self.text, ranges, first.thresholds);
        }
        let mut pieces = CodePieces::default();
        for stretch in run {
            if let (Some(rows), Some(values)) = (&stretch.lexed, &stretch.values) {
                pieces.add_valued(&self.text, stretch.language, rows, values);
                continue;
            }
            match (&stretch.lexed, language(stretch.language)) {
                (Some(rows), _) => pieces.add_lexed(&self.text, stretch.language, rows),
                (None, Some(language)) => {
                    let degraded = pieces.add_code(&self.text, stretch.range.clone(), language, comments)?;
                    self.degraded.extend(degraded);
                }
                (None, None) => {}
            }
        }
        pieces.part(first.language, first.thresholds, ranges)
    }
}

impl FilePart {
    /// The span of each token in the file's text.
    pub fn spans(&self, text: &str) -> &[Span] {
        self.spans.get_or_init(|| {
            let mut spans = Vec::new();
            for range in &self.ranges {
                let base = range.start as u32;
                let stream = frontend::stream(text.get(range.clone()).unwrap_or(""), PROSE);
                let shift = |span: &Span| Span { start: span.start + base, end: span.end + base };
                spans.extend(stream.iter().flat_map(|stream| stream.spans.iter().map(shift)));
            }
            spans
        })
    }

    /// The exact text with a number; empty for 0.
    pub fn exact_text(&self, number: u32) -> &[u8] {
        number.checked_sub(1).and_then(|at| self.texts.get(at as usize)).map_or(&[], |text| text)
    }

    /// The kind of each token; empty for prose.
    pub fn kinds(&self) -> &[TokenKind] {
        &self.kinds
    }

    /// Tokens that are no evidence even if two submissions share them: import, include, package and using lines.
    pub fn trivial(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.kinds).filter(|(_, kind)| **kind == TokenKind::Import).map(|(at, _)| at)
    }

    /// The spans of the comments in the file's text.
    pub fn comments(&self) -> &[Span] {
        &self.comments
    }

    /// The stretches of the text that it was read from.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }
}

/// The tokens of code as a front end made them.
pub(crate) struct CodeTokens {
    pub tokens: Vec<u64>,
    pub spans: Vec<Span>,
    pub kinds: Vec<TokenKind>,
    pub comments: Vec<Span>,
}

/// The part of a text with these tokens: what [`SubmittedFile::read`] makes of the same tokens, outlines apart.
pub(crate) fn code(
    text: &str,
    language: &str,
    thresholds: (u32, u32),
    ranges: Vec<Range<usize>>,
    code: CodeTokens,
) -> Result<FilePart> {
    let CodeTokens { tokens, spans, kinds, comments } = code;
    let mut pieces = CodePieces { tokens, comments, ..CodePieces::default() };
    spans.into_iter().zip(kinds).for_each(|(span, kind)| pieces.push(text, span, kind));
    pieces.part(language, thresholds, ranges)
}

/// The part of prose in these stretches of a text.
pub(crate) fn prose(text: &str, ranges: Vec<Range<usize>>, thresholds: (u32, u32)) -> Result<FilePart> {
    let mut tokens = Vec::new();
    for range in &ranges {
        tokens.extend(frontend::numbers(text.get(range.clone()).unwrap_or(""), PROSE)?);
    }
    let stream = Stream { tokens, spans: Vec::new(), unit: Unit::Character };
    let picks = select(&stream, thresholds)?;
    let tokens = Tokens::Characters(stream.tokens.iter().map(|token| *token as u32).collect());
    Ok(FilePart { language: TEXT.to_string(), tokens, thresholds, picks, ranges, ..FilePart::default() })
}

/// Collects the tokens of code.
#[derive(Default)]
struct CodePieces {
    tokens: Vec<u64>,
    spans: Vec<Span>,
    kinds: Vec<TokenKind>,
    comments: Vec<Span>,
    verbatim: Vec<u32>,
    numbers: HashMap<Box<[u8]>, u32>,
    literals: Vec<Literal>,
    outlines: Vec<StretchOutline>,
}

impl CodePieces {
    /// The number of an exact text, from 1.
    fn number(&mut self, text: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let next = self.numbers.len() as u32 + 1;
        self.numbers.insert(text.into(), next);
        next
    }

    /// Adds a stretch of code. Returns the reason if it was not read by its grammar.
    fn add_code(
        &mut self,
        text: &str,
        range: Range<usize>,
        language: &CodeLanguage,
        comments: bool,
    ) -> Result<Option<String>> {
        let code =
            language.tokenize(text.get(range.clone()).unwrap_or(""), lookalike_code::CodeOptions { comments })?;
        let base = range.start as u32;
        let shift = |span: &Span| Span { start: span.start + base, end: span.end + base };
        let first = self.tokens.len() as u32;
        let (family, is_analysed) = (language.family, language.is_analysed());
        self.outlines.push(StretchOutline { family, is_analysed, first, outline: code.outline });
        self.tokens.extend(code.tokens);
        self.comments.extend(code.comments.iter().map(shift));
        for (span, kind) in code.spans.iter().map(shift).zip(code.kinds) {
            self.push(text, span, kind);
        }
        Ok(code.degraded.map(|degraded| degraded.to_string()))
    }

    /// Adds the tokens of an external lexer; `lookalike_code::lexed` says what their classes mean.
    fn add_lexed(&mut self, text: &str, name: &str, rows: &[[u32; 3]]) {
        let row = |row: &[u32; 3]| {
            let span = span_of(text, row);
            (span.start as usize, span.end as usize, row[2])
        };
        let code = lexed::fold(text, name, rows.iter().map(row));
        self.tokens.extend(code.tokens);
        for (span, kind) in code.spans.into_iter().zip(code.kinds) {
            self.push(text, span, kind);
        }
    }

    /// Adds tokens whose values the caller made. Values of different languages never meet.
    fn add_valued(&mut self, text: &str, name: &str, rows: &[[u32; 3]], values: &[u64]) {
        for (row, value) in rows.iter().zip(values) {
            let span = span_of(text, row);
            self.tokens.push(token_value(&[name.as_bytes(), b"\0\x02", &value.to_le_bytes()[..]].concat()));
            // A name: equal values may be written differently, and then a passage is not exact.
            self.push(text, span, TokenKind::Name);
        }
    }

    /// Records the span of a token, and the text that folding removes.
    fn push(&mut self, text: &str, span: Span, kind: TokenKind) {
        let is_folded = matches!(
            kind,
            TokenKind::Name | TokenKind::Type | TokenKind::Number | TokenKind::String | TokenKind::Import
        );
        let word = bytes_of(text, span);
        let exact: Cow<[u8]> = match kind {
            // The names that the writer chose are not part of the token; layout is not part of the text.
            TokenKind::Import => word.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect(),
            TokenKind::String => with_one_quote(word),
            _ => word.into(),
        };
        let number = if is_folded { self.number(&exact) } else { 0 };
        if kind == TokenKind::String && word.len() >= LITERAL_BYTES {
            let (at, words) = (self.spans.len() as u32, count_words(word));
            let key = u64::from(number);
            self.literals.extend((words >= LITERAL_WORDS).then_some(Literal { key, at, words }));
        }
        self.verbatim.push(number);
        self.spans.push(span);
        self.kinds.push(kind);
    }

    fn part(self, language: &str, thresholds: (u32, u32), ranges: Vec<Range<usize>>) -> Result<FilePart> {
        let Self { tokens, spans, kinds, comments, verbatim, numbers, literals, outlines } = self;
        let mut texts = vec![Box::default(); numbers.len()];
        numbers.into_iter().for_each(|(text, number)| texts[number as usize - 1] = text);
        let stream = Stream { tokens, spans: Vec::new(), unit: Unit::Word };
        let picks = select(&stream, thresholds)?;
        let (tokens, spans) = (Tokens::Hashed(stream.tokens), OnceLock::from(spans));
        let language = language.to_string();
        Ok(FilePart {
            language,
            tokens,
            thresholds,
            picks,
            verbatim,
            texts,
            literals,
            ranges,
            spans,
            kinds,
            comments,
            outlines,
        })
    }
}

/// Where a token stands. The lexer is not ours: wherever it points, the span lies inside the text and does not end before it starts.
fn span_of(text: &str, row: &[u32; 3]) -> Span {
    let inside = |at: u32| at.min(text.len() as u32);
    Span { start: inside(row[0]), end: inside(row[1]).max(inside(row[0])) }
}

fn bytes_of(text: &str, span: Span) -> &[u8] {
    text.as_bytes().get(span.start as usize..span.end as usize).unwrap_or(&[])
}

fn select(stream: &Stream, thresholds: (u32, u32)) -> Result<Vec<Pick>> {
    let thresholds = Thresholds::new(thresholds.0.into(), thresholds.1.into())?;
    let maker = Fingerprinter::new(thresholds, Scheme::Robust, PROSE);
    let picks = maker.stream(stream);
    Ok(picks.hashes.into_iter().zip(picks.positions).map(|(key, at)| Pick { key, at }).collect())
}

/// A string literal whose quotes, single, double or back quotes, one or three, are written as one double quote each:
/// formatting programs change them. A prefix, such as Python's `b`, stays.
pub(crate) fn with_one_quote(literal: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = literal.iter().position(|byte| b"'\"`".contains(byte)) else { return literal.into() };
    let (prefix, quoted) = literal.split_at(first);
    let quote = quoted[0];
    let is_inside = |size: usize| {
        let (open, close) = (quoted.get(..size)?, quoted.len().checked_sub(size).filter(|end| *end >= size)?);
        let are_quotes = open.iter().chain(&quoted[close..]).all(|byte| *byte == quote);
        are_quotes.then(|| &quoted[size..close])
    };
    is_inside(3)
        .or_else(|| is_inside(1))
        .map_or(literal.into(), |inside| [prefix, b"\"", inside, b"\""].concat().into())
}

/// Counts runs of letters, digits and non-ASCII bytes.
fn count_words(text: &[u8]) -> u32 {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    text.split(|byte| !is_word(byte)).filter(|word| !word.is_empty()).count() as u32
}
