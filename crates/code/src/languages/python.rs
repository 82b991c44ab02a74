//! Python.

use super::{CodeLanguage, Quote, Shape, SCANNER_BYTES};

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
        ends_lines: true,
        ..Shape::PLAIN
    },
);

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
