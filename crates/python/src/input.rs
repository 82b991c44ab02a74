//! What a caller may hand in as a document: `str` (spans are character indices) or bytes (spans are byte offsets).

use crate::column::Column;
use crate::error::ParameterError;
use crate::texts::ArrowTexts;
use lookalike_core::error::Result;
use lookalike_core::frontend::decode::{decode, Decoded};
use lookalike_core::frontend::{check_length, Span};
use lookalike_core::hamming::MAX_DISTANCE;
use lookalike_dedup::reader::{unicode, GivenText};
use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyInt, PyMemoryView, PyString, PyTuple};
use std::borrow::Cow;

/// A document handed in, kept alive and immutable for as long as this lives.
pub enum Input {
    /// A string, borrowed.
    Str(PyBackedStr),
    /// A string with lone surrogates, which UTF-8 cannot hold: each became U+FFFD, which has the same length.
    Mended(String, u32),
    /// Bytes, borrowed.
    Bytes(PyBackedBytes),
    /// Bytes of another object that may change under us, so they are copied.
    Copied(Vec<u8>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Input {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return match PyBackedStr::try_from(text.to_owned()) {
                Ok(text) => Ok(Self::Str(text)),
                Err(_) => mend(&text),
            };
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(PyBackedBytes::from(bytes.to_owned())));
        }
        let wrong = |_| PyTypeError::new_err("a document is `str` or bytes; for a file give a `pathlib.Path`");
        let buffer = PyBuffer::<u8>::get(&object).map_err(wrong)?;
        Ok(Self::Copied(buffer.to_vec(object.py())?))
    }
}

/// Replaces lone surrogates: encoded on their own they take three bytes, as U+FFFD does.
fn mend(text: &Bound<'_, PyString>) -> PyResult<Input> {
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let mut bytes: Vec<u8> = encoded.extract()?;
    let mut replaced = 0;
    for at in 0..bytes.len().saturating_sub(2) {
        if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
            bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
            replaced += 1;
        }
    }
    Ok(Input::Mended(String::from_utf8_lossy(&bytes).into_owned(), replaced))
}

impl Input {
    /// Its bytes, before decoding.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Mended(text, _) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }

    /// The document as the rows of a corpus are read: a `str` is Unicode and never guessed at.
    pub fn given(&self) -> GivenText<'_> {
        let is_unicode = matches!(self, Self::Str(_) | Self::Mended(..));
        GivenText { bytes: self.as_bytes(), is_unicode, is_mended: matches!(self, Self::Mended(..)) }
    }

    /// How many they are.
    pub fn len_bytes(&self) -> usize {
        self.as_bytes().len()
    }

    /// The document, borrowed.
    pub fn document(&self) -> Document<'_> {
        match self {
            Self::Str(text) => Document::Str(text, 0),
            Self::Mended(text, replaced) => Document::Str(text, *replaced),
            Self::Bytes(bytes) => Document::Bytes(bytes),
            Self::Copied(bytes) => Document::Bytes(bytes),
        }
    }

    /// The document as text. Errors: too large, or not a text.
    pub fn open(&self) -> Result<Text<'_>> {
        self.document().open()
    }
}

/// A document wherever it lies: a string and how many of its characters were replaced, or bytes.
pub enum Document<'a> {
    /// Text.
    Str(&'a str, u32),
    /// UTF-8 by its type, which need not be well formed.
    Typed(&'a [u8]),
    /// Bytes in any encoding.
    Bytes(&'a [u8]),
}

impl<'a> Document<'a> {
    /// The document as text. Errors: too large, or not a text.
    pub fn open(self) -> Result<Text<'a>> {
        match self {
            Self::Str(text, replaced) => {
                check_length(text.len())?;
                Ok(Text { decoded: Decoded::from_text(Cow::Borrowed(text), replaced), is_str: true })
            }
            Self::Typed(bytes) => {
                check_length(bytes.len())?;
                let text = unicode(bytes);
                let replaced = if matches!(text, Cow::Owned(_)) { marks(text.as_bytes()) - marks(bytes) } else { 0 };
                Ok(Text { decoded: Decoded::from_text(text, replaced), is_str: true })
            }
            Self::Bytes(bytes) => {
                check_length(bytes.len())?;
                Ok(Text { decoded: decode(bytes)?, is_str: false })
            }
        }
    }
}

/// How many U+FFFD there are.
fn marks(text: &[u8]) -> u32 {
    text.windows(3).filter(|bytes| *bytes == "\u{FFFD}".as_bytes()).count() as u32
}

/// A document as text, and how offsets in it are told to the caller.
pub struct Text<'a> {
    /// The text, and the way back to the bytes it was read from.
    pub decoded: Decoded<'a>,
    is_str: bool,
}

