//! Inverse document frequencies of features in a corpus, computed once and stored.
//!
//! A feature that n of N documents have weighs `ln(1 + N/n)`, as a fixed-point weight. A feature that is not in the
//! table weighs as if one document had it. A stored table gives the same weights on every machine, because the
//! logarithm is computed only when it is made.
//!
//! Cost: 12 bytes per feature, and about 8 more in memory. A weight takes one lookup in a directory and a short search.
//! FORMAT.md describes the bytes.

use super::vote::SIMHASH_VERSION;
use super::weight::{Weight, FRACTION};
use crate::error::{Error, Result};
use crate::frontend::canonical::{TEXT_VERSION, TEXT_VERSION_BEFORE};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Version of the stored form.
pub const IDF_VERSION: u8 = 1;
const MAGIC: &[u8; 4] = b"LAID";
/// Bytes before the values, and after the weights.
const HEADER: usize = 32;
const DIGEST: usize = 8;

/// A table of weights of features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idf {
    documents: u64,
    /// The weight of features that are not in the table.
    unseen: Weight,
    /// The values of the features, ascending and distinct.
    values: Vec<u64>,
    /// The weight of each value.
    weights: Vec<Weight>,
    /// The start of the values with each number in their highest bits: about one value each, so searches are short.
    /// This needs uniform values, such as hashes; with other values searches are only slower.
    starts: Vec<u32>,
}

/// Number of high bits by which the directory finds values in a table of `len`.
fn directory_bits(len: usize) -> u32 {
    (usize::BITS - len.leading_zeros()).clamp(1, 26)
}

/// The start of the values of each prefix, and the end of the last. REQUIRES: the values ascend.
fn directory(values: &[u64]) -> Vec<u32> {
    let bits = directory_bits(values.len());
    let mut starts = vec![0; (1 << bits) + 1];
    values.iter().for_each(|value| starts[(value >> (64 - bits)) as usize + 1] += 1);
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    starts
}

impl Idf {
    fn new(documents: u64, unseen: Weight, values: Vec<u64>, weights: Vec<Weight>) -> Self {
        let starts = directory(&values);
        Self { documents, unseen, values, weights, starts }
    }

    /// Number of documents of the corpus.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of features in the table.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the table has no features.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The weight of a feature, by its value.
    pub fn weight(&self, value: u64) -> Weight {
        let prefix = (value >> (64 - directory_bits(self.len()))) as usize;
        let range = self.starts[prefix] as usize..self.starts[prefix + 1] as usize;
        let found = self.values[range.clone()].binary_search(&value);
        found.map_or(self.unseen, |place| self.weights[range.start + place])
    }

    /// The table as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + 12 * self.len() + DIGEST);
        out.extend_from_slice(MAGIC);
        out.extend([IDF_VERSION, TEXT_VERSION as u8, SIMHASH_VERSION as u8, 0]);
        out.extend(self.documents.to_le_bytes());
        out.extend(self.unseen.0.to_le_bytes());
        out.extend([0; 4]);
        out.extend((self.len() as u64).to_le_bytes());
        out.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        out.extend(self.weights.iter().flat_map(|weight| weight.0.to_le_bytes()));
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }

    /// Reads a stored table. Errors: damaged bytes, or another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = |reason: &str| Error::Format { what: "idf table", reason: reason.to_owned() };
        let body = bytes.len().checked_sub(DIGEST).and_then(|len| bytes.get(..len)).unwrap_or_default();
        if body.len() < HEADER || !body.starts_with(MAGIC) {
            return Err(wrong("it is not an idf table; make one with `idf_table`"));
        }
        let versions = [IDF_VERSION, TEXT_VERSION as u8, SIMHASH_VERSION as u8];
        let before = [IDF_VERSION, TEXT_VERSION_BEFORE as u8, SIMHASH_VERSION as u8];
        if body[4..7] != versions && body[4..7] != before {
            let reason =
                format!("it has versions `{:?}`, this program reads `{versions:?}`; make it again", &body[4..7]);
            return Err(wrong(&reason));
        }
        if xxh3_64(body).to_le_bytes() != bytes[body.len()..] {
            return Err(wrong("its checksum is wrong: the bytes are damaged; make it again"));
        }
        let count = number(body, 24);
        if count.checked_mul(12) != Some((body.len() - HEADER) as u64) {
            return Err(wrong("its length is wrong; make it again"));
        }
        let (values, weights) = body[HEADER..].split_at(8 * count as usize);
        let values: Vec<u64> = values.as_chunks().0.iter().map(|value| u64::from_le_bytes(*value)).collect();
        let weights = weights.as_chunks().0.iter().map(|weight| Weight(i32::from_le_bytes(*weight))).collect();
        if !values.windows(2).all(|pair| pair[0] < pair[1]) || values.len() > u32::MAX as usize {
            return Err(wrong("its values do not ascend or are too many; make it again"));
        }
        Ok(Self::new(number(body, 8), Weight(number(body, 16) as i32), values, weights))
    }
}

