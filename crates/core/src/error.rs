//! The error type of the core. Variants carry the given value and the reason; messages say what to do.
//!
//! The binding maps each variant to a Python class in one file; nothing here prints or exits.

use std::fmt;

/// The result of a call that may be refused.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason a call was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range; `reason` says what is possible instead.
    Parameter {
        /// The parameter's public name.
        name: &'static str,
        /// The value that was given.
        value: i64,
        /// What is wrong and what to do, worded like the messages below.
        reason: String,
    },
    /// A document is too long for 32-bit offsets.
    TooLarge {
        /// The length found, in bytes.
        len_bytes: u64,
    },
    /// The bytes are not text in any encoding that the decoder knows.
    Binary {
        /// Offset of the first byte that shows it.
        at_byte: u64,
        /// What is wrong there.
        reason: &'static str,
    },
    /// Two sketches were made with different parameters, so they cannot be compared.
    Unlike {
        /// The parameter that differs, by its public name.
        what: &'static str,
        /// Its value in the first sketch.
        left: String,
        /// Its value in the second sketch.
        right: String,
    },
    /// This kind of sketch cannot estimate containment.
    NoContainment {
        /// The kind of sketch.
        kind: &'static str,
    },
    /// This kind of sketch cannot be updated with a single shingle.
    NoUpdate {
        /// The kind of sketch.
        kind: &'static str,
    },
    /// The weight of a feature is out of range.
    Weight {
        /// The weight that was given.
        value: String,
        /// The largest allowed weight.
        most: u32,
    },
    /// A pattern cannot be used.
    Pattern {
        /// The pattern that was given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Stored bytes do not have the expected format.
    Format {
        /// The expected format.
        what: &'static str,
        /// What is wrong and what to do.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter { name, value, reason } => write!(f, "{name} `{value}` {reason}"),
            Self::TooLarge { len_bytes } => write!(
                f,
                "document of `{len_bytes}` bytes is too large: offsets have 32 bits, so documents must be below 4 GiB; split it"
            ),
            Self::Binary { at_byte, reason } => {
                write!(f, "not a text: {reason} at byte `{at_byte}`; convert it to UTF-8 or leave it out")
            }
            Self::Unlike { what, left, right } => {
                write!(f, "sketches cannot be compared: {what} is `{left}` in one and `{right}` in the other; make both alike")
            }
            Self::NoContainment { kind } => {
                write!(f, "containment cannot be told from sketch `{kind}`: its sample is one of both documents; use modulo or adaptive")
            }
            Self::NoUpdate { kind } => {
                write!(f, "sketch `{kind}` takes no single shingles: its level follows from the whole document; use modulo")
            }
            Self::Weight { value, most } => write!(
                f,
                "weight `{value}` cannot be counted: use a number from −{most} to {most}, such as how often the feature occurs"
            ),
            Self::Pattern { pattern, reason } => {
                write!(f, "pattern `{pattern}` cannot be used: {reason}; use a regular expression without look-around")
            }
            Self::Format { what, reason } => write!(f, "{what} cannot be read: {reason}"),
        }
    }
}

impl std::error::Error for Error {}

/// What the core refuses of a table's parameters, the table refuses.
impl From<Error> for lookalike_table::Error {
    fn from(error: Error) -> Self {
        Self::refused(error.to_string())
    }
}