impl Text<'_> {
    /// Whether it came as a `str`.
    pub fn is_str(&self) -> bool {
        self.is_str
    }

    /// Rewrites ascending byte spans of the text as the caller counts: characters of a `str`, offsets into the bytes given.
    pub fn as_given(&self, mut spans: Vec<Span>) -> Vec<Span> {
        if self.is_str {
            self.to_characters(&mut spans);
        } else if !self.decoded.is_identity() {
            let (mut start, mut end) = (self.decoded.cursor(), self.decoded.cursor());
            for span in &mut spans {
                span.start = start.original(span.start as usize) as u32;
                span.end = end.original(span.end as usize) as u32;
            }
        }
        spans
    }

    /// Starts ascend and ends ascend, so two counters pass over the text once each.
    fn to_characters(&self, spans: &mut [Span]) {
        let text = self.decoded.text.as_ref();
        if text.is_ascii() {
            return;
        }
        let (mut start, mut end) = (Counter::default(), Counter::default());
        for span in spans {
            span.start = start.characters_before(text, span.start as usize);
            span.end = end.characters_before(text, span.end as usize);
        }
    }
}

/// Counts characters up to ascending byte offsets.
#[derive(Default)]
struct Counter {
    at: usize,
    characters: usize,
}

impl Counter {
    fn characters_before(&mut self, text: &str, offset: usize) -> u32 {
        let offset = offset.min(text.len());
        if offset > self.at {
            // A character is a byte that does not continue one.
            self.characters += text.as_bytes()[self.at..offset].iter().filter(|byte| (**byte as i8) >= -0x40).count();
            self.at = offset;
        }
        self.characters as u32
    }
}

/// Whether a buffer has numbers of several bytes in the other order than this machine.
fn is_swapped(buffer: &PyUntypedBuffer) -> bool {
    let big = matches!(buffer.format().to_bytes().first(), Some(b'>' | b'!'));
    let little = buffer.format().to_bytes().first() == Some(&b'<');
    if cfg!(target_endian = "little") {
        big
    } else {
        little
    }
}

/// Hashes given as a buffer of unsigned 64-bit numbers in any byte order, which is copied, or as any sequence of whole
/// numbers.
pub struct Hashes(pub Vec<u64>);

impl<'a, 'py> FromPyObject<'a, 'py> for Hashes {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let wrong = |_| ParameterError::new_err("hashes must be whole numbers from 0 to 2^64 − 1");
        let Ok(buffer) = PyBuffer::<u64>::get(&object) else {
            return object.extract::<Vec<u64>>().map(Self).map_err(wrong);
        };
        if buffer.dimensions() != 1 {
            let reason = format!("hashes must be one column: an array of `{}` dimensions is none", buffer.dimensions());
            return Err(ParameterError::new_err(reason));
        }
        let mut hashes = buffer.to_vec(object.py())?;
        if is_swapped(&buffer) {
            hashes.iter_mut().for_each(|hash| *hash = hash.swap_bytes());
        }
        Ok(Self(hashes))
    }
}

/// Bytes of a buffer that may be read without the GIL for as long as this lives.
///
/// Memory that a program could write to meanwhile is copied; `bytes`, columns of this package and the read-only buffers
/// of Arrow, which never change once they are made, are borrowed.
pub enum Frozen {
    /// Of an object that never changes.
    Borrowed(PyUntypedBuffer),
    /// Of any other.
    Copied(Vec<u8>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Frozen {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(&object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("a buffer is not one run of bytes"));
        }
        Ok(match buffer.readonly() && is_immutable(object.to_owned()) {
            true => Self::Borrowed(buffer),
            // The GIL is held, so no other thread of Python writes meanwhile.
            false => Self::Copied(memory(&buffer).to_vec()),
        })
    }
}

impl Frozen {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(buffer) => memory(buffer),
            Self::Copied(bytes) => bytes,
        }
    }
}

/// Whether nobody can write to the memory behind a read-only buffer. A view of another object is what that object is.
fn is_immutable(mut object: Bound<'_, PyAny>) -> bool {
    while let Ok(view) = object.cast::<PyMemoryView>() {
        match view.getattr("obj") {
            Ok(inner) => object = inner,
            Err(_) => return false,
        }
    }
    let is_arrow = |name: &str| name == "pyarrow" || name.starts_with("pyarrow.");
    object.is_exact_instance_of::<PyBytes>()
        || object.is_exact_instance_of::<Column>()
        || object.get_type().module().is_ok_and(|module| module.to_str().is_ok_and(is_arrow))
}