/// The number in the eight bytes at `at`; 0 beyond the end.
fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Counts the documents that have each feature.
#[derive(Clone, Debug, Default)]
pub struct DocumentCounter {
    documents: u64,
    counts: HashMap<u64, u32>,
}

impl DocumentCounter {
    /// Adds a document by the values of its features; sorts them.
    pub fn add(&mut self, values: &mut Vec<u64>) {
        values.sort_unstable();
        values.dedup();
        self.documents += 1;
        values.iter().for_each(|value| *self.counts.entry(*value).or_insert(0) += 1);
    }

    /// Adds the counts of another counter.
    pub fn merge(&mut self, other: Self) {
        self.documents += other.documents;
        other.counts.into_iter().for_each(|(value, count)| *self.counts.entry(value).or_insert(0) += count);
    }

    /// Makes the table of all features that at least `least` documents have.
    pub fn table(&self, least: u32) -> Idf {
        let listed = self.counts.iter().filter(|(_, count)| **count >= least);
        let mut rows: Vec<(u64, Weight)> = listed.map(|(value, count)| (*value, self.weight(*count))).collect();
        rows.sort_unstable();
        let (values, weights) = rows.into_iter().unzip();
        Idf::new(self.documents, self.weight(1), values, weights)
    }

    fn weight(&self, count: u32) -> Weight {
        let idf = (self.documents.max(1) as f64 / f64::from(count)).ln_1p();
        Weight((idf * f64::from(1 << FRACTION)).round() as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix64;
    use crate::testing::fixed;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn table(documents: &[Vec<u64>], least: u32) -> Idf {
        let mut counter = DocumentCounter::default();
        documents.iter().for_each(|values| counter.add(&mut values.clone()));
        counter.table(least)
    }

    proptest! {
        #![proptest_config(fixed(200))]

        #[test]
        fn rare_features_weigh_more_and_tables_come_back(documents in vec(vec(0u64..40, 0..30), 0..20), least in 1u32..4, is_mixed: bool) {
            let documents: Vec<Vec<u64>> = if is_mixed { documents.iter().map(|values| values.iter().map(|value| mix64(*value)).collect()).collect() } else { documents };
            let made = table(&documents, least);
            let holders = |value: u64| documents.iter().filter(|values| values.contains(&value)).count() as u32;
            for value in (0..45).map(|value| if is_mixed { mix64(value) } else { value }) {
                let count = if holders(value) >= least.max(1) { holders(value) } else { 1 };
                let expected = (1.0 + documents.len().max(1) as f64 / f64::from(count)).ln() * 65536.0;
                prop_assert!((f64::from(made.weight(value).0) - expected).abs() < 0.51);
            }
            prop_assert_eq!(Idf::from_bytes(&made.to_bytes()), Ok(made));
        }

        #[test]
        fn no_damage_goes_unnoticed(at in any::<prop::sample::Index>(), flip in 1u8..=255, cut in any::<prop::sample::Index>()) {
            let bytes = table(&[vec![1, 2, 3], vec![2, 3], vec![3]], 1).to_bytes();
            let mut damaged = bytes.clone();
            damaged[at.index(bytes.len())] ^= flip;
            prop_assert!(Idf::from_bytes(&damaged).is_err());
            prop_assert!(Idf::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
        }

        #[test]
        fn no_bytes_make_it_fail(bytes in vec(any::<u8>(), 0..80)) {
            prop_assert!(Idf::from_bytes(&bytes).is_err());
            prop_assert!(Idf::from_bytes(&[&b"LAID\x01\x01\x01\0"[..], &bytes].concat()).is_err());
        }
    }

    #[test]
    fn counters_add_up() {
        let mut left = DocumentCounter::default();
        left.add(&mut vec![3, 1, 3]);
        let mut right = DocumentCounter::default();
        right.add(&mut vec![3]);
        left.merge(right);
        assert_eq!(left.table(1), table(&[vec![1, 3], vec![3]], 1));
        assert_eq!((left.table(2).len(), left.table(2).documents()), (1, 2));
    }
}
