//! Python.

use super::{CodeLanguage, Quote, Shape, SCANNER_BYTES};
use crate::fold::NodeClass;
use crate::lexer::Lexer;
use crate::reachable;

const PREFIXES: &[&str] = &[
    "r", "R", "b", "B", "f", "F", "u", "U", "t", "T", "rb", "rB", "Rb", "RB", "br", "bR", "Br", "BR", "fr", "fR", "Fr",
    "FR", "rf", "rF", "Rf", "RF",
];

/// Python.
pub static PYTHON: CodeLanguage = CodeLanguage::new(
    "python",
    &[".py", ".pyw", ".pyi"],
    "python",
    tree_sitter_python::LANGUAGE,
    Shape {
        numbers: "integer float",
        remarks: "expression_statement",
        strings: "string",
        ignored: "; line_continuation",
        words: "True False None",
        imports: "import from",
        soft: "print exec match case type _",
        line_comments: &["#"],
        block_comments: &[],
        quotes: &[
            Quote { prefixes: PREFIXES, ..Quote::TRIPLE },
            Quote { prefixes: PREFIXES, open: "'''", close: "'''", ..Quote::TRIPLE },
            Quote { prefixes: PREFIXES, ..Quote::DOUBLE },
            Quote { prefixes: PREFIXES, ..Quote::SINGLE },
        ],
        fits: Some(fits),
        special: Some(special),
        ends_lines: true,
        plan: Some(&reachable::PYTHON),
        ..Shape::PLAIN
    },
);

/// Words that begin a line outside brackets only.
const STATEMENTS: &[&str] = &["def ", "class ", "return", "import ", "while ", "try:", "with ", "@"];

/// Statements that are nothing but a string, which are comments. `state` counts the open brackets.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let (rest, before) = (lexer.rest(at), &lexer.text[..at]);
    let starts_line =
        before.trim_end_matches([' ', '\t']).ends_with('\n') || before.trim_start_matches('\u{FEFF}').is_empty();
    if starts_line && STATEMENTS.iter().any(|word| rest.starts_with(word)) {
        lexer.state.set(0);
    }
    match rest.as_bytes()[0] {
        b'(' | b'[' | b'{' => lexer.state.set(lexer.state.get() + 1),
        b')' | b']' | b'}' => lexer.state.set(lexer.state.get().saturating_sub(1)),
        _ if starts_line && lexer.state.get() == 0 => {
            let end = lexer.string_end(at)?;
            let after = lexer.rest(end).trim_start_matches([' ', '\t']);
            return (after.is_empty() || after.starts_with(['\n', '\r', '#', ';']))
                .then_some((end, NodeClass::Comment));
        }
        _ => {}
    }
    None
}

/// Whether the scanner has room for the open indents: two bytes each, and one for each of at most 255 strings.
fn fits(text: &str) -> bool {
    const MAX_COLUMN: usize = (SCANNER_BYTES - 258) / 2 - 1;
    // Each open indent has a column of its own; a continued line goes on counting columns.
    let (mut column, mut is_continued) = (Some(0), false);
    for byte in text.bytes() {
        column = match (byte, column) {
            (b'\n', Some(column)) if is_continued => Some(column),
            (b'\n', _) => Some(0),
            (b' ', Some(column)) => Some(column + 1),
            (b'\t', Some(column)) => Some(column + 8),
            (b'\\' | b'\r' | b'\x0C', column) => column,
            _ => None,
        };
        is_continued = byte == b'\\' || is_continued && byte == b'\r';
        if column > Some(MAX_COLUMN) {
            return false;
        }
    }
    true
}
