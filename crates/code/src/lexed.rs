//! Folds the tokens of lexers outside this crate, by the same rules as those of the grammars.
//!
//! Cost: one pass.

use crate::sequence::{FoldRules, Sequence, NAME, TYPE};
use crate::{CodeTokens, TokenKind};

/// Languages that lexers outside this crate read: name, whether a statement ends with its line, and the words that begin
/// an import line. In a language that is not listed a line end is a blank, and no line is an import.
const LEXED: &[(&str, bool, &str)] = &[
    ("ada", false, "with use"),
    ("asm", true, "include %include .include"),
    ("coq", true, "Require Import From"),
    ("dart", false, "import export part"),
    ("elixir", true, "import alias use require"),
    ("erlang", true, ""),
    ("fortran", true, "use include"),
    ("fortranfixed", true, "use include"),
    ("fsharp", true, "open"),
    ("groovy", true, "import package"),
    ("haskell", true, "import"),
    ("julia", true, "import using"),
    ("matlab", true, "import"),
    ("mips", true, ".include"),
    ("modula2", false, "import from"),
    ("objectivec", false, "import include"),
    ("ocaml", false, "open include"),
    ("pascal", false, "uses"),
    ("perl", false, "use package require"),
    ("powershell", true, "using"),
    ("vb", true, "imports"),
    ("verilog", false, "import include"),
    ("vhdl", false, "use library"),
];

/// Classes of a token, as an external lexer numbers them: by its text, any name, number or string, by its text in lower
/// case, any built-in type, a word of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LexedClass {
    Text,
    Name,
    Number,
    String,
    Folded,
    Type,
    Comment,
}

impl LexedClass {
    fn new(number: u32) -> Self {
        match number {
            1 => Self::Name,
            2 => Self::Number,
            3 => Self::String,
            4 => Self::Folded,
            5 => Self::Type,
            6 => Self::Comment,
            _ => Self::Text,
        }
    }

    fn kind(self, word: &str) -> TokenKind {
        match self {
            Self::Name => TokenKind::Name,
            Self::Number => TokenKind::Number,
            Self::String => TokenKind::String,
            Self::Type => TokenKind::Type,
            Self::Comment => TokenKind::Comment,
            Self::Text | Self::Folded if word.starts_with(|c: char| c.is_ascii_alphabetic()) => TokenKind::Keyword,
            Self::Text | Self::Folded => TokenKind::Operator,
        }
    }
}

/// The tokens of `text` in a language, from rows of start, end and class.
pub fn fold(text: &str, language: &str, rows: impl IntoIterator<Item = (usize, usize, u32)>) -> CodeTokens {
    let known = LEXED.iter().find(|(name, ..)| *name == language);
    let (_, ends_lines, imports) = known.copied().unwrap_or(("", false, ""));
    let rules = FoldRules::new(language, ends_lines, imports);
    let [name, number, string, kind] = [NAME, "\u{1}number", "\u{1}string", TYPE].map(|class| rules.value(class));
    let mut found = Sequence::default();
    for (start, end, class) in rows {
        let word = text.get(start..end).unwrap_or("");
        let class = LexedClass::new(class);
        let value = match class {
            LexedClass::Name => name,
            LexedClass::Number => number,
            LexedClass::String => string,
            LexedClass::Type => kind,
            LexedClass::Folded | LexedClass::Comment => rules.value(&word.to_lowercase()),
            LexedClass::Text => rules.value(word),
        };
        found.push(value, start, end, class.kind(word));
    }
    rules.fold(text, found)
}
