//! One million inserts, removals and queries against a set that is searched by comparing; the table is saved and opened
//! meanwhile.

use crate::fingerprint_store::FingerprintStore;
use crate::manifest::TablePlan;
use crate::run::{FingerprintRow, Hold};
use lookalike_core::hamming::solve::Limit;
use lookalike_core::hamming::tables::Hit;
use lookalike_core::hash::mix64;
use lookalike_table::disk::System;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix64(self.0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Fingerprints in clusters, as in a crawl: each is within a few bits of one of many centres, so a query is compared
/// only with the rows of its cluster. Centres differ in at least 16 bits.
struct Universe {
    centres: Vec<u64>,
}

impl Universe {
    fn new(count: u64) -> Self {
        let mut centres: Vec<u64> = Vec::new();
        let mut seed = 0;
        while (centres.len() as u64) < count {
            seed += 1;
            let centre = mix64(seed);
            if centres.iter().all(|other| (centre ^ other).count_ones() >= 16) {
                centres.push(centre);
            }
        }
        Self { centres }
    }

    /// A cluster and a fingerprint in it.
    fn draw(&self, random: &mut Random) -> (usize, u64) {
        let cluster = random.below(self.centres.len() as u64) as usize;
        let bits = random.below(4);
        let value = (0..bits).fold(self.centres[cluster], |value, _| value ^ 1 << random.below(64));
        (cluster, value)
    }
}

/// The same table as a set of rows.
#[derive(Default)]
struct Model {
    clusters: HashMap<usize, BTreeSet<FingerprintRow>>,
    len: usize,
}

impl Model {
    fn insert(&mut self, cluster: usize, row: FingerprintRow) -> usize {
        let is_new = self.clusters.entry(cluster).or_default().insert(row);
        self.len += usize::from(is_new);
        usize::from(is_new)
    }

    fn remove(&mut self, cluster: usize, row: FingerprintRow) -> usize {
        let was_there = self.clusters.entry(cluster).or_default().remove(&row);
        self.len -= usize::from(was_there);
        usize::from(was_there)
    }

    /// The answer to a query. REQUIRES: all rows within the distance are in the cluster.
    fn query(&self, cluster: usize, value: u64, distance: u32) -> Vec<Hit> {
        let rows = self.clusters.get(&cluster).into_iter().flatten();
        let mut hits: Vec<Hit> = rows
            .map(|(other, id)| Hit { distance: (other ^ value).count_ones() as u8, id: *id, value: *other })
            .filter(|hit| u32::from(hit.distance) <= distance)
            .collect();
        hits.sort_unstable();
        hits
    }

    fn rows(&self) -> Vec<FingerprintRow> {
        let mut rows: Vec<FingerprintRow> = self.clusters.values().flatten().copied().collect();
        rows.sort_unstable();
        rows
    }
}

#[test]
fn a_million_changes_and_queries_match_a_set() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("table");
    let (universe, mut random, mut model) = (Universe::new(2000), Random(5), Model::default());
    let plan = TablePlan { distance: 3, limit: Limit::Compact };
    let mut store = FingerprintStore::new(plan, Hold::Compressed).expect("a plan");
    let mut queries = 0;
    for step in 0..1_000_000 {
        let (cluster, value) = universe.draw(&mut random);
        let row = (value, random.below(8));
        match random.below(100) {
            0..55 => assert_eq!(store.insert(&[row]).expect("inserted"), model.insert(cluster, row), "step {step}"),
            55..90 => assert_eq!(store.remove(&[row]).expect("removed"), model.remove(cluster, row), "step {step}"),
            _ => {
                let (asked, distance) = (value ^ 1 << random.below(64), random.below(4) as u32);
                assert_eq!(
                    store.query(asked, distance).expect("asked"),
                    model.query(cluster, asked, distance),
                    "step {step}"
                );
                queries += 1;
            }
        }
        assert_eq!(store.len(), model.len, "step {step}");
        if step % 200_000 == 199_999 {
            store.save(Arc::new(System), &home).expect("saved");
            drop(store);
            let hold = if step % 400_000 == 199_999 { Hold::Mapped } else { Hold::Plain };
            store = FingerprintStore::open(Arc::new(System), &home, hold, true).expect("opened");
            assert_eq!(store.rows().expect("read"), model.rows());
        }
    }
    assert!(queries > 90_000 && store.len() > 50_000, "{queries} queries, {} rows", store.len());
    assert_eq!(crate::table_folder::check(Arc::new(System), &home).expect("sound"), store.len());
}
