//! Why a table could not be kept or read: each kind has an exit code of its own on the command line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of what touches a table.
pub type Result<T> = std::result::Result<T, Error>;

/// Why not.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
        /// Bytes that were to be written there; 0 where none were.
        needed: u64,
    },
    /// A file is not what was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A file was made by another version of this program.
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u8,
        /// The version that is read here.
        known: u8,
    },
    /// Another process writes.
    Locked {
        /// The folder.
        path: PathBuf,
        /// Who it says it is.
        holder: String,
    },
    /// What is asked cannot be done with this table.
    Refused {
        /// What was asked, what was found, what to do.
        reason: String,
    },
    /// The core refused a parameter.
    Core(lookalike_core::error::Error),
}

impl Error {
    /// The system refused to read or change something.
    pub fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error, needed: 0 }
    }

    /// A file is not what was written.
    pub fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.into() }
    }
}

impl From<lookalike_core::error::Error> for Error {
    fn from(error: lookalike_core::error::Error) -> Self {
        Self::Core(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error, needed: 0 } => write!(f, "`{}` cannot be used: {error}", path.display()),
            Self::Io { path, error, needed } => {
                write!(f, "`{}` cannot be written: {error}; `{needed}` bytes are needed", path.display())
            }
            Self::Damaged { path, reason } => {
                write!(f, "`{}` is damaged: {reason}; restore it from a copy or build the table anew", path.display())
            }
            Self::Version { path, found, known } => write!(
                f,
                "`{}` has format `{found}`, this version reads `{known}`: use the version of lookalike that made it",
                path.display()
            ),
            Self::Locked { path, holder } => {
                write!(f, "table in `{}` is being written by {holder}: wait for it to end", path.display())
            }
            Self::Refused { reason } => f.write_str(reason),
            Self::Core(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::Core(error) => Some(error),
            _ => None,
        }
    }
}
