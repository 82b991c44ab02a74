//! Java.

use super::{CodeLanguage, Quote, Shape};
use crate::reachable;

/// Java.
pub static JAVA: CodeLanguage = CodeLanguage::new(
    "java",
    &[".java"],
    "java",
    tree_sitter_java::LANGUAGE,
    Shape {
        names: "identifier type_identifier",
        numbers: "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal \
            decimal_floating_point_literal hex_floating_point_literal",
        strings: "string_literal character_literal",
        comments: "line_comment block_comment",
        words: "boolean void this super true false null",
        imports: "import package",
        soft: "module open opens to with uses when provides requires exports transitive",
        quotes: &[Quote::TRIPLE, Quote::DOUBLE, Quote::SINGLE],
        name_start: "$",
        name_part: "$",
        generics: true,
        plan: Some(&reachable::JAVA),
        ..Shape::PLAIN
    },
);
