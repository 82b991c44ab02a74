//! Sketches as bytes: a header with the recipe, the elements, a checksum. FORMAT.md describes the layout.
//!
//! An element takes as many bytes as it needs (Broder 1997, §4.2). `mix64` is a bijection, so the id of a shingle is
//! stored as the ℓ bits it was mixed from. Version 1, with 8 bytes for every element, is read too.
//!
//! Any bytes give either a sketch that could have been made, or an error with the reason.

use super::fast::EMPTY;
use super::kind::SketchKind;
use super::kind::{SketchRecipe, KINDS};
use super::sample::{limit_of_level, Sample};
use super::shingle::Shingling;
use super::sketching::{Sketch, SketchBody};
use crate::error::{Error, Result};
use crate::frontend::canonical::{TEXT_VERSION, TEXT_VERSION_BEFORE};
use crate::frontend::{Options, Unit};
use crate::hash::{mix64, unmix64};
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of every stored sketch.
const MAGIC: [u8; 4] = *b"LASK";

/// Version of the layout and of all definitions that sketches use, except that of texts.
pub const VERSION: u8 = 2;

/// The version before, with elements of 8 bytes.
const WIDE: u8 = 1;

/// Bytes before the elements.
const HEADER: usize = 52;

/// Bytes of the checksum at the end.
const CHECKSUM: usize = 8;

const UNITS: [Unit; 3] = [Unit::Character, Unit::Word, Unit::Line];

const HOMOGLYPHS: u8 = 1;
const LABELLED: u8 = 2;
const EXACT: u8 = 4;

fn refused(reason: &str) -> Error {
    Error::Format { what: "sketch", reason: reason.to_owned() }
}

impl SketchRecipe {
    /// Whether elements are ids that `mix64` made of [`Shingling::bits`] bits. Labels mix them once more.
    fn is_unmixed(&self) -> bool {
        !self.kind.has_coordinates() && !self.shingling.labelled
    }

    /// Number of bits of a stored element.
    fn element_bits(&self) -> u32 {
        match self.kind {
            // The number of the round, below twice the size, and 48 bits.
            SketchKind::Fast => 48 + (2 * self.size as u64).next_power_of_two().trailing_zeros(),
            SketchKind::Permutations => 32,
            _ if self.is_unmixed() => self.shingling.bits,
            _ => 64,
        }
    }

    /// Number of bytes of a stored element.
    fn element_bytes(&self) -> usize {
        self.element_bits().div_ceil(8) as usize
    }

    /// The stored form of an element.
    fn packed(&self, element: u64) -> u64 {
        if self.is_unmixed() {
            unmix64(element)
        } else {
            element
        }
    }

    /// The element of a stored form; `None` if it has too many bits.
    fn unpacked(&self, stored: u64) -> Option<u64> {
        let is_within = stored.checked_shr(self.element_bits()).unwrap_or(0) == 0;
        is_within.then(|| if self.is_unmixed() { mix64(stored) } else { stored })
    }
}

impl Sketch {
    /// Number of bytes when stored.
    pub fn len_bytes(&self) -> usize {
        HEADER + self.recipe.element_bytes() * self.values().len() + CHECKSUM
    }

    /// The sketch as bytes, the same on every machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Shingling { options, width, labelled, bits } = self.recipe.shingling;
        let unit = UNITS.iter().position(|unit| *unit == options.unit).unwrap_or(0) as u8;
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(options.homoglyphs, HOMOGLYPHS) | flag(labelled, LABELLED) | flag(self.is_exact, EXACT);
        let limit = match &self.body {
            SketchBody::Coordinates(_) => u64::MAX,
            SketchBody::Sample(sample) => sample.limit,
        };
        let mut out = Vec::with_capacity(self.len_bytes());
        out.extend(MAGIC);
        let each = self.recipe.element_bytes();
        out.extend([VERSION, TEXT_VERSION as u8, self.recipe.kind as u8, unit, flags, bits as u8, each as u8, 0]);
        out.extend((width as u32).to_le_bytes());
        out.extend((self.recipe.size as u32).to_le_bytes());
        for number in [self.recipe.modulus, self.shingles, limit, self.values().len() as u64] {
            out.extend(number.to_le_bytes());
        }
        for value in self.values() {
            out.extend(&self.recipe.packed(*value).to_le_bytes()[..each]);
        }
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }

    /// Reads a stored sketch. Errors: bytes that no sketch of this version or the one before has.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(&MAGIC) {
            return Err(refused("the bytes do not begin like a sketch; pass the bytes that to_bytes returned"));
        }
        let cut_off = || refused("the bytes are cut off; fetch them again");
        if bytes.len() < HEADER + CHECKSUM {
            return Err(cut_off());
        }
        // The text before differs only where look-alike letters are folded, which is the first of the flags.
        let is_before = bytes[5] == TEXT_VERSION_BEFORE as u8 && bytes[8] & 1 == 0;
        if !(WIDE..=VERSION).contains(&bytes[4]) || bytes[5] != TEXT_VERSION as u8 && !is_before {
            let found = format!("it has version {} of text {}", bytes[4], bytes[5]);
            return Err(refused(&format!(
                "{found}, this program reads {WIDE} and {VERSION} of text {TEXT_VERSION}; make it again"
            )));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        let is_short = |header: &[u8]| {
            let each = if bytes[4] == WIDE { 8 } else { u64::from(bytes[10]) };
            let count = header[44..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
            ((content.len() - HEADER) as u64) < count.saturating_mul(each)
        };
        if is_short(&content[..HEADER]) {
            return Err(cut_off());
        }
        if checksum != xxh3_64(content).to_le_bytes() {
            return Err(refused("the checksum is wrong, so the bytes are damaged; fetch them again"));
        }
        let (header, values) = content.split_at(HEADER);
        let sketch = SketchHeader::read(header).and_then(|header| header.sketch(values));
        sketch.ok_or_else(|| refused("its fields contradict each other, so this program did not write it"))
    }
}

