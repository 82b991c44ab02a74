//! The errors of tables on disk. Each kind has its own exit code on the command line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation on a table.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why an operation on a table failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to read or write.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
        /// Number of bytes that were to be written; 0 for other operations.
        needed: u64,
    },
    /// A file differs from what was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The finding.
        reason: String,
    },
    /// A file was made by another version of this program.
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u8,
        /// The version that this program reads.
        known: u8,
    },
    /// Another process is writing.
    Locked {
        /// The folder.
        path: PathBuf,
        /// The other process, as named in its lock.
        holder: String,
    },
    /// The operation is not possible: rows out of order, a value outside its column, an unknown table.
    Refused {
        /// What was asked, what was found, and what to do.
        reason: String,
    },
}

impl Error {
    /// Makes an error from a failure to read or change a file.
    pub fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error, needed: 0 }
    }

    /// Makes an error for a damaged file.
    pub fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.into() }
    }

    /// Makes an error for a refused operation.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error, needed: 0 } => write!(f, "`{}` cannot be used: {error}", path.display()),
            Self::Io { path, error, needed } => {
                write!(f, "`{}` cannot be written: {error}; `{needed}` bytes are needed", path.display())
            }
            Self::Damaged { path, reason } => write!(f, "`{}` is damaged: {reason}", path.display()),
            Self::Version { path, found, known } => write!(
                f,
                "`{}` has format `{found}`, this version reads `{known}`: use the version of lookalike that made it",
                path.display()
            ),
            Self::Locked { path, holder } => {
                write!(f, "table in `{}` is being written by {holder}: wait for it to end", path.display())
            }
            Self::Refused { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
