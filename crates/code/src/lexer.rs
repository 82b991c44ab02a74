//! Reads code without a grammar: words, numbers, strings, comments and operators, by the table of a language.
//!
//! The lexer reads what the tree does not: broken, very deep and hostile files, and the inside of macros. Its keywords
//! and operators are those of the grammar, and the tree takes a word for what the lexer takes it for. On sound code
//! their tokens differ by less than one in two hundred (`examples/agreement.rs` shows where): `>>` after a type, a
//! regular expression read as a division. An
//! unclosed string or comment does not hide the rest of the file; it ends with its line or after its opening sign.
//!
//! Cost: one pass.

use crate::fold::{literal, FoldTables, NodeClass};
use crate::languages::CodeLanguage;
use crate::sequence::Sequence;
use crate::{CodeOptions, TokenKind};
use lookalike_core::frontend::Span;
use std::cell::Cell;

mod strings;

/// The lexer and its place in a text.
pub struct Lexer<'a> {
    language: &'a CodeLanguage,
    tables: &'a FoldTables,
    /// The text.
    pub text: &'a str,
    /// End of the part being read; the lexer looks at nothing beyond it.
    pub to: usize,
    /// Kind and end of the last token read.
    pub last: Option<(TokenKind, usize)>,
    /// State for the special reader of a language; 0 at first.
    pub state: Cell<u32>,
    /// The end mark of a heredoc whose body begins on the next line, and whether it may be indented.
    pub heredoc: Cell<Option<(&'a str, bool)>>,
    options: CodeOptions,
    /// Whether every string may hold line ends, and whether one was not closed then.
    spans: bool,
    unclosed: Cell<bool>,
    /// Bytes that failed searches for an end may still pass over: a multiple of the length, so that total time is
    /// linear.
    patience: Cell<usize>,
}

/// Limit of [`Lexer::patience`], in lengths of the text.
const PATIENCE: usize = 8;

impl<'a> Lexer<'a> {
    /// Makes a lexer for any part of `text`.
    pub fn new(language: &'a CodeLanguage, text: &'a str, options: CodeOptions) -> Self {
        Self {
            language,
            tables: language.tables(),
            text,
            to: text.len(),
            last: None,
            state: Cell::new(0),
            heredoc: Cell::new(None),
            options,
            spans: false,
            unclosed: Cell::new(false),
            patience: Cell::new(0),
        }
    }

    /// Reads the whole text.
    pub fn all(&mut self) -> Sequence {
        let mut found = Sequence::default();
        self.spans = self.language.shape.spanning;
        self.run(0, self.text.len(), &mut found);
        if !self.unclosed.get() {
            return found;
        }
        let mut found = Sequence::default();
        *self = Self::new(self.language, self.text, self.options);
        self.run(0, self.text.len(), &mut found);
        found
    }

    /// Appends the tokens of `text[from..to]`. REQUIRES: both lie between characters.
    pub fn run(&mut self, from: usize, to: usize, found: &mut Sequence) {
        self.to = to;
        self.patience.set((to - from) * PATIENCE);
        let mut at = from;
        while let Some(first) = self.rest(at).chars().next() {
            if first == '\n' && self.heredoc.get().is_some() {
                at = self.heredoc_body(at, found);
                continue;
            }
            if is_blank(first) {
                at += first.len_utf8();
                continue;
            }
            let (end, class) = self.piece(at, first);
            match class {
                NodeClass::Token(value, kind) => {
                    found.push(value, at, end, kind);
                    self.last = Some((kind, end));
                }
                NodeClass::Comment => self.comment(at, end, found),
                // A closing bracket ends an operand, although it is not a token.
                NodeClass::Ignored => {
                    found.separator(self.text, at, end);
                    self.last = Some((TokenKind::Operator, end));
                }
                NodeClass::Inner | NodeClass::Variable | NodeClass::Unread | NodeClass::Remark => {}
            }
            // A reader of a language that takes nothing must not stop the lexer here for ever.
            at = end.max(at + first.len_utf8());
        }
    }

    /// Reads the body of the announced heredoc, which begins after the line end at `at`. Returns where to go on. The
    /// body is cut as the grammar cuts it: some count the line end and the mark.
    fn heredoc_body(&mut self, at: usize, found: &mut Sequence) -> usize {
        let Some((mark, may_indent)) = self.heredoc.take() else { return at + 1 };
        let Some((mark_at, end)) = self.line_of(at + 1, mark, may_indent) else { return at + 1 };
        let is_bare = self.language.shape.ignored.contains("heredoc_end");
        let (from, upto) = if is_bare { (at + 1, mark_at) } else { (at, end) };
        if let (NodeClass::Token(value, kind), true) = (self.tables.string, from < upto) {
            found.push(value, from, upto, kind);
        }
        end
    }

