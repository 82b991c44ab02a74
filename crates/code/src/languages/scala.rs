//! Scala.

use super::{CodeLanguage, Quote, Shape};
use crate::fold::NodeClass;
use crate::lexer::Lexer;

const HOLE: Option<(&str, u8)> = Some(("${", b'}'));
const PREFIXES: &[&str] = &["s", "f", "raw"];
const SIGNS: &[u8] = b"!#%&*+-/:<=>?@\\^|~";

/// Scala.
pub static SCALA: CodeLanguage = CodeLanguage::new(
    "scala",
    &[".scala", ".sc"],
    "scala",
    tree_sitter_scala::LANGUAGE,
    Shape {
        names: "identifier type_identifier capture_variable",
        numbers: "integer_literal floating_point_literal",
        strings: "string interpolated_string_expression character_literal",
        comments: "comment block_comment",
        unread: "unit",
        ignored: ";",
        words: "null _",
        imports: "import package",
        soft: "as cap except only rd uses macro _end_ident",
        comments_nest: true,
        quotes: &[
            Quote { escape: None, needs_prefix: true, prefixes: PREFIXES, hole: HOLE, ..Quote::TRIPLE },
            Quote { escape: None, ..Quote::TRIPLE },
            Quote { needs_prefix: true, prefixes: PREFIXES, hole: HOLE, ..Quote::DOUBLE },
            Quote::DOUBLE,
        ],
        special: Some(special),
        ends_lines: true,
        ..Shape::PLAIN
    },
);

/// Characters, and operators, which are names made of signs.
fn special(lexer: &Lexer<'_>, at: usize) -> Option<(usize, NodeClass)> {
    let rest = lexer.rest(at);
    let bytes = rest.as_bytes();
    if bytes[0] == b'\'' {
        let mut characters = rest[1..].chars();
        let first = characters.next()?;
        if first == '\\' {
            let line = &bytes[..bytes.len().min(16)];
            let close = (3..line.len()).find(|i| line[*i] == b'\'')?;
            return Some((at + close + 1, lexer.string()));
        }
        return (characters.next() == Some('\'')).then(|| (at + 2 + first.len_utf8(), lexer.string()));
    }
    // A comment ends an operator.
    let goes_on = |i: &usize| SIGNS.contains(&bytes[*i]) && !matches!(bytes[*i..], [b'/', b'/' | b'*', ..]);
    let len = (0..bytes.len()).take_while(goes_on).count();
    (len > 0).then(|| (at + len, lexer.literal(&rest[..len])))
}