/// The checked fields before the elements.
struct SketchHeader {
    recipe: SketchRecipe,
    is_exact: bool,
    shingles: u64,
    limit: u64,
    count: u64,
    /// Bytes of an element, and whether they are its stored form.
    each: usize,
    is_packed: bool,
}

impl SketchHeader {
    /// Reads the fields; `None` if they are not valid. REQUIRES: as many bytes as a header has.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, unit, flags) = (KINDS.get(usize::from(bytes[6]))?.0, *UNITS.get(usize::from(bytes[7]))?, bytes[8]);
        if flags & !(HOMOGLYPHS | LABELLED | EXACT) != 0 || bytes[11] != 0 {
            return None;
        }
        let narrow = |at: usize| bytes[at..].first_chunk().map(|four| u32::from_le_bytes(*four));
        let wide = |at: usize| bytes[at..].first_chunk().map(|eight| u64::from_le_bytes(*eight));
        let options = Options { unit, homoglyphs: flags & HOMOGLYPHS != 0 };
        let width = i64::from(narrow(12)?);
        let shingling = Shingling::new(options, width, flags & LABELLED != 0, i64::from(bytes[9])).ok()?;
        let (size, modulus) = (narrow(16)?, wide(20)?);
        let recipe = SketchRecipe::new(kind, i64::from(size), i64::try_from(modulus).ok()?, shingling).ok()?;
        // A parameter that the kind does not use has a fixed value.
        let is_packed = bytes[4] != WIDE;
        let (each, told) = if is_packed { (recipe.element_bytes(), recipe.element_bytes()) } else { (8, 0) };
        let is_plain = recipe.size as u64 == u64::from(size) && recipe.modulus == modulus;
        let is_plain = is_plain && usize::from(bytes[10]) == told;
        let (is_exact, shingles, limit, count) = (flags & EXACT != 0, wide(28)?, wide(36)?, wide(44)?);
        is_plain.then_some(Self { recipe, is_exact, shingles, limit, count, each, is_packed })
    }

    /// One element, from its bytes; `None` if it cannot be one.
    fn element(&self, bytes: &[u8]) -> Option<u64> {
        let number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        // Without shingles every coordinate is all ones.
        if self.recipe.kind.has_coordinates() && self.shingles == 0 {
            return bytes.iter().all(|byte| *byte == u8::MAX).then_some(EMPTY);
        }
        let stored = if self.is_packed { number } else { self.recipe.packed(number) };
        self.recipe.unpacked(stored)
    }

    fn sketch(self, values: &[u8]) -> Option<Sketch> {
        if self.count.checked_mul(self.each as u64) != Some(values.len() as u64) {
            return None;
        }
        let values: Vec<u64> =
            values.chunks_exact(self.each).map(|bytes| self.element(bytes)).collect::<Option<_>>()?;
        let body = if self.recipe.kind.has_coordinates() { self.coordinates(values)? } else { self.sample(values)? };
        Some(Sketch { recipe: self.recipe, body, shingles: self.shingles, is_exact: self.is_exact })
    }

    /// Checks coordinates: all are filled, or none is and there are no shingles.
    fn coordinates(&self, values: Vec<u64>) -> Option<SketchBody> {
        let is_sound = values.len() == self.recipe.size
            && self.limit == u64::MAX
            && values.iter().all(|value| (*value == EMPTY) == (self.shingles == 0));
        is_sound.then_some(SketchBody::Coordinates(values))
    }

    fn sample(&self, ids: Vec<u64>) -> Option<SketchBody> {
        let (limit, most) = self.recipe.shape(0);
        let is_limit = match self.recipe.kind {
            SketchKind::Adaptive => (0..64).any(|level| limit_of_level(level) == self.limit),
            _ => limit == self.limit,
        };
        let sample = Sample { ids, limit: self.limit, most };
        let len = sample.ids.len() as u64;
        let is_sound = is_limit
            && sample.ids.windows(2).all(|pair| pair[0] < pair[1])
            && sample.ids.last().is_none_or(|last| *last <= self.limit)
            && most.is_none_or(|most| sample.ids.len() <= most)
            && len <= self.shingles
            && (!sample.is_whole() || self.shingles == len);
        is_sound.then_some(SketchBody::Sample(sample))
    }
}
