//! Turns the leaves of a syntax tree into tokens.
//!
//! Parsing, walking and dropping the tree are loops, so no input nests the call stack. Tree-sitter (Brunsfeld 2018)
//! always returns a tree; text that breaks the grammar is in ERROR nodes. A tree with an error is not used: one missing
//! brace may change the meaning of leaves far away, and the lexer gives nearly the tokens of the sound file. Hostile
//! text can make it slow, so it has a budget: the length of the text, the bytes that its lexer asks for, and the calls
//! of its progress report (one in a hundred steps). All of these are counts, so the same text always gives the same
//! result.

use crate::fold::NodeClass;
use crate::languages::CodeLanguage;
use crate::lexer::{is_blank, Lexer};
use crate::reachable::Outliner;
use crate::sequence::Sequence;
use crate::{CodeOptions, CodeTokens, Degraded, TokenKind};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// The deepest level of a tree that is walked; ordinary programs stay below 100.
pub const MAX_DEPTH: u32 = 1_000;
/// The longest text that is parsed, in bytes. Where every word is an error, recovery costs 30 µs per byte and no
/// counter shows it, so the length is the only bound on time: 8 s for such a text. Ordinary programs are shorter.
pub const MAX_PARSED: usize = 1 << 16;
/// The longest statement that is parsed, in bytes. Ordinary statements have some dozens, tables some thousands.
pub const MAX_STATEMENT: usize = 1_000;
/// Bytes given to the parser at a time. Only whole pieces are counted, so they are small.
pub const PIECE: usize = 256;
/// Bytes the parser may read per byte of the text. None of 2,600 programs needed more than 6.
pub const READS_PER_BYTE: usize = 16;
/// Bytes of text per progress report of the parser. None of 2,600 programs had fewer than 41.
pub const BYTES_PER_REPORT: usize = 20;
/// Bytes added to the length of a text when the budget is computed, so that short texts have one too.
pub const FLOOR: usize = 1 << 12;
thread_local! {
    /// One parser per thread; it keeps its stacks and pools from one file to the next.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// The cost of a parse so far.
#[derive(Default)]
pub struct Cost {
    /// Bytes the parser was given.
    pub reads: Cell<usize>,
    /// Progress reports it made.
    pub reports: Cell<usize>,
}

/// Reads `text` by its grammar. Errors: the reason why that is not possible.
pub fn read(language: &CodeLanguage, text: &str, options: CodeOptions) -> Result<CodeTokens, Degraded> {
    let tree = PARSER.with_borrow_mut(|parser| parse(parser, language, text, &Cost::default()))?;
    Walk::new(language, text, options).run(&tree)
}

/// Parses within the budget.
pub fn parse(parser: &mut Parser, language: &CodeLanguage, text: &str, cost: &Cost) -> Result<Tree, Degraded> {
    let bytes = text.as_bytes();
    if bytes.len() > MAX_PARSED || language.shape.fits.is_some_and(|fits| !fits(text)) {
        return Err(Degraded::Budget);
    }
    let look = Look::at(language, bytes);
    if look.depth > MAX_DEPTH {
        return Err(Degraded::Nesting { depth: MAX_DEPTH });
    }
    if look.statement > MAX_STATEMENT {
        return Err(Degraded::Budget);
    }
    let max_reads = (bytes.len() + FLOOR) * READS_PER_BYTE;
    let max_reports = (bytes.len() + FLOOR) / BYTES_PER_REPORT;
    let is_over = || cost.reads.get() > max_reads || cost.reports.get() > max_reports;
    let mut input = |at: usize, _| {
        // Over the budget the text ends here. This also ends a single token that the parser reads again and again.
        let piece = if is_over() { &[] } else { piece(text, at) };
        cost.reads.set(cost.reads.get() + piece.len());
        piece
    };
    let mut progress = |_: &_| {
        cost.reports.set(cost.reports.get() + 1);
        if is_over() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    // A grammar of an ABI that the runtime does not know is refused here; a test parses with every grammar.
    parser.set_language(language.grammar()).map_err(|_| Degraded::Budget)?;
    let tree = parser.parse_with_options(&mut input, None, Some(ParseOptions::new().progress_callback(&mut progress)));
    // Without this the next call would resume an abandoned parse.
    parser.reset();
    tree.filter(|_| !is_over()).ok_or(Degraded::Budget)
}

/// The bytes given to the parser at `at`: whole characters only. If a piece ended inside a character, the parser would
/// ask for the rest of it, and would read outside the text if the text had ended meanwhile, as it does over the budget.
fn piece(text: &str, at: usize) -> &[u8] {
    let (start, mut end) = (at.min(text.len()), text.len().min(at.saturating_add(PIECE)));
    while end > start && !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[start..end]
}

/// A look at the text before it is parsed. The parser needs memory for each level of nesting, and each step of its
/// error recovery costs as much as the statement is long, which none of its counters shows.
#[derive(Default)]
struct Look {
    /// The deepest nesting of brackets.
    depth: u32,
    /// Bytes of the longest statement, without blanks and comments.
    statement: usize,
}

impl Look {
    /// Looks at the text once. Strings end with their line here; that is accurate enough.
    fn at(language: &CodeLanguage, text: &[u8]) -> Self {
        let (mut look, mut depth, mut since, mut at) = (Self::default(), 0u32, 0, 0);
        let is_line_language = language.shape.ends_lines;
        while let Some(byte) = text.get(at) {
            match byte {
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    look.depth = look.depth.max(depth);
                }
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'/' if text.get(at + 1) == Some(&b'/') => at = line_end(text, at),
                b'#' => at = line_end(text, at),
                b'/' if text.get(at + 1) == Some(&b'*') => at = comment_end(text, at + 2),
                b'"' | b'\'' => at = string_end(text, at),
                _ => {}
            }
            since = match text.get(at) {
                Some(b';' | b'{' | b'}') => 0,
                Some(b'\n') if is_line_language => 0,
                Some(byte) => since + usize::from(!byte.is_ascii_whitespace()),
                None => since,
            };
            look.statement = look.statement.max(since);
            at += 1;
        }
        look
    }
}

fn line_end(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |length| at + length)
}

