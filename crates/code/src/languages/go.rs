//! Go.

use super::{CodeLanguage, Quote, Shape};

/// Go.
pub static GO: CodeLanguage = CodeLanguage::new(
    "go",
    &[".go"],
    "go",
    tree_sitter_go::LANGUAGE,
    Shape {
        names: "identifier field_identifier package_identifier type_identifier label_name blank_identifier",
        numbers: "int_literal float_literal imaginary_literal",
        strings: "interpreted_string_literal raw_string_literal rune_literal",
        ignored: "; \0",
        words: "true false nil iota",
        imports: "import package",
        quotes: &[
            Quote::DOUBLE,
            Quote::SINGLE,
            Quote { open: "`", close: "`", escape: None, lines: true, ..Quote::DOUBLE },
        ],
        ends_lines: true,
        ..Shape::PLAIN
    },
);
