//! Records against the documents they were made of, whole and damaged.

use crate::record::{Document, Leader, Posting, SHADOW};

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
        postings: vec![Posting { key: 5, token: 300, last: 300 }, Posting { key: 5, token: 0, last: u32::MAX }],
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
