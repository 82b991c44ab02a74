//! Swift.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

const HOLE: Option<(&str, u8)> = Some(("\\(", b')'));

/// Swift.
pub static SWIFT: CodeLanguage = CodeLanguage::new(
    "swift",
    &[".swift"],
    "swift",
    tree_sitter_swift::LANGUAGE,
    Shape {
        names: "simple_identifier type_identifier",
        numbers: "integer_literal hex_literal oct_literal bin_literal real_literal",
        strings: "line_string_literal multi_line_string_literal raw_string_literal regex_literal",
        comments: "comment multiline_comment shebang_line",
        ignored: ";",
        words: "nil true false self super throws rethrows else default catch throw where mutating weak lazy try as \
            is",
        imports: "import",
        soft: "Protocol Type any arch available canImport column colorLiteral compiler copy discard each file \
            fileID function imageLiteral keyPath line macro of optional os package selector sending some swift u \
            unavailable unsafe consume actor prefix postfix infix",
        comments_nest: true,
        quotes: &[
            Quote { hole: HOLE, ..Quote::TRIPLE },
            Quote { open: "#\"", close: "\"#", escape: None, ..Quote::DOUBLE },
            Quote { hole: HOLE, ..Quote::DOUBLE },
        ],
        generics: true,
        special: Some(special),
        ends_lines: true,
        ..Shape::PLAIN
    },
);

/// The parameters of closures.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let digits = lexer.rest(at).strip_prefix('$')?.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| (at + 1 + digits, lexer.name()))
}
