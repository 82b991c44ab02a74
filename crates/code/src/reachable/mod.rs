//! Finds code that cannot run: definitions that no entry point reaches by names.
//!
//! ```text
//! syntax tree ─▶ Outline of each file: definitions, and the names that each uses ─▶ sweep ─▶ tokens that cannot run
//!                outline.rs; java.rs, c.rs, python.rs, ecmascript.rs                sweep.rs
//! ```
//!
//! A *definition* is a function, method or class; the file around it is one too. A token belongs to the innermost
//! definition around it. The analysis marks definitions as reachable and never takes a mark back:
//!
//! 1. Files are reachable, and so is what something outside calls (`Rule::Main`, `Rule::Outside`), with everything
//!    around it.
//! 2. Inside a reachable definition, another one is reachable if its `Rule` holds: reachable code uses its name, or
//!    the language runs it with the code around it. A member may also need that reachable code uses the name of its class.
//! 3. A member that can override a method of a library is reachable if its class has a supertype that the submission
//!    does not define, and the definition around it is reachable.
//!
//! Names are compared without scopes and types, over all files of a submission in one family of languages. So a name
//! that is used for something else keeps a definition reachable, and code that runs in an ordinary program is not
//! marked as dead. A string literal uses the names in it if it holds no blank or if code is interpolated into it.
//!
//! Everything is reachable if the analysis has no ground to stand on ([`Everything`] lists the reasons).
//!
//! Cost: one step per node of a tree that is parsed anyway, and one hash per name.

mod c;
mod ecmascript;
mod java;
mod outline;
mod python;
mod sweep;

pub(crate) use outline::{Outliner, Plan, Reader};
pub use sweep::sweep;

pub(crate) use c::C;
pub(crate) use ecmascript::ECMASCRIPT;
pub(crate) use java::JAVA;
pub(crate) use python::PYTHON;

use lookalike_core::hash::identity::token_value;
use std::fmt;

/// Least number of reachable tokens: with fewer of them, too little would be left to compare.
pub const LEAST_TOKENS: usize = 60;

/// When a definition is reachable, given that the one around it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Reachable code uses its name.
    #[default]
    Named,
    /// Reachable code uses its name before an argument list, or as a method reference.
    Called,
    /// Always: its code runs with the code around it, or the language calls it.
    Implied,
    /// Always, and so is everything around it: something outside the submission calls it.
    Outside,
    /// As `Outside`; it is where the program starts.
    Main,
}

/// A definition of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Definition {
    /// First byte, later first token.
    pub start: u32,
    /// Byte or token after the last.
    pub end: u32,
    /// Index of the definition around it; a file is around itself.
    pub parent: u32,
    /// Hash of its name; 0 if it has none.
    pub name: u64,
    /// Hash of the name of its class; 0 if it has none.
    pub class: u64,
    pub rule: Rule,
    /// Whether the name of its class must be used too.
    pub needs_class: bool,
    /// Whether it may override a method of a library.
    pub may_override: bool,
    /// Whether it is a class.
    pub is_class: bool,
}

/// What the analysis must know of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The file itself, then its definitions in the order of their starts.
    definitions: Vec<Definition>,
    /// Definition and hash of a name that it uses; ascending, each once.
    uses: Vec<(u32, u64)>,
    /// Hashes of the names of a class and of a supertype.
    supertypes: Vec<(u64, u64)>,
    /// Hashes of names that find code by computed names.
    computed: &'static [&'static str],
    /// Whether its outermost code does something, beyond defining things.
    acts: bool,
    /// Whether others may import what it defines.
    exports: bool,
    /// Number of its tokens.
    tokens: u32,
}

/// A reason why everything is reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Everything {
    /// The language is not analysed.
    Language,
    /// A file was not read by its grammar.
    Unparsed,
    /// Files in other languages may call the code.
    Mixed,
    /// Nothing says where the program starts.
    NoEntry,
    /// Reachable code finds other code by names that it computes.
    Computed,
    /// Fewer than [`LEAST_TOKENS`] tokens are reachable.
    TooLittle,
}

impl fmt::Display for Everything {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language => write!(f, "not analysed: the language is not supported"),
            Self::Unparsed => write!(f, "not analysed: a file does not parse"),
            Self::Mixed => write!(f, "not analysed: files in other languages may call the code"),
            Self::NoEntry => write!(f, "not analysed: no entry point"),
            Self::Computed => write!(f, "not analysed: the code finds other code by computed names"),
            Self::TooLittle => write!(f, "not analysed: fewer than {LEAST_TOKENS} tokens can be reached"),
        }
    }
}

/// Added to the hash of a name that is called.
const CALLED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Whether a word is one of a set: words separated by blanks.
pub(crate) fn is_in(set: &str, word: &str) -> bool {
    set.split(' ').any(|one| one == word)
}

/// The hash of a name. It is never 0, which stands for no name.
pub(crate) fn hash(name: &str) -> u64 {
    token_value(name.as_bytes()).max(1)
}

/// The hash of a name that is called.
pub(crate) fn called(name: u64) -> u64 {
    name ^ CALLED
}

#[cfg(test)]
mod tests;
