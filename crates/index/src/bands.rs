//! Documents that share a band with a sketch, for indexes of hash values alone (`MinHashLSH` on disk).
//!
//! A sketch of hash values is cut into bands of the same width (Leskovec, Rajaraman and Ullman, *Mining of Massive Datasets*, chapter 3).
//! The feature of a band is XXH3-64 of its hash values, 8 little-endian bytes each, with the number of the band as seed. All hash values
//! are stored as the sketch of the document, the lower half of each first. Two bands with the same feature are compared value by value, so
//! that a collision of features never shows.
//!
//! Cost of a search: one look-up per band and segment, and one stored sketch per document found.

use crate::record::{Document, NO_TIME};
use crate::segment::Which;
use crate::snapshot::Snapshot;
use lookalike_table::{Error, Result};
use std::collections::HashSet;
use std::ops::Range;
use xxhash_rust::xxh3::{xxh3_128, xxh3_64_with_seed};

/// How hash values are cut into bands. Those behind the last band are stored, and belong to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    count: usize,
    width: usize,
}

impl Bands {
    /// So many bands of so many hash values each. Errors: there are none, or more values than a sketch can have.
    pub fn new(count: usize, width: usize) -> Result<Self> {
        match count.checked_mul(width) {
            Some(1..=0xFFFF_FFFF) => Ok(Self { count, width }),
            _ => Err(Error::refused(format!("`{count}` bands of `{width}` hash values cannot be made: use 1 or more"))),
        }
    }

    /// The places of the hash values of a band.
    fn places(self, band: usize) -> Range<usize> {
        band * self.width..(band + 1) * self.width
    }

    /// Errors: there are fewer hash values than the bands take.
    fn check(self, values: &[u64]) -> Result<()> {
        let needed = self.count * self.width;
        match values.len() < needed {
            true => Err(Error::refused(format!("`{}` hash values are too few: the bands take {needed}", values.len()))),
            false => Ok(()),
        }
    }

    /// The feature of a band. REQUIRES: `check` found enough values.
    fn feature(self, values: &[u64], band: usize) -> u64 {
        xxh3_64_with_seed(&bytes_of(&values[self.places(band)]), band as u64)
    }

    /// The document of a sketch. Errors: it has too few hash values.
    pub fn document(self, id: &[u8], meta: &[u8], values: &[u64]) -> Result<Document> {
        self.check(values)?;
        Ok(Document {
            id: id.to_vec(),
            meta: meta.to_vec(),
            time: NO_TIME,
            content: xxh3_128(&bytes_of(values)),
            features: (0..self.count).map(|band| self.feature(values, band)).collect(),
            sketch: values.iter().flat_map(|value| [*value as u32, (*value >> 32) as u32]).collect(),
            ..Document::default()
        })
    }

    /// The live documents that share one of the first bands, each once: band by band, and in order of arrival within a band. Errors: too few
    /// hash values, or damaged.
    pub fn sharing(self, snapshot: &Snapshot, values: &[u64], bands: usize) -> Result<Vec<u64>> {
        self.check(values)?;
        let mut keys: Vec<_> = (0..self.count.min(bands)).map(|band| (self.feature(values, band), band)).collect();
        keys.sort_unstable();
        let features: Vec<_> = keys.iter().map(|(feature, _)| *feature).collect();
        let mut holders = Vec::new();
        snapshot.holders(Which::Features, &features, |place, number| holders.push((keys[place].1, number)))?;
        holders.sort_unstable();
        let (mut found, mut known) = (Vec::new(), HashSet::new());
        for (band, number) in holders {
            if !known.contains(&number) && self.shares(snapshot, number, values, band)? {
                known.insert(number);
                found.push(number);
            }
        }
        Ok(found)
    }

    /// Whether a document has the same hash values in a band.
    fn shares(self, snapshot: &Snapshot, number: u64, values: &[u64], band: usize) -> Result<bool> {
        let places = self.places(band);
        Ok(stored_values(snapshot, number)?.get(places.clone()) == values.get(places))
    }
}

