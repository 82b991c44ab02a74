//! The languages, one file each: a grammar, what its nodes mean, and how the lexer reads its text.

mod bash;
mod c;
mod csharp;
mod ecmascript;
mod go;
mod java;
mod kotlin;
mod lua;
mod php;
mod python;
mod r;
mod ruby;
mod rust;
mod scala;
mod sql;
mod swift;

use crate::fold::{FoldTables, NodeClass};
use crate::lexer::Lexer;
use std::sync::OnceLock;
use tree_sitter_language::LanguageFn;

/// All languages, in the order of their names.
pub static LANGUAGES: &[&CodeLanguage] = &[
    &bash::BASH,
    &c::C,
    &c::CPP,
    &csharp::CSHARP,
    &go::GO,
    &java::JAVA,
    &ecmascript::JAVASCRIPT,
    &kotlin::KOTLIN,
    &lua::LUA,
    &php::PHP,
    &python::PYTHON,
    &r::R,
    &ruby::RUBY,
    &rust::RUST,
    &scala::SCALA,
    &sql::SQL,
    &swift::SWIFT,
    &ecmascript::TSX,
    &ecmascript::TYPESCRIPT,
];

/// The language of this name.
pub fn language(name: &str) -> Option<&'static CodeLanguage> {
    LANGUAGES.iter().find(|language| language.name == name).copied()
}

/// A language that can be read.
pub struct CodeLanguage {
    /// What people call it, in lower case; the name given to `--language`.
    pub name: &'static str,
    /// What the names of its files end with, point included.
    pub suffixes: &'static [&'static str],
    /// The group of languages whose tokens match each other; part of every token's value.
    pub family: &'static str,
    pub(crate) shape: Shape,
    entry: LanguageFn,
    grammar: OnceLock<tree_sitter::Language>,
    tables: OnceLock<FoldTables>,
}

impl CodeLanguage {
    const fn new(
        name: &'static str,
        suffixes: &'static [&'static str],
        family: &'static str,
        entry: LanguageFn,
        shape: Shape,
    ) -> Self {
        Self { name, suffixes, family, shape, entry, grammar: OnceLock::new(), tables: OnceLock::new() }
    }

    /// The grammar, as the parser takes it.
    pub(crate) fn grammar(&self) -> &tree_sitter::Language {
        self.grammar.get_or_init(|| tree_sitter::Language::new(self.entry))
    }

    /// What its nodes and words fold to.
    pub(crate) fn tables(&self) -> &FoldTables {
        self.tables.get_or_init(|| FoldTables::new(self))
    }
}

/// What the nodes of a grammar mean, and how its text is read without it. Sets are words with blanks between them.
pub(crate) struct Shape {
    /// Node kinds that are identifiers.
    pub names: &'static str,
    /// Node kinds that are numbers.
    pub numbers: &'static str,
    /// Node kinds that are strings and their like, with all that is in them.
    pub strings: &'static str,
    /// Node kinds that are comments.
    pub comments: &'static str,
    /// Node kinds that are comments if they hold nothing but a string.
    pub remarks: &'static str,
    /// Node kinds whose text the lexer reads.
    pub unread: &'static str,
    /// Node kinds, and literal texts, that are nothing: terminators one may leave out.
    pub ignored: &'static str,
    /// Keywords that the grammar holds as rules, so that they cannot be asked of it.
    pub words: &'static str,
    /// Constants that the grammar takes for identifiers.
    pub constants: &'static str,
    /// Keywords that are mostly identifiers, and operators that are mostly two: the lexer takes them for such.
    pub soft: &'static str,
    /// What the names of the rules for keywords begin with, in a grammar that has a rule for each.
    pub keyword_rules: &'static str,
    /// Whether a statement ends with its line, as a rule.
    pub ends_lines: bool,
    /// Whether keywords may be written in either case.
    pub case_blind: bool,
    /// What begins a comment to the end of the line.
    pub line_comments: &'static [&'static str],
    /// What begins and ends other comments.
    pub block_comments: &'static [(&'static str, &'static str)],
    /// Whether block comments contain block comments.
    pub comments_nest: bool,
    /// Strings, the longest opening first.
    pub quotes: &'static [Quote],
    /// Characters beyond letters and `_` that begin a name.
    pub name_start: &'static str,
    /// Characters beyond letters, digits and `_` that go on with a name.
    pub name_part: &'static str,
    /// Characters of which one may end a name.
    pub name_end: &'static str,
    /// Whether a sign may be part of a number.
    pub signed_numbers: bool,
    /// Whether `>>` may close two lists of type arguments.
    pub generics: bool,
    /// Whether the scanner that the grammar is built with can hold what is open at once. It has [`SCANNER_BYTES`], and some
    /// scanners abort or write beyond them.
    pub fits: Option<fn(&str) -> bool>,
    /// What only this language has: end and class of what begins at an offset, if it is that.
    pub special: Option<Special>,
}

/// Room for the state of a grammar's scanner, in bytes: a constant of tree-sitter.
const SCANNER_BYTES: usize = 1_024;

/// Reads what only one language has.
pub(crate) type Special = fn(&Lexer<'_>, usize) -> Option<(usize, NodeClass)>;

impl Shape {
    /// Most languages descend from C: its comments and quotes, nothing special.
    const PLAIN: Self = Self {
        names: "identifier",
        numbers: "",
        strings: "",
        comments: "comment",
        remarks: "",
        unread: "",
        ignored: "",
        words: "",
        constants: "",
        soft: "",
        keyword_rules: "",
        ends_lines: false,
        case_blind: false,
        line_comments: &["//"],
        block_comments: &[("/*", "*/")],
        comments_nest: false,
        quotes: &[Quote::DOUBLE, Quote::SINGLE],
        name_start: "",
        name_part: "",
        name_end: "",
        signed_numbers: false,
        generics: false,
        fits: None,
        special: None,
    };
}

/// A sort of string.
pub(crate) struct Quote {
    /// What begins it.
    pub open: &'static str,
    /// What ends it.
    pub close: &'static str,
    /// The byte that takes away the meaning of the next.
    pub escape: Option<u8>,
    /// Whether the closing quote, twice, is a quote inside.
    pub doubled: bool,
    /// Whether it often holds line ends. Where quotes merely may, the lexer ends them with the line: if one is missing,
    /// the rest of the file would be read inside out.
    pub lines: bool,
    /// What begins and ends code inside.
    pub hole: Option<(&'static str, u8)>,
    /// Words that may stand before it, without a blank.
    pub prefixes: &'static [&'static str],
    /// Whether one of them must.
    pub needs_prefix: bool,
}

impl Quote {
    const DOUBLE: Self = Self {
        open: "\"",
        close: "\"",
        escape: Some(b'\\'),
        doubled: false,
        lines: false,
        hole: None,
        prefixes: &[],
        needs_prefix: false,
    };
    const SINGLE: Self = Self { open: "'", close: "'", ..Self::DOUBLE };
    const TRIPLE: Self = Self { open: "\"\"\"", close: "\"\"\"", lines: true, ..Self::DOUBLE };
}
