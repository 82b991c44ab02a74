//! Sketches as bytes: a header with the recipe, the elements, a checksum. FORMAT.md describes the layout.
//!
//! Any bytes give either a sketch that could have been made, or an error with the reason.

use super::fast::EMPTY;
use super::kind::SketchKind;
use super::kind::{SketchRecipe, KINDS};
use super::sample::{limit_of_level, Sample};
use super::shingle::Shingling;
use super::sketching::{Sketch, SketchBody};
use crate::error::{Error, Result};
use crate::frontend::canonical::TEXT_VERSION;
use crate::frontend::{Options, Unit};
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of every stored sketch.
const MAGIC: [u8; 4] = *b"LASK";

/// Version of the layout and of all definitions that sketches use, except that of texts.
pub const VERSION: u8 = 1;

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

impl Sketch {
    /// Number of bytes when stored.
    pub fn len_bytes(&self) -> usize {
        HEADER + 8 * self.values().len() + CHECKSUM
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
        out.extend([VERSION, TEXT_VERSION as u8, self.recipe.kind as u8, unit, flags, bits as u8, 0, 0]);
        out.extend((width as u32).to_le_bytes());
        out.extend((self.recipe.size as u32).to_le_bytes());
        for number in [self.recipe.modulus, self.shingles, limit, self.values().len() as u64] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.values().iter().flat_map(|value| value.to_le_bytes()));
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }

    /// Reads a stored sketch. Errors: bytes that no sketch of this version has.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(&MAGIC) {
            return Err(refused("the bytes do not begin like a sketch; pass the bytes that to_bytes returned"));
        }
        let body_len = bytes.len().checked_sub(HEADER + CHECKSUM).filter(|len| len % 8 == 0);
        let Some((count, (content, checksum))) = body_len.map(|len| (len / 8, bytes.split_at(bytes.len() - CHECKSUM)))
        else {
            return Err(refused("the bytes are cut off; fetch them again"));
        };
        if bytes[4] != VERSION || u32::from(bytes[5]) != u32::from(TEXT_VERSION as u8) {
            let found = format!("it has version {} of text {}", bytes[4], bytes[5]);
            return Err(refused(&format!(
                "{found}, this program reads {VERSION} of text {TEXT_VERSION}; make it again"
            )));
        }
        if checksum != xxh3_64(content).to_le_bytes() {
            return Err(refused("the checksum is wrong, so the bytes are damaged; fetch them again"));
        }
        let (header, values) = content.split_at(HEADER);
        let sketch = SketchHeader::read(header).and_then(|header| header.sketch(count, values));
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
}

impl SketchHeader {
    /// Reads the fields; `None` if they are not valid. REQUIRES: as many bytes as a header has.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, unit, flags) = (KINDS.get(usize::from(bytes[6]))?.0, *UNITS.get(usize::from(bytes[7]))?, bytes[8]);
        if flags & !(HOMOGLYPHS | LABELLED | EXACT) != 0 || bytes[10] != 0 || bytes[11] != 0 {
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
        let is_plain = recipe.size as u64 == u64::from(size) && recipe.modulus == modulus;
        let header =
            Self { recipe, is_exact: flags & EXACT != 0, shingles: wide(28)?, limit: wide(36)?, count: wide(44)? };
        is_plain.then_some(header)
    }

    fn sketch(self, count: usize, values: &[u8]) -> Option<Sketch> {
        let values: Vec<u64> = values
            .chunks_exact(8)
            .filter_map(|eight| eight.first_chunk())
            .map(|eight| u64::from_le_bytes(*eight))
            .collect();
        if self.count != count as u64 {
            return None;
        }
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