/// The memory of a buffer. REQUIRES: it is contiguous, and nothing writes to it for as long as it is borrowed.
fn memory(buffer: &PyUntypedBuffer) -> &[u8] {
    if buffer.len_bytes() == 0 {
        return &[];
    }
    // SAFETY: the buffer is contiguous, holds `len_bytes` bytes and outlives the borrow. Nothing writes to it: its object never changes
    // (`is_immutable`), or it is copied before Python runs again.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes()) }
}

/// A whole number of any size; beyond 64 bits it is as good as the largest.
#[derive(Clone, Copy)]
pub struct Whole(pub i64);

impl<'a, 'py> FromPyObject<'a, 'py> for Whole {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyInt>() {
            Ok(number) => Ok(Self(number.extract().unwrap_or(if number.lt(0)? { i64::MIN } else { i64::MAX }))),
            Err(_) => Err(PyTypeError::new_err(format!("`{}` is not a whole number", object.repr()?))),
        }
    }
}

impl Whole {
    /// The number as a Hamming distance. Errors: out of range; the message has the number as it was given.
    pub fn distance(self) -> PyResult<u32> {
        match u32::try_from(self.0) {
            Ok(distance) if distance <= MAX_DISTANCE => Ok(distance),
            _ => {
                Err(ParameterError::new_err(format!("distance `{}` is out of range: use 0 to {MAX_DISTANCE}", self.0)))
            }
        }
    }

    /// The number, refused with `fault` when it is below one.
    pub fn at_least_one(self, name: &str, fault: &str) -> PyResult<u64> {
        match u64::try_from(self.0) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(ParameterError::new_err(format!("{name} `{}` {fault}: use {name} ≥ 1", self.0))),
        }
    }
}

/// Ids of rows.
pub enum Ids {
    /// Whole numbers.
    Numbers(Vec<u64>),
    /// Strings.
    Strings(GivenStrings),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Ids {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let is_text = |object: &Bound<'py, PyAny>| object.is_instance_of::<PyString>();
        let is_column = object.cast::<Column>().is_ok_and(|column| column.get().as_texts().is_some());
        let is_arrow = object.cast::<PyTuple>().is_ok_and(|buffers| buffers.extract::<ArrowStrings>().is_ok());
        if is_column || is_arrow || object.get_item(0).is_ok_and(|first| is_text(&first)) {
            return object.extract().map(Self::Strings);
        }
        let wrong = |_| ParameterError::new_err("ids must be whole numbers from 0 to 2^64 − 1, or strings");
        object.extract::<Hashes>().map(|ids| Self::Numbers(ids.0)).map_err(wrong)
    }
}

/// The buffers of an Arrow array of strings: what is null, offsets, bytes; the bytes per offset, and the rows.
type ArrowStrings = (Option<Frozen>, Frozen, Frozen, usize, usize);

/// Strings that a caller handed in.
pub enum GivenStrings {
    /// One by one.
    Listed(Vec<PyBackedStr>),
    /// A column of this package.
    Column(Py<Column>),
    /// An array of Arrow.
    Arrow(ArrowStrings),
}

impl<'a, 'py> FromPyObject<'a, 'py> for GivenStrings {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(column) = object.cast::<Column>() {
            return Ok(Self::Column(column.to_owned().unbind()));
        }
        if let Ok(buffers) = object.cast::<PyTuple>() {
            if let Ok(buffers) = buffers.extract() {
                return Ok(Self::Arrow(buffers));
            }
        }
        let wrong = |_| ParameterError::new_err("ids must all be strings that UTF-8 can write, or all whole numbers");
        object.extract().map(Self::Listed).map_err(wrong)
    }
}

impl GivenStrings {
    /// The strings; none where there is null. Errors: bytes that are no UTF-8, or buffers that do not hold them.
    pub fn cells(&self) -> PyResult<Vec<Option<&str>>> {
        match self {
            Self::Listed(strings) => Ok(strings.iter().map(|text| Some(&**text)).collect()),
            Self::Column(column) => {
                let wrong = || ParameterError::new_err("a column of numbers is no column of strings");
                Ok(column.get().as_texts().ok_or_else(wrong)?.iter().map(Some).collect())
            }
            Self::Arrow((validity, offsets, data, width, rows)) => {
                let texts = ArrowTexts::new(validity.as_ref(), offsets, data, *width, *rows)?;
                let text = |row| texts.get(row).map(std::str::from_utf8).transpose();
                let wrong = |_| ParameterError::new_err("a string is not UTF-8: write it in UTF-8");
                (0..*rows).map(text).collect::<std::result::Result<_, _>>().map_err(wrong)
            }
        }
    }

    /// The strings. Errors: as for [`Self::cells`], or one is null.
    pub fn all(&self) -> PyResult<Vec<&str>> {
        let missing = || ParameterError::new_err("an id is null: give each row an id");
        self.cells()?.into_iter().map(|cell| cell.ok_or_else(missing)).collect()
    }
}
