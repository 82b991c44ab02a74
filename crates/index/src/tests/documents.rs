//! Documents of much and of little entropy, with empty, repeated and huge fields.

use super::mix64;
use crate::record::{Document, Leader, NO_TIME};
use crate::shadows::shadow_of;
use proptest::prelude::*;

/// Keys that many documents share, and extreme ones.
fn key() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..4, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn keys() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(key(), 0..5)
}

/// Bytes: none, few, and rarely more than a page.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        20 => prop::collection::vec(any::<u8>(), 0..5),
        1 => (33_000usize..70_000).prop_map(|length| (0..length as u64).map(|i| mix64(i) as u8).collect::<Vec<u8>>()),
    ]
}

/// Ids of which several documents have one.
fn id() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![8 => (0u8..6).prop_map(|id| vec![b'a' + id]), 1 => Just(Vec::new()), 1 => bytes()]
}

/// Content hashes that share halves.
fn content() -> impl Strategy<Value = u128> {
    (0u64..3, 0u64..3).prop_map(|(upper, lower)| u128::from(upper) << 64 | u128::from(lower))
}

fn leader() -> impl Strategy<Value = Option<Leader>> {
    prop::option::of((id(), 0u8..4, any::<u8>()).prop_map(|(id, score, link)| Leader {
        id,
        score: f32::from(score) / 4.0,
        link,
    }))
}

type Told = (Vec<u8>, Vec<u8>, u64, u64, i64, u32, Option<Leader>, u128);
type Keys = (Vec<u64>, Vec<u64>, Vec<u64>, Vec<u32>, Vec<u64>, Option<u64>);
type Stored = (u32, u32, u64, Vec<u8>, Vec<u8>);

fn told() -> impl Strategy<Value = Told> {
    let time = prop_oneof![Just(NO_TIME), any::<i64>(), 0i64..9];
    (id(), bytes(), key(), key(), time, 0u32..4, leader(), content())
}

fn keyed() -> impl Strategy<Value = Keys> {
    let sketch = prop::collection::vec(any::<u32>(), 0..3);
    (keys(), keys(), keys(), sketch, keys(), prop::option::of(any::<u64>()))
}

fn stored() -> impl Strategy<Value = Stored> {
    (any::<u32>(), any::<u32>(), any::<u64>(), bytes(), bytes())
}

/// A document as it is stored: nothing that can be read of a shadow.
fn as_stored(document: Document) -> Document {
    if !document.is_shadow() {
        return document;
    }
    let leader = document.leader.clone().unwrap_or_default();
    Document { flags: document.flags, ..shadow_of(&document, document.meta.clone(), leader) }
}

/// Any document.
pub fn any_document() -> impl Strategy<Value = Document> {
    (told(), keyed(), stored()).prop_map(|(told, keys, stored)| {
        let (id, meta, submitter, known_as, time, flags, leader, content) = told;
        let (postings, literals, features, sketch, samples, simhash) = keys;
        let (shingles, length, bytes, tokens, text) = stored;
        as_stored(Document {
            id,
            meta,
            submitter,
            known_as,
            time,
            flags,
            leader,
            content,
            postings,
            literals,
            features,
            sketch,
            samples,
            simhash,
            shingles,
            length,
            bytes,
            tokens,
            text,
        })
    })
}

/// A document as a segment returns it: keys sorted and once each.
pub fn normal(document: &Document) -> Document {
    let mut normal = document.clone();
    for keys in [&mut normal.postings, &mut normal.literals, &mut normal.features, &mut normal.samples] {
        keys.sort_unstable();
        keys.dedup();
    }
    normal
}

/// Documents of a fixed seed, with all fields.
pub fn many(count: u64, seed: u64) -> Vec<Document> {
    (0..count).map(|number| one(mix64(seed.wrapping_mul(1 << 20) + number), number)).collect()
}

fn one(bits: u64, number: u64) -> Document {
    let some = |salt: u64, count: u64, range: u64| (0..count).map(move |i| mix64(bits ^ salt << 32 ^ i) % range);
    as_stored(Document {
        id: format!("document {number} of {bits:x}").into_bytes(),
        meta: br#"{"title": "a"}"#.to_vec(),
        submitter: bits % 7,
        known_as: bits % 2,
        time: number as i64,
        flags: u32::from(bits % 4 == 1),
        leader: (bits % 4 == 1).then(|| Leader { id: b"x".to_vec(), score: 0.5, link: 1 }),
        content: u128::from(bits) << 64 | u128::from(number),
        postings: some(1, 6, 40).collect(),
        literals: some(2, 2, 20).collect(),
        features: some(3, 4, 60).collect(),
        sketch: some(4, 4, 1 << 32).map(|element| element as u32).collect(),
        samples: some(5, 3, 50).collect(),
        simhash: (!bits.is_multiple_of(5)).then_some(bits),
        shingles: 10,
        length: 20,
        bytes: 30,
        tokens: vec![7; (bits % 3) as usize],
        text: some(6, bits % 40, 256).map(|byte| byte as u8).collect(),
    })
}
