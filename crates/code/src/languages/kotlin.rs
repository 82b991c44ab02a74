//! Kotlin.

use super::{CodeLanguage, Quote, Shape};

const HOLE: Option<(&str, u8)> = Some(("${", b'}'));

/// Kotlin.
pub static KOTLIN: CodeLanguage = CodeLanguage::new(
    "kotlin",
    &[".kt", ".kts"],
    "kotlin",
    tree_sitter_kotlin_ng::LANGUAGE,
    Shape {
        names: "identifier",
        numbers: "number_literal float_literal",
        strings: "string_literal multiline_string_literal character_literal",
        comments: "line_comment block_comment shebang",
        ignored: ";",
        words: "true false null reified",
        imports: "import package",
        soft: "actual annotation delegate dynamic expect external field file get param property receiver set setparam \
            value as? continue@ break@ return@ this@ super@",
        comments_nest: true,
        quotes: &[
            Quote { hole: HOLE, escape: None, ..Quote::TRIPLE },
            Quote { hole: HOLE, ..Quote::DOUBLE },
            Quote::SINGLE,
        ],
        generics: true,
        ends_lines: true,
        ..Shape::PLAIN
    },
);