    /// Finds the first line from `at` on that consists of `mark` alone. Returns start and end of the mark.
    pub fn line_of(&self, at: usize, mark: &str, may_indent: bool) -> Option<(usize, usize)> {
        let end = self.patiently(at, || {
            let mut start = at;
            for line in self.rest(at).split_inclusive('\n') {
                let bare = line.trim_end().trim_end_matches([';', ',', ')']);
                if bare
                    .strip_suffix(mark)
                    .is_some_and(|before| before.is_empty() || may_indent && before.trim().is_empty())
                {
                    return Ok(start + bare.len());
                }
                start += line.len();
            }
            Err(self.to)
        })?;
        Some((end - mark.len(), end))
    }

    /// Records a comment, and its words if they are wanted.
    pub fn comment(&self, start: usize, end: usize, found: &mut Sequence) {
        found.comments.push(Span { start: start as u32, end: end as u32 });
        if !self.options.comments {
            return;
        }
        let mut rest = start;
        for word in self.text[start..end].split(|c: char| !c.is_alphanumeric()) {
            // The separator before this word was passed with the word before.
            if !word.is_empty() {
                let value = self.language.value(&format!("\u{1}comment:{}", word.to_lowercase()));
                found.push(value, rest, rest + word.len(), TokenKind::Comment);
            }
            rest += word.len();
            rest += self.text[rest..end].chars().next().map_or(0, char::len_utf8);
        }
    }

