//! Records against the documents they were made of, whole and damaged.

use crate::record::{Document, Leader, SHADOW};
use xxhash_rust::xxh3::xxh3_64;

fn document() -> Document {
    Document {
        id: b"caf\xC3\xA9/\xFF".to_vec(),
        meta: b"{}".to_vec(),
        submitter: u64::MAX,
        known_as: 1,
        time: -5,
        flags: SHADOW,
        leader: Some(Leader { id: b"a".to_vec(), score: 0.75, link: 3 }),
        content: u128::MAX / 3,
        postings: vec![3, 5],
        literals: vec![9, 9, 1],
        features: vec![u64::MAX],
        sketch: vec![1, u32::MAX],
        samples: vec![0, 1],
        simhash: Some(0),
        shingles: 7,
        length: 8,
        bytes: u64::MAX,
        tokens: vec![0; 200],
        text: vec![255; 3],
    }
}

#[test]
fn a_record_is_its_document() {
    for document in [document(), Document::default()] {
        assert_eq!(Document::decode(&document.encode()).expect("sound"), document);
    }
}

#[test]
fn a_record_of_version_1_is_read_without_places() {
    let document = document();
    let made = document.encode();
    let (mut keys, mut placed) = (vec![2], vec![3]);
    keys.extend([3u64, 5].iter().flat_map(|key| key.to_le_bytes()));
    // Key 5 at tokens 0 to 2^32 - 1, key 3 at token 300, key 5 at token 1.
    for (key, places) in [(5u64, &[0, 255, 255, 255, 255, 15][..]), (3, &[172, 2, 0]), (5, &[1, 0])] {
        placed.extend(key.to_le_bytes());
        placed.extend(places);
    }
    let at = made.windows(keys.len()).position(|window| window == keys).expect("the postings");
    let version = |number: u8, postings: &[u8]| {
        let body = [&[number], &made[1..at], postings, &made[at + keys.len()..made.len() - 8]].concat();
        [&body[..], &xxh3_64(&body).to_le_bytes()].concat()
    };
    assert_eq!(version(2, &keys), made);
    assert_eq!(Document::decode(&version(1, &placed)).expect("sound"), document);
    for wrong in [version(0, &placed), version(3, &keys), version(1, &keys), version(2, &placed)] {
        assert!(Document::decode(&wrong).is_err());
    }
}

#[test]
fn every_flipped_byte_and_every_cut_is_noticed() {
    let bytes = document().encode();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(Document::decode(&flipped).is_err(), "byte {at}");
        assert!(Document::decode(&bytes[..at]).is_err(), "cut to {at}");
    }
    assert!(Document::decode(&[&bytes[..], &[0]].concat()).is_err());
}
