//! The file of strings that are ids: their numbers, and the string of each.
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 64 | `header.rs` |
//! | body | | ids (packed, ascending), starts of the strings (packed, any order; one more than ids), the strings in UTF-8, one after the other; each begins at a multiple of 8 |
//! | directory | 16 each | offset and length in bytes of ids, starts and strings |
//! | sums | 8 per page | XXH3 of each 16 KiB of the body |
//! | seal | 8 | XXH3 of header, directory and sums |
//!
//! Cost: as for a run file (`run_file.rs`). A string is found by one lookup in the ids and two in the starts.

use crate::footer::{append, finish, Footer};
use crate::header::{FileHeader, FileKind, HEADER, NAMES_VERSION};
use crate::verified_pages::{PagedBody, VerifiedPages, PAGE};
use lookalike_table::codec::packed::{pack, Order, Packed, Source};
use lookalike_table::disk::Bytes;
use lookalike_table::error::{Error, Result};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Bytes of the directory.
const DIRECTORY: usize = 48;

/// Makes the bytes of a file of `ids`, ascending, whose strings begin at `starts` in `texts`.
pub fn image(number: u64, ids: &[u64], starts: &[u64], texts: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    let mut directory = Vec::with_capacity(DIRECTORY);
    append(&mut bytes, &mut directory, pack(ids, Order::Ascending));
    append(&mut bytes, &mut directory, pack(starts, Order::Any));
    append(&mut bytes, &mut directory, texts.to_vec());
    let header = FileHeader {
        kind: FileKind::Names,
        version: NAMES_VERSION,
        number,
        rows: ids.len() as u64,
        length: 0,
        body: 0,
        distance: 0,
        count: 0,
        more: texts.len() as u64,
    };
    finish(bytes, directory, header)
}

/// A file that was opened.
#[derive(Debug)]
pub struct NameFile {
    /// Its header.
    pub header: FileHeader,
    /// Its seal.
    pub seal: u64,
    pages: Arc<VerifiedPages>,
    ids: Packed<PagedBody>,
    starts: Packed<PagedBody>,
    texts: Range<usize>,
}

impl NameFile {
    /// Opens a file. Errors: it is damaged, cut, of another kind or version.
    pub fn open(path: &Path, bytes: Bytes) -> Result<Self> {
        let header = FileHeader::read(path, &bytes, FileKind::Names)?;
        let damaged = |reason: &str| Error::damaged(path, reason);
        let end = usize::try_from(header.body).ok().and_then(|body| body.checked_add(HEADER));
        let is_whole = |end: &usize| {
            let sums = (*end - HEADER).div_ceil(PAGE).checked_mul(8);
            sums.and_then(|sums| end.checked_add(DIRECTORY + sums + 8)) == Some(bytes.len())
        };
        let end = end.filter(is_whole).ok_or_else(|| damaged("its header is inconsistent"))?;
        let footer = Footer::read(path, &bytes, end)?;
        let (Some(ids), Some(starts), Some(texts)) = (footer.column(0), footer.column(16), footer.column(32)) else {
            return Err(damaged("a column lies outside its body"));
        };
        let seal = footer.seal;
        let pages = VerifiedPages::new(path, bytes, HEADER..end, end + DIRECTORY);
        let column = |range: Range<usize>, order| Packed::open(PagedBody(pages.clone()), range, order);
        let (ids, starts) = (column(ids, Order::Ascending), column(starts, Order::Any));
        match (ids, starts) {
            (Some(ids), Some(starts)) if ids.len() as u64 == header.rows && starts.len() == ids.len() + 1 => {
                Ok(Self { header, seal, pages, ids, starts, texts })
            }
            _ => Err(Error::damaged(path, "a column cannot be decoded")),
        }
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of an id, if it is here. Damage is recorded, and reported by [`Self::checked`].
    pub fn get(&self, id: u64) -> Option<&str> {
        let Some(rows) = self.ids.rows(id, id) else {
            self.pages.report();
            return None;
        };
        if rows.is_empty() {
            return None;
        }
        let found = self.text(rows.start);
        if found.is_none() {
            self.pages.report();
        }
        found
    }

    fn text(&self, row: usize) -> Option<&str> {
        let (start, end) = (self.starts.get(row)?, self.starts.get(row + 1)?);
        if start == end {
            return Some("");
        }
        let start = self.texts.start.checked_add(usize::try_from(start).ok()?)?;
        let end = self.texts.start.checked_add(usize::try_from(end).ok()?)?;
        let is_inside = start < end && end <= self.texts.end;
        is_inside
            .then(|| self.starts.source().bytes(start..end))
            .flatten()
            .and_then(|text| std::str::from_utf8(text).ok())
    }

    /// Ids, starts and strings, read into memory. Errors: damaged, or not consistent.
    pub fn decode(&self) -> Result<(Vec<u64>, Vec<u64>, Vec<u8>)> {
        let (mut ids, mut starts) = (Vec::new(), Vec::new());
        let body = PagedBody(self.pages.clone());
        let texts = if self.texts.is_empty() { Some(&[][..]) } else { body.bytes(self.texts.clone()) };
        let is_read = self.ids.decode(&mut ids).is_some() && self.starts.decode(&mut starts).is_some();
        let texts = texts.filter(|texts| is_read && is_sound(&ids, &starts, texts)).map(<[u8]>::to_vec);
        if texts.is_none() {
            self.pages.report();
        }
        self.checked()?;
        Ok((ids, starts, texts.unwrap_or_default()))
    }

    /// Errors: a part that was read so far is damaged.
    pub fn checked(&self) -> Result<()> {
        self.pages.checked()
    }
}

/// Whether ids ascend and the starts cut the strings at the borders of characters, the first at 0 and the last at the end.
fn is_sound(ids: &[u64], starts: &[u64], texts: &[u8]) -> bool {
    let Ok(texts) = std::str::from_utf8(texts) else { return false };
    ids.windows(2).all(|pair| pair[0] < pair[1])
        && starts.is_sorted()
        && (starts.first(), starts.last()) == (Some(&0), Some(&(texts.len() as u64)))
        && starts.iter().all(|start| usize::try_from(*start).is_ok_and(|start| texts.is_char_boundary(start)))
}
