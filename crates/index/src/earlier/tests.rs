//! Tests of earlier submissions: who counts, and which documents are met. `tests/archive/test_compare_index.py` compares
//! whole answers with those of the files themselves.

use super::{At, Earlier, Handed};
use crate::record::{Document, SHADOW, TEMPLATE};
use crate::sign::person_key;
use crate::{Bitmap, Part, Segment, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn document(id: &str, person: &str, known_as: &str, keys: &[u64]) -> Document {
    Document {
        id: id.into(),
        submitter: person_key(person.as_bytes()),
        known_as: if known_as.is_empty() { 0 } else { person_key(known_as.as_bytes()) },
        postings: keys.to_vec(),
        literals: keys.iter().map(|key| key + 100).collect(),
        ..Document::default()
    }
}

fn handed(person: &str, known_as: &str, counts: bool) -> Handed {
    let known_as = Some(known_as.as_bytes().to_vec()).filter(|name| !name.is_empty());
    Handed { person: person.into(), known_as, counts }
}

fn snapshot(documents: &[Document], removed: &[u64]) -> Arc<Snapshot> {
    let (first, last) = documents.split_at(documents.len() / 2);
    let segment = |documents: &[Document]| Arc::new(Segment::of_documents(documents, b"{}").expect("whole"));
    let rows = removed.iter().map(|number| number - first.len() as u64);
    let bitmap = Bitmap::of_rows(last.len() as u64, rows).expect("of this length");
    let parts = vec![Part::of(segment(first)), Part::without(segment(last), bitmap).expect("of this length")];
    Arc::new(Snapshot::new(parts).expect("few"))
}

fn stored() -> Vec<Document> {
    let mut all = vec![
        document("a", "ann", "", &[1, 2]),
        document("b", "bob", "robert", &[1]),
        document("c", "cyd", "sam", &[2, 3]),
        document("t", "t", "", &[1, 9]),
        document("s", "shadow", "", &[1]),
        document("r", "removed", "", &[1]),
        document("d", "ann", "", &[3]),
        document("e", "eve", "robert", &[4]),
    ];
    all[3].flags = TEMPLATE;
    all[4].flags = SHADOW;
    all
}

#[test]
fn persons_of_an_index_and_of_a_class_are_counted_together() {
    let index = snapshot(&stored(), &[5]);
    let class = [
        handed("zoe", "robert", true),
        handed("cyd", "", true),
        handed("sam 1", "sam", true),
        handed("sam 2", "sam", true),
        handed("ann", "", false),
        handed("ghost", "", false),
    ];
    let all = Earlier::new(vec![index.clone(), index], &class).expect("whole");
    let person = |index, number| all.person(At { index, number });
    // Robert is one new person; Sam may be either of two, and decides nothing.
    assert_eq!([person(0, 1), person(0, 7), person(1, 1)], [Some(all.handed()[0]); 3]);
    assert_eq!([person(0, 2), person(0, 0), person(0, 6)], [1, 4, 4].map(|i: usize| Some(all.handed()[i])));
    assert_eq!([person(0, 3), person(0, 4), person(0, 5), person(0, 99), person(7, 0)], [None; 5]);
    // zoe, cyd, both Sams and ann, who holds documents of the index; nothing of the ghost's could be read.
    assert_eq!((all.submitters(), all.documents()), (5, 10));
    assert_eq!(all.templates(), [At { index: 0, number: 3 }, At { index: 1, number: 3 }]);
    assert_eq!(all.documents_of(all.handed()), [4, 2, 0, 0, 4, 0]);
}

#[test]
fn holders_of_keys_and_literals_are_met_and_counted_by_person() {
    let documents = stored();
    let all = Earlier::new(vec![snapshot(&documents, &[5])], &[handed("ann", "", true)]).expect("whole");
    let met = |picks: &[u64], literals: &[u64]| -> Vec<u64> {
        all.candidates(picks, literals).expect("whole").iter().map(|at| at.number).collect()
    };
    assert_eq!(met(&[1], &[]), [0, 1]);
    assert_eq!(met(&[1], &[104]), [0, 1, 7]);
    assert_eq!(met(&[8], &[]), [0u64; 0]);
    let own = vec![(1, 0), (3, 0), (8, 0)];
    let counts: BTreeMap<u64, u32> =
        all.count(crate::Which::Postings, own.clone()).expect("whole").into_iter().collect();
    let naive = |key: u64| {
        let live = documents.iter().enumerate().filter(|(row, one)| *row != 5 && one.flags == 0).map(|(_, one)| one);
        let holders = live.filter(|one| one.postings.contains(&key));
        holders.map(|one| one.submitter).chain([person_key(b"ann")]).collect::<BTreeSet<_>>().len() as u32
    };
    assert_eq!(counts, own.iter().map(|(key, _)| (*key, naive(*key))).collect());
}