    /// The text from `at` to the end.
    pub fn rest(&self, at: usize) -> &'a str {
        &self.text[at..self.to]
    }

    /// The class of a string.
    pub fn string(&self) -> NodeClass {
        self.tables.string
    }

    /// The class of an identifier.
    pub fn name(&self) -> NodeClass {
        self.tables.name
    }

    /// The class of a number.
    pub fn number(&self) -> NodeClass {
        self.tables.number
    }

    /// The class of a token whose class is its own text.
    pub fn literal(&self, text: &str) -> NodeClass {
        literal(self.language, text)
    }

    /// End and class of the token or comment at `at`, which begins with the character `first`.
    fn piece(&self, at: usize, first: char) -> (usize, NodeClass) {
        let shape = &self.language.shape;
        if let Some(found) = shape.special.and_then(|special| special(self, at)) {
            return found;
        }
        if let Some(end) = self.comment_end(at) {
            return (end, NodeClass::Comment);
        }
        if let Some(end) = shape.quotes.iter().find_map(|quote| self.quote_end(quote, at, at)) {
            return (end, self.tables.string);
        }
        if self.is_number(at) {
            return (self.number_end(at), self.tables.number);
        }
        if is_name_start(first) || shape.name_start.contains(first) {
            return self.word(at);
        }
        self.operator(at, first)
    }

    /// End of the comment at `at`, if there is one.
    fn comment_end(&self, at: usize) -> Option<usize> {
        let shape = &self.language.shape;
        let rest = self.rest(at);
        if let Some((open, close)) = shape.block_comments.iter().find(|(open, _)| rest.starts_with(open)) {
            let inside = at + open.len();
            return Some(self.patiently(inside, || self.block_end(inside, open, close)).unwrap_or(inside));
        }
        let is_line = shape.line_comments.iter().any(|open| rest.starts_with(open));
        is_line.then(|| self.line_end(at))
    }

    /// Runs a search for an end from `at` on. A failed search returns `None` and uses up patience; once that is used
    /// up, no search is made.
    fn patiently(&self, at: usize, search: impl FnOnce() -> Result<usize, usize>) -> Option<usize> {
        if self.patience.get() == 0 {
            return None;
        }
        let found = search();
        if let Err(stop) = found {
            self.patience.set(self.patience.get().saturating_sub(stop - at));
        }
        found.ok()
    }

    /// End of the next `close` from `at` on.
    pub fn find_end(&self, at: usize, close: &str) -> Option<usize> {
        self.patiently(at, || self.rest(at).find(close).map(|len| at + len + close.len()).ok_or(self.to))
    }

    /// End of the next byte `close` from `at` on, if it is on the same line.
    pub fn find_on_line(&self, at: usize, close: u8) -> Option<usize> {
        self.patiently(at, || match self.rest(at).bytes().position(|byte| byte == close || is_line_end(byte)) {
            Some(len) if !is_line_end(self.text.as_bytes()[at + len]) => Ok(at + len + 1),
            other => Err(at + other.unwrap_or(self.to - at)),
        })
    }

    /// End of the block comment whose inside begins at `at`.
    fn block_end(&self, at: usize, open: &str, close: &str) -> Result<usize, usize> {
        let mut at = at;
        let mut depth = 1;
        while depth > 0 {
            let close_at = at + self.rest(at).find(close).ok_or(self.to)?;
            if self.language.shape.comments_nest {
                depth += self.text[at..close_at].matches(open).count();
            }
            depth -= 1;
            at = close_at + close.len();
        }
        Ok(at)
    }

    /// End of the line that `at` is on.
    pub fn line_end(&self, at: usize) -> usize {
        self.rest(at).bytes().position(is_line_end).map_or(self.to, |len| at + len)
    }

    /// End and class of the directive, `#word`, that begins at `at`.
    pub fn directive(&self, at: usize) -> Option<(usize, NodeClass)> {
        let rest = self.rest(at);
        let word = rest.strip_prefix('#')?.trim_start_matches([' ', '\t']);
        let len = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
        (len > 0).then(|| (at + rest.len() - word.len() + len, self.literal(&format!("#{}", &word[..len]))))
    }

    /// Whether a number begins at `at`.
    fn is_number(&self, at: usize) -> bool {
        let digit_at = |i: usize| self.rest(at).as_bytes().get(i).is_some_and(u8::is_ascii_digit);
        match self.rest(at).as_bytes().first() {
            Some(b'0'..=b'9') => true,
            Some(b'.') => digit_at(1) && !self.text[..at].ends_with('.'),
            // The grammars of C count the sign as part of the number where no operator can stand.
            Some(b'-' | b'+') if self.language.shape.signed_numbers => {
                digit_at(1) && !self.text[..at].ends_with(['-', '+']) && !self.follows_operand()
            }
            _ => false,
        }
    }

    /// Whether a binary operator may stand here: the last token ends an operand.
    pub fn follows_operand(&self) -> bool {
        match self.last {
            Some((TokenKind::Name | TokenKind::Number | TokenKind::String, _)) => true,
            Some((TokenKind::Operator, end)) => self.text[..end].ends_with([')', ']', '}']),
            _ => false,
        }
    }

    /// End of the number at `at`: digits, letters, signs of exponents, and points and separators between digits.
    fn number_end(&self, at: usize) -> usize {
        let bytes = self.rest(at).as_bytes();
        let next = |i: usize| bytes.get(i + 1).copied().unwrap_or(b' ');
        let is_hex = bytes.len() > 1 && bytes[0] == b'0' && matches!(bytes[1], b'x' | b'X');
        let mut i = usize::from(matches!(bytes[0], b'-' | b'+'));
        while let Some(byte) = bytes.get(i) {
            let goes_on = match byte {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => true,
                b'.' => next(i) != b'.' && !(next(i).is_ascii_alphabetic() || next(i) == b'_') && i + 1 < bytes.len(),
                b'\'' => next(i).is_ascii_alphanumeric(),
                b'-' | b'+' => {
                    let exponent = if is_hex { b"pP" } else { b"eE" };
                    i > 0 && exponent.contains(&bytes[i - 1]) && next(i).is_ascii_digit()
                }
                _ => false,
            };
            if !goes_on {
                break;
            }
            i += 1;
        }
        at + i
    }

    /// The word at `at`: a keyword, a name, or the prefix of a string.
    fn word(&self, at: usize) -> (usize, NodeClass) {
        let shape = &self.language.shape;
        let rest = self.rest(at);
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || is_mark(c) || shape.name_part.contains(c);
        let mut len = rest[first..].find(|c| !is_part(c)).map_or(rest.len(), |len| first + len);
        let more = rest[len..].chars().next().filter(|c| shape.name_end.contains(*c));
        if more.is_some() && !rest[len + 1..].starts_with('=') {
            len += 1;
        }
        let end = at + len;
        if let Some(end) = shape.quotes.iter().find_map(|quote| self.quote_end(quote, at, end)) {
            return (end, self.tables.string);
        }
        (end, self.keyword(&rest[..len]).unwrap_or(self.tables.name))
    }

    /// The class of a word if it is a keyword.
    pub fn keyword(&self, word: &str) -> Option<NodeClass> {
        self.tables.exact(word, self.language.shape.case_blind)
    }

    /// Whether the sign at `at` closes one list of type arguments of several. `>>` after a blank or before an operand is
    /// a shift, `>=` before a list or an object no comparison.
    fn closes_types(&self, at: usize) -> bool {
        let (rest, before) = (self.rest(at), &self.text[..at]);
        if !rest.starts_with(">>") {
            let assigns = [">=[", ">={", ">=new "].iter().any(|start| rest.starts_with(start));
            return assigns || rest.starts_with(">=") && before.ends_with('>');
        }
        let next = rest.bytes().take(4).find(|byte| *byte != b'>');
        !before.ends_with(' ') && !next.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    }

    /// The longest operator at `at`, or the character itself.
    fn operator(&self, at: usize, first: char) -> (usize, NodeClass) {
        let rest = self.rest(at);
        if first == '\\' && rest[1..].starts_with(['\n', '\r']) {
            return (at + 1, NodeClass::Ignored);
        }
        let known = self.tables.operators.get(first as usize).map_or(&[][..], Vec::as_slice);
        let closes = self.language.shape.generics && self.closes_types(at);
        let fits = |text: &&(&str, NodeClass)| rest.starts_with(text.0) && !(closes && text.0.len() > 1);
        if let Some((text, class)) = known.iter().find(fits) {
            return (at + text.len(), *class);
        }
        let end = at + first.len_utf8();
        (end, NodeClass::Token(self.language.value(&self.text[at..end]), TokenKind::Plain))
    }
}

/// Whether a line ends here.
fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Whether `c` is white space, a control character or a byte order mark.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{FEFF}'
}

/// Whether an identifier may begin with `c`, in nearly every language.
fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether `c` is a combining mark of the common blocks, which identifiers may contain.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{200C}' | '\u{200D}')
}
