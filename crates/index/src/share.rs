//! Documents for another institution: every key is a keyed hash, and texts, names, metadata, places and simhashes are left out.
//!
//! A key of a question becomes SipHash-2-4 (Aumasson, Bernstein 2012) of its kind and value, under a secret of 16 bytes. Equal keys stay
//! equal, so whoever has the secret can ask: the question is changed in the same way. Without the secret nobody can test a guess, because
//! no key of a guessed text can be computed. What stays visible: how many keys, shingles, tokens and bytes a document has, which documents
//! share how many keys, and which have one submitter. A simhash is left out, because its bits must stay as they are to be compared.
//!
//! Cost: about 20 ns per key.

use crate::record::{Document, NO_TIME};
use siphasher::sip::SipHasher24;
use std::hash::Hasher;

/// Bytes of a secret.
pub const SECRET: usize = 16;

/// What a value is; the same value of two kinds has two hashes.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Kind {
    Id = 1,
    Submitter,
    Content,
    Posting,
    Literal,
    Feature,
    Element,
    Sample,
    Check,
}

/// A secret that partners share.
#[derive(Clone)]
pub struct ShareKey([u8; SECRET]);

impl ShareKey {
    /// Takes a secret. It must be chosen at random.
    pub fn new(secret: [u8; SECRET]) -> Self {
        Self(secret)
    }

    /// A number by which an index knows that it is asked with its own secret, and that tells nothing else about it.
    pub fn check(&self) -> u64 {
        self.hash(Kind::Check, &[])
    }

    fn hash(&self, kind: Kind, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write_u8(kind as u8);
        hasher.write(bytes);
        hasher.finish()
    }

    fn keys(&self, kind: Kind, keys: &[u64]) -> Vec<u64> {
        keys.iter().map(|key| self.hash(kind, &key.to_le_bytes())).collect()
    }

    /// The document as it may leave the house.
    pub fn shared(&self, document: &Document) -> Document {
        let one = |kind, value: u64| self.hash(kind, &value.to_le_bytes());
        let half = |number: u8| {
            let bytes = [&document.content.to_le_bytes()[..], &[number]].concat();
            u128::from(self.hash(Kind::Content, &bytes))
        };
        let element = |(at, value): (u64, &u32)| one(Kind::Element, at << 32 | u64::from(*value)) as u32;
        Document {
            id: format!("{:016x}", self.hash(Kind::Id, &document.id)).into_bytes(),
            meta: b"{}".to_vec(),
            submitter: if document.submitter == 0 { 0 } else { one(Kind::Submitter, document.submitter) },
            known_as: 0,
            time: NO_TIME,
            flags: document.flags,
            leader: None,
            content: half(0) << 64 | half(1),
            postings: ascending(self.keys(Kind::Posting, &document.postings)),
            literals: ascending(self.keys(Kind::Literal, &document.literals)),
            features: self.keys(Kind::Feature, &document.features),
            sketch: (0..).zip(&document.sketch).map(element).collect(),
            samples: ascending(self.keys(Kind::Sample, &document.samples)),
            simhash: None,
            shingles: document.shingles,
            length: document.length,
            bytes: document.bytes,
            tokens: Vec::new(),
            text: Vec::new(),
        }
    }
}

impl std::fmt::Debug for ShareKey {
    /// Never shows the secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ShareKey(…)")
    }
}

/// The keys in ascending order, each once: their order in the text says something about it.
fn ascending(mut keys: Vec<u64>) -> Vec<u64> {
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn document(postings: &[u64], sketch: &[u32], samples: &[u64]) -> Document {
        Document {
            id: b"alice".to_vec(),
            meta: br#"{"title": "alice"}"#.to_vec(),
            submitter: 7,
            known_as: 9,
            time: 1,
            content: 5 << 64 | 6,
            postings: postings.to_vec(),
            literals: postings.to_vec(),
            features: postings.to_vec(),
            sketch: sketch.to_vec(),
            samples: samples.to_vec(),
            simhash: Some(1),
            tokens: b"tokens".to_vec(),
            text: b"text".to_vec(),
            ..Document::default()
        }
    }

    fn common(a: &[u64], b: &[u64]) -> usize {
        let [a, b] = [a, b].map(|keys| keys.iter().collect::<HashSet<_>>());
        a.intersection(&b).count()
    }

    proptest! {
        #[test]
        fn shared_keys_stay_shared_and_no_others_become_so(
            one in vec(0u64..50, 0..40), other in vec(0u64..50, 0..40), sketches in vec((0u32..4, 0u32..4), 0..30),
        ) {
            let key = ShareKey::new([3; SECRET]);
            let (left, right): (Vec<u32>, Vec<u32>) = sketches.into_iter().unzip();
            let before = [document(&one, &left, &one), document(&other, &right, &other)];
            let [a, b] = [key.shared(&before[0]), key.shared(&before[1])];
            prop_assert_eq!(common(&a.postings, &b.postings), common(&one, &other));
            prop_assert_eq!(common(&a.literals, &b.literals), common(&one, &other));
            prop_assert_eq!(common(&a.features, &b.features), common(&one, &other));
            prop_assert_eq!(common(&a.samples, &b.samples), common(&one, &other));
            let equal = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count();
            prop_assert_eq!(equal(&a.sketch, &b.sketch), equal(&left, &right));
            prop_assert!(a.samples.is_sorted() && a.postings.is_sorted());
            // Another secret, or another kind of key, has nothing in common with it.
            let foreign = ShareKey::new([4; SECRET]).shared(&before[0]);
            prop_assert_eq!(common(&a.features, &foreign.features) + common(&a.features, &a.samples), 0);
            prop_assert_eq!(common(&a.features, &before[0].features), 0);
        }
    }

    #[test]
    fn nothing_that_can_be_read_leaves_the_house() {
        let made = ShareKey::new([1; SECRET]).shared(&document(&[1, 2], &[3], &[4]));
        let record = made.encode();
        for secret in [&b"alice"[..], b"title", b"tokens", b"text"] {
            assert!(!record.windows(secret.len()).any(|window| window == secret));
        }
        assert_eq!((made.time, made.known_as, made.simhash), (NO_TIME, 0, None));
        assert!(made.submitter != 7 && made.content != 5 << 64 | 6);
        assert_eq!(format!("{:?}", ShareKey::new([1; SECRET])), "ShareKey(…)");
        assert_ne!(ShareKey::new([1; SECRET]).check(), ShareKey::new([2; SECRET]).check());
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // The first vector of the paper's reference program: key 00 01 … 0f, the message of one byte 00.
        let key = ShareKey::new(std::array::from_fn(|i| i as u8));
        let mut hasher = SipHasher24::new_with_key(&key.0);
        hasher.write(&[0]);
        assert_eq!(hasher.finish(), 0x74f8_39c5_93dc_67fd);
    }
}
