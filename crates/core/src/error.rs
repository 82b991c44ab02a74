//! One error type for the core: variants carry what was asked and what was found, messages say what to do.
//!
//! The binding maps each variant to a Python class in one file; nothing here prints or exits.

use std::fmt;

/// The result of everything in this crate that can be refused.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range; `reason` says what is possible instead.
    Parameter {
        /// The parameter's public name.
        name: &'static str,
        /// The value that was given.
        value: i64,
        /// What was found wrong and what to do, in the tone of the messages below.
        reason: String,
    },
    /// A document is too long for 32-bit offsets.
    TooLarge {
        /// The length found, in bytes.
        len_bytes: u64,
    },
    /// The bytes are not text in any encoding the decoder knows.
    Binary {
        /// Offset of the first byte that says so.
        at_byte: u64,
        /// What was seen there.
        reason: &'static str,
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
        }
    }
}

impl std::error::Error for Error {}