/// The hash values of a document. Errors: there is no such document, or damaged.
pub fn stored_values(snapshot: &Snapshot, number: u64) -> Result<Vec<u64>> {
    let halves = snapshot.sketch(number)?;
    let (pairs, _) = halves.as_chunks();
    Ok(pairs.iter().map(|[lower, upper]| u64::from(*lower) | u64::from(*upper) << 32).collect())
}

fn bytes_of(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::Bitmap;
    use crate::segment::Segment;
    use crate::snapshot::Part;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// Documents band by band, in order of arrival within a band.
    fn naive(bands: Bands, stored: &[Vec<u64>], removed: &[usize], values: &[u64], most: usize) -> Vec<u64> {
        let mut found = Vec::new();
        for band in 0..bands.count.min(most) {
            for (number, one) in stored.iter().enumerate() {
                let is_same = one[bands.places(band)] == values[bands.places(band)];
                if is_same && !removed.contains(&number) && !found.contains(&(number as u64)) {
                    found.push(number as u64);
                }
            }
        }
        found
    }

    fn segment(bands: Bands, stored: &[Vec<u64>]) -> Arc<Segment> {
        let document = |values: &Vec<u64>| bands.document(b"id", b"{}", values).expect("in range");
        Arc::new(Segment::of_documents(&stored.iter().map(document).collect::<Vec<_>>(), b"{}").expect("in range"))
    }

    fn sketches() -> impl Strategy<Value = Vec<Vec<u64>>> {
        prop::collection::vec(prop::collection::vec(prop_oneof![0..3u64, u64::MAX - 1..=u64::MAX], 7), 0..30)
    }

    proptest! {
        #[test]
        fn the_bands_match_naive(
            stored in sketches(), asked in prop::collection::vec(0..3u64, 7), cut in 0..30usize, count in 1..4usize,
            width in 1..3usize, most in 0..5usize, removed in 0..30usize,
        ) {
            let bands = Bands::new(count, width).expect("in range");
            let (left, right) = stored.split_at(cut.min(stored.len()));
            let removed: Vec<_> = Some(removed).filter(|row| *row < left.len()).into_iter().collect();
            let marks = Bitmap::of_rows(left.len() as u64, removed.iter().map(|row| *row as u64)).expect("in range");
            let parts = vec![Part::without(segment(bands, left), marks).expect("in range"), Part::of(segment(bands, right))];
            let snapshot = Snapshot::new(parts).expect("in range");
            let found = bands.sharing(&snapshot, &asked, most).expect("in range");
            prop_assert_eq!(found, naive(bands, &stored, &removed, &asked, most));
            for (number, values) in stored.iter().enumerate() {
                prop_assert_eq!(&stored_values(&snapshot, number as u64).expect("in range"), values);
            }
        }
    }

    #[test]
    fn a_collision_of_features_is_no_answer() {
        let bands = Bands::new(2, 1).expect("in range");
        let mut document = bands.document(b"other", b"{}", &[7, 8]).expect("in range");
        document.features = bands.document(b"asked", b"{}", &[1, 2]).expect("in range").features;
        let segment = Segment::of_documents(&[document], b"{}").expect("in range");
        let snapshot = Snapshot::new(vec![Part::of(Arc::new(segment))]).expect("in range");
        assert!(bands.sharing(&snapshot, &[1, 2], 2).expect("in range").is_empty());
    }

    #[test]
    fn too_few_values_are_refused() {
        assert!(Bands::new(0, 4).is_err() && Bands::new(usize::MAX, 2).is_err());
        let bands = Bands::new(2, 2).expect("in range");
        assert!(bands.document(b"a", b"{}", &[1, 2, 3]).is_err());
        assert!(bands.sharing(&Snapshot::default(), &[1, 2, 3], 2).is_err());
    }
}