fn comment_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or(&[]);
    rest.windows(2).position(|pair| pair == b"*/").map_or(text.len(), |length| at + length + 1)
}

/// The closing quote, or the last byte before the end of the line.
fn string_end(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = text.get(end) {
        match byte {
            b'\n' => return end - 1,
            b'\\' => end += 1,
            byte if *byte == text[at] => return end,
            _ => {}
        }
        end += 1;
    }
    end
}

/// A walk over the leaves of one tree.
struct Walk<'a> {
    language: &'a CodeLanguage,
    text: &'a str,
    options: CodeOptions,
    found: Sequence,
    /// End of the text read so far.
    at: usize,
    /// ERROR and MISSING nodes met.
    errors: u32,
    /// Row of the first thing that is missing or belongs to no sound construct.
    first_row: Option<usize>,
    /// Bytes of leaves that belong to no sound construct.
    loose_bytes: usize,
    /// Whether each open node, the root first, is an ERROR.
    open: Vec<bool>,
    /// The outline of the file, if its language is analysed.
    outliner: Option<Outliner<'a>>,
}

impl<'a> Walk<'a> {
    fn new(language: &'a CodeLanguage, text: &'a str, options: CodeOptions) -> Self {
        let found = Sequence { tokens: Vec::with_capacity(text.len() / 3), comments: Vec::new() };
        let (open, outliner) = (Vec::new(), Outliner::new(language, text));
        Self { language, text, options, found, at: 0, errors: 0, first_row: None, loose_bytes: 0, open, outliner }
    }

