//! A snapshot as a plain list of documents with a flag each: so simple that it is right. And the comparison of the two.

use crate::record::{Document, SHADOW};
use crate::segment::StoredRow;
use crate::shadows::hash_of;
use crate::snapshot::{Snapshot, Submitters};
use crate::Which;
use std::collections::BTreeSet;

/// Documents in order of arrival, and whether each is live.
#[derive(Clone, Debug, Default)]
pub struct Naive(pub Vec<(Document, bool)>);

/// The keys of a document in a table.
fn keys(document: &Document, which: Which) -> Vec<u64> {
    match which {
        Which::Postings => document.postings.clone(),
        Which::Literals => document.literals.clone(),
        Which::Features => document.features.clone(),
        Which::Samples => document.samples.clone(),
    }
}

impl Naive {
    fn live(&self) -> impl DoubleEndedIterator<Item = (u64, &Document)> {
        let numbered = self.0.iter().enumerate().map(|(number, row)| (number as u64, row));
        numbered.filter(|(_, (_, is_live))| *is_live).map(|(number, (document, _))| (number, document))
    }

    fn find_id(&self, id: &[u8]) -> Option<u64> {
        let is_it = |document: &Document| !document.is_shadow() && document.id == id;
        self.live().rev().find(|(_, document)| is_it(document)).map(|(number, _)| number)
    }

    fn find_hash(&self, hash: &[u8]) -> Option<u64> {
        let is_it = |document: &Document| !document.is_shadow() && hash_of(&document.id)[..] == *hash;
        self.live().rev().find(|(_, document)| is_it(document)).map(|(number, _)| number)
    }

    fn shadows(&self) -> impl Iterator<Item = (u64, &Document)> {
        self.live().filter(|(_, document)| document.is_shadow())
    }

    fn find_shadows(&self, id: &[u8]) -> Vec<u64> {
        self.shadows().filter(|(_, shadow)| shadow.id == hash_of(id)).map(|(number, _)| number).collect()
    }

    fn followers(&self, leader: u64) -> Vec<u64> {
        let (document, _) = &self.0[leader as usize];
        let hash = hash_of(&document.id);
        let follows = |shadow: &Document| shadow.leader.as_ref().is_some_and(|leader| leader.id == hash);
        let later = self.shadows().filter(|(number, shadow)| *number > leader && follows(shadow));
        later.map(|(number, _)| number).filter(|_| !document.is_shadow()).collect()
    }

    fn find_content(&self, content: u128) -> Vec<u64> {
        self.live().filter(|(_, document)| document.content == content).map(|(number, _)| number).collect()
    }

    fn holders(&self, which: Which, key: u64) -> Vec<u64> {
        self.live().filter(|(_, document)| keys(document, which).contains(&key)).map(|(number, _)| number).collect()
    }

    fn submitters(&self) -> Submitters {
        let mut found = Submitters::default();
        for (number, document) in self.live().filter(|(_, document)| document.flags & SHADOW == 0) {
            found.numbers.push(number);
            found.submitters.push(document.submitter);
            found.known_as.push(document.known_as);
            found.flags.push(document.flags);
        }
        found
    }

    /// All keys, and some that nobody has.
    fn all_keys(&self, which: Which) -> Vec<u64> {
        let all: BTreeSet<u64> = self.0.iter().flat_map(|(document, _)| keys(document, which)).collect();
        let others = [0, 1, 17, 1 << 40, u64::MAX - 1];
        let mut all: Vec<u64> = all.into_iter().chain(others).collect();
        all.sort_unstable();
        all
    }
}

fn stored(document: &Document) -> StoredRow {
    StoredRow {
        id: document.id.clone(),
        meta: document.meta.clone(),
        submitter: document.submitter,
        known_as: document.known_as,
        time: document.time,
        flags: document.flags,
        content: document.content,
        shingles: document.shingles,
        length: document.length,
        bytes: document.bytes,
        leader: document.leader.clone(),
    }
}

/// Asserts that every answer of a snapshot is that of the list.
pub fn assert_matches(snapshot: &Snapshot, naive: &Naive) {
    assert_eq!(snapshot.rows(), naive.0.len() as u64);
    assert_eq!(snapshot.live(), naive.live().count() as u64);
    assert!(snapshot.place(snapshot.rows()).is_err() && !snapshot.is_live(snapshot.rows()));
    for (number, (document, is_live)) in naive.0.iter().enumerate() {
        let number = number as u64;
        assert_eq!(snapshot.is_live(number), *is_live, "{number}");
        assert_eq!(snapshot.row(number).expect("row"), stored(document), "{number}");
        assert_eq!(*snapshot.id(number).expect("id"), document.id);
        assert_eq!(snapshot.flags(number).expect("flags"), document.flags);
        assert_eq!(snapshot.sketch(number).expect("sketch"), document.sketch);
        assert_eq!(snapshot.tokens(number).expect("tokens").unwrap_or_default(), document.tokens);
        assert_eq!(snapshot.text(number).expect("text").unwrap_or_default(), document.text);
        assert_eq!(snapshot.find_id(&document.id).expect("id"), naive.find_id(&document.id));
        assert_eq!(snapshot.find_shadows(&document.id).expect("id"), naive.find_shadows(&document.id));
        let hash = hash_of(&document.id);
        assert_eq!(snapshot.find_hash(&hash).expect("hash"), naive.find_hash(&hash));
        assert_eq!(snapshot.followers(&[number]).expect("followers"), naive.followers(number));
        assert_eq!(snapshot.find_content(document.content).expect("content"), naive.find_content(document.content));
    }
    assert_eq!(snapshot.find_id(b"nobody").expect("id"), None);
    assert_eq!(snapshot.shadows().expect("shadows"), naive.shadows().count() as u64);
    assert_eq!(snapshot.documents().expect("documents"), naive.live().count() as u64 - naive.shadows().count() as u64);
    assert_eq!(snapshot.submitters().expect("submitters"), naive.submitters());
    let simhashes: Vec<_> = naive.live().filter_map(|(number, document)| Some((number, document.simhash?))).collect();
    assert_eq!(snapshot.simhashes().expect("simhashes").collect::<Vec<_>>(), simhashes);
    Which::ALL.into_iter().for_each(|which| assert_keys_match(snapshot, naive, which));
}

fn assert_keys_match(snapshot: &Snapshot, naive: &Naive, which: Which) {
    let keys = naive.all_keys(which);
    let mut found = vec![Vec::new(); keys.len()];
    let mut place = 0;
    let seen = |at: usize, number| {
        assert!(at >= place, "keys come in order");
        place = at;
        found[at].push(number);
    };
    snapshot.holders(which, &keys, seen).expect("holders");
    for (key, found) in keys.iter().zip(&found) {
        let holders = naive.holders(which, *key);
        assert_eq!(found, &holders, "{which:?} {key}");
        for (first, last) in [(0, 0), (0, 2), (1, 0), (1, 1), (2, 3), (3, 1), (100, 100)] {
            let mut out = vec![77];
            let all = snapshot.first_and_last(which, *key, first, last, &mut out).expect("found");
            let after = holders.len().saturating_sub(last).max(first.min(holders.len()));
            let expected: Vec<u64> =
                [77].into_iter().chain(holders.iter().take(first).copied()).chain(holders[after..].to_vec()).collect();
            assert_eq!((all, out), (holders.len() as u64, expected), "{which:?} {key} {first} {last}");
        }
    }
}
