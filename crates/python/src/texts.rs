//! Batches of documents: a list of them, or the buffers of an Arrow column of strings, which have no Python object per row.

use crate::detach::detached;
use crate::input::{Document, Frozen, Input, Text};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// About so many bytes are worked on between two looks at Ctrl-C: a few hundredths of a second of work.
const HELPING_BYTES: usize = 16 << 20;
/// The note on a row without a document.
const MISSING: &str = "there is no document: the value is null";

/// The documents of a batch, kept alive and immutable for as long as this lives.
pub enum Texts {
    /// One by one; none where there is no document.
    Listed(Vec<Option<Input>>),
    /// A column of strings or of bytes.
    Column(Buffers),
}

/// The three buffers of an Arrow string array, the bytes per offset, the rows, and whether its type promises text.
type Buffers = (Option<Frozen>, Frozen, Frozen, usize, usize, bool);

impl<'a, 'py> FromPyObject<'a, 'py> for Texts {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyTuple>() {
            Ok(buffers) => buffers.extract().map(Self::Column),
            Err(_) => object.extract().map(Self::Listed),
        }
    }
}

impl Texts {
    /// The documents, ready to be read. Errors: buffers that do not hold them.
    pub fn view(&self) -> PyResult<View<'_>> {
        Ok(match self {
            Self::Listed(inputs) => View::Listed(inputs),
            Self::Column((validity, offsets, data, width, rows, is_text)) => {
                let texts = ArrowTexts::new(validity.as_ref(), offsets, data, *width, *rows)?;
                View::Column { texts, rows: *rows, is_text: *is_text }
            }
        })
    }
}

/// The documents of a batch, borrowed.
pub enum View<'a> {
    /// One by one.
    Listed(&'a [Option<Input>]),
    /// A column.
    Column {
        /// Its rows.
        texts: ArrowTexts<'a>,
        /// How many they are.
        rows: usize,
        /// Whether they are text, or bytes in any encoding.
        is_text: bool,
    },
}

impl View<'_> {
    /// How many documents there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Listed(inputs) => inputs.len(),
            Self::Column { rows, .. } => *rows,
        }
    }

    /// A document, if the row has one. A typed string is UTF-8, and what is ill-formed in it becomes U+FFFD.
    fn get(&self, row: usize) -> Option<Document<'_>> {
        match self {
            Self::Listed(inputs) => inputs[row].as_ref().map(Input::document),
            Self::Column { texts, is_text: true, .. } => texts.get(row).map(Document::Typed),
            Self::Column { texts, .. } => texts.get(row).map(Document::Bytes),
        }
    }

    fn len_bytes(&self, row: usize) -> usize {
        match self {
            Self::Listed(inputs) => inputs[row].as_ref().map_or(0, Input::len_bytes),
            Self::Column { texts, .. } => texts.get(row).map_or(0, <[u8]>::len),
        }
    }

    /// A document as text, or why it cannot be read.
    pub fn text(&self, row: usize) -> Opened<'_> {
        opened(self.get(row))
    }

    /// Where a helping ends that begins with a row, and its bytes.
    fn helping(&self, start: usize) -> (usize, usize) {
        let (mut end, mut len_bytes) = (start, 0);
        while end < self.len() && len_bytes < HELPING_BYTES {
            len_bytes += self.len_bytes(end);
            end += 1;
        }
        (end, len_bytes)
    }

    /// Works on all documents in order, without the GIL; Ctrl-C ends it between two helpings.
    pub fn each(&self, py: Python<'_>, mut work: impl FnMut(Opened<'_>) + Send) -> PyResult<()> {
        let mut start = 0;
        while start < self.len() {
            let (end, len_bytes) = self.helping(start);
            detached(py, len_bytes, || (start..end).for_each(|row| work(opened(self.get(row)))));
            // The only place where Ctrl-C can be noticed while the core works.
            py.check_signals()?;
            start = end;
        }
        Ok(())
    }
}

/// A document as text, or why it cannot be read.
pub type Opened<'a> = std::result::Result<Text<'a>, String>;

fn opened(document: Option<Document<'_>>) -> Opened<'_> {
    document.ok_or_else(|| MISSING.to_owned())?.open().map_err(|error| error.to_string())
}

/// The texts of the three buffers of an Arrow string array.
pub struct ArrowTexts<'a> {
    validity: Option<&'a [u8]>,
    offsets: &'a [u8],
    data: &'a [u8],
    width: usize,
}

impl<'a> ArrowTexts<'a> {
    /// Errors: buffers that do not hold `rows` texts.
    pub fn new(
        validity: Option<&'a Frozen>,
        offsets: &'a Frozen,
        data: &'a Frozen,
        width: usize,
        rows: usize,
    ) -> PyResult<Self> {
        let wrong = || PyValueError::new_err("the buffers of a batch do not hold as many texts as it has rows");
        let validity = validity.map(Frozen::as_bytes);
        let length = rows.checked_add(1).and_then(|offsets| offsets.checked_mul(width)).ok_or_else(wrong)?;
        let offsets = offsets.as_bytes().get(..length).ok_or_else(wrong)?;
        let found = Self { validity, offsets, data: data.as_bytes(), width };
        let ascend = (0..rows).all(|row| found.offset(row) <= found.offset(row + 1));
        let is_covered = validity.is_none_or(|bits| bits.len() >= rows.div_ceil(8));
        if !ascend || !is_covered || found.offset(rows) > found.data.len() {
            return Err(wrong());
        }
        Ok(found)
    }

    fn offset(&self, row: usize) -> usize {
        let at = &self.offsets[row * self.width..(row + 1) * self.width];
        at.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte)) as usize
    }

    /// The text of a row, if it has one.
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        let is_there = self.validity.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1);
        is_there.then(|| &self.data[self.offset(row)..self.offset(row + 1)])
    }
}