    /// Visits every node in the order of the text.
    fn run(mut self, tree: &Tree) -> Result<CodeTokens, Degraded> {
        let classes = &self.language.tables().classes;
        let is_sound = !tree.root_node().has_error();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            let class = match classes.get(usize::from(node.kind_id())).copied().unwrap_or(NodeClass::Inner) {
                NodeClass::Remark if self.is_remark(&node) => NodeClass::Comment,
                NodeClass::Remark => NodeClass::Inner,
                class => class,
            };
            if class == NodeClass::Inner && cursor.goto_first_child() {
                self.errors += u32::from(!is_sound && node.is_error());
                self.open.push(!is_sound && node.is_error());
                if let Some(outliner) = &mut self.outliner {
                    outliner.enter(&node);
                }
                if self.open.len() > MAX_DEPTH as usize {
                    return Err(Degraded::Nesting { depth: MAX_DEPTH });
                }
                continue;
            }
            if !is_sound {
                self.note_loose(&node);
            }
            self.leaf(&node, class);
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return self.finish();
                }
                self.open.pop();
                if let Some(outliner) = &mut self.outliner {
                    outliner.leave();
                }
            }
        }
    }

    /// Whether a statement is nothing but a string; some languages write comments that way.
    fn is_remark(&self, node: &Node) -> bool {
        let tables = self.language.tables();
        let class = node.child(0).and_then(|child| tables.classes.get(usize::from(child.kind_id())).copied());
        node.child_count() == 1 && class == Some(tables.string)
    }

    /// Counts a leaf that the parser inserted or could not place.
    fn note_loose(&mut self, node: &Node) {
        let is_loose = self.open.last() == Some(&true) && !node.is_extra();
        if is_loose || node.is_error() {
            self.loose_bytes += node.end_byte() - node.start_byte();
        }
        self.errors += u32::from(node.is_error() || node.is_missing());
        if is_loose || node.is_error() || node.is_missing() {
            self.first_row.get_or_insert(node.start_position().row);
        }
    }

    /// Reads a node without visiting its children.
    fn leaf(&mut self, node: &Node, class: NodeClass) {
        let (start, end) = (node.start_byte(), node.end_byte());
        if start >= end {
            return;
        }
        let text = self.text.get(start..end).unwrap_or("");
        if !text.starts_with(|c: char| c.is_ascii_graphic()) && text.chars().all(is_blank) {
            // Some grammars take blanks of other scripts for words, and the root of a blank text is a leaf.
            return;
        }
        self.gap(start);
        // Only a node that the parser has moved could begin before the last one's end.
        let start = start.max(self.at);
        match class {
            _ if start >= end => {}
            NodeClass::Inner if node.is_error() => {}
            NodeClass::Token(value, kind @ (TokenKind::String | TokenKind::Number)) => {
                self.take(value, start, end, kind)
            }
            NodeClass::Variable => {
                let NodeClass::Token(value, kind) = self.language.tables().name else { return };
                self.take(value, start, end, kind);
            }
            NodeClass::Token(..) | NodeClass::Inner => self.word(start, end, class),
            NodeClass::Comment => {
                Lexer::new(self.language, self.text, self.options).comment(start, end, &mut self.found);
                self.at = end;
            }
            NodeClass::Unread | NodeClass::Remark => self.gap(end),
            NodeClass::Ignored => self.drop(start, end),
        }
    }

    /// Reads a word or sign. The grammar says where it is, its text what it is, as in the lexer: a word that is a
    /// keyword in some places only is the same token in all of them.
    fn word(&mut self, start: usize, end: usize, given: NodeClass) {
        let tables = self.language.tables();
        let text = &self.text[start..end];
        let class = match (tables.exact(text, self.language.shape.case_blind), given) {
            (Some(class), _) => class,
            // `#  include` is written in many ways.
            (None, NodeClass::Token(..)) if text.starts_with('#') => given,
            (None, _) if text.chars().all(|c| c.is_alphanumeric() || c == '_') => tables.name,
            (None, _) => NodeClass::Unread,
        };
        match class {
            NodeClass::Token(value, kind) => self.take(value, start, end, kind),
            NodeClass::Unread => self.gap(end),
            _ => self.drop(start, end),
        }
    }

    fn take(&mut self, value: u64, start: usize, end: usize, kind: TokenKind) {
        self.found.push(value, start, end, kind);
        self.at = end;
    }

    fn drop(&mut self, start: usize, end: usize) {
        self.found.separator(self.text, start, end);
        self.at = end;
    }

    /// Lets the lexer read what the tree left out before `upto`, such as the inside of macros.
    fn gap(&mut self, upto: usize) {
        if self.at < upto {
            let is_blank = self.text.as_bytes()[self.at..upto].iter().all(u8::is_ascii_whitespace);
            if !is_blank {
                Lexer::new(self.language, self.text, self.options).run(self.at, upto, &mut self.found);
            }
            self.at = upto;
        }
    }

    /// Ends the walk and returns the tokens, or the reason why the tree is not trusted.
    fn finish(mut self) -> Result<CodeTokens, Degraded> {
        self.gap(self.text.len());
        let share = self.loose_bytes as u64 * 1_000 / self.text.len().max(1) as u64;
        if self.errors > 0 {
            return Err(Degraded::Syntax {
                errors: self.errors,
                first_line: self.first_row.unwrap_or(0) as u32 + 1,
                share_permille: share as u32,
            });
        }
        if let Some(outliner) = &mut self.outliner {
            outliner.collect(&self.found.tokens);
        }
        let mut code = self.language.tables().rules.fold(self.text, self.found);
        code.outline = self.outliner.map(|outliner| outliner.finish(&code));
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_characters() {
        let text = "aé日𝒳".repeat(PIECE);
        let mut at = 0;
        while at < text.len() {
            let piece = piece(&text, at);
            assert!(!piece.is_empty() && piece.len() <= PIECE && std::str::from_utf8(piece).is_ok(), "at {at}");
            at += piece.len();
        }
        assert!(piece(&text, at).is_empty() && piece(&text, at + 1).is_empty());
    }
}
