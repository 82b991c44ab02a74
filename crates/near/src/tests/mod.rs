//! Tests of the store against oracles: a set of rows searched by comparing all, and disks that fail or forget.

mod damage;
mod faults;
mod forge;
mod homes;
mod model;
mod strings;
#[allow(dead_code)]
#[path = "../../../table/src/tests/forge.rs"]
mod table_forge;

use crate::fingerprint_store::FingerprintStore;
use crate::manifest::TablePlan;
use crate::run::{FingerprintRow, Hold};
use lookalike_core::hamming::solve::Limit;
use lookalike_core::hamming::tables::Hit;
use lookalike_core::hash::mix64;

/// The plan of small tables.
const PLAN: TablePlan = TablePlan { distance: 3, limit: Limit::Compact };

/// All ways of holding a file.
const HOLDS: [Hold; 3] = [Hold::Plain, Hold::Compressed, Hold::Mapped];

/// Rows with many near pairs: fingerprints within two bits of a few values, three ids each.
fn near_rows(seed: u64, count: u64) -> Vec<FingerprintRow> {
    let row = |i: u64| (mix64(i % 7) ^ 1 << (mix64(i) % 64) ^ 1 << (mix64(!i) % 64), seed * 1000 + i % 3);
    let mut rows: Vec<FingerprintRow> = (seed * 10_000..seed * 10_000 + count).map(row).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The answer to a query, by comparing all rows.
fn expected(rows: &[FingerprintRow], query: u64, distance: u32) -> Vec<Hit> {
    let hit =
        |(value, id): &FingerprintRow| Hit { distance: (value ^ query).count_ones() as u8, id: *id, value: *value };
    let mut hits: Vec<Hit> = rows.iter().map(hit).filter(|hit| u32::from(hit.distance) <= distance).collect();
    hits.sort_unstable();
    hits
}

/// Whether a store has the right answers; `None` if it reports damage.
fn answers_as(store: &FingerprintStore, rows: &[FingerprintRow]) -> Option<bool> {
    let mut is_right = store.len() == rows.len();
    for i in 0..10 {
        is_right &= store.query(mix64(i), 3).ok()? == expected(rows, mix64(i), 3);
    }
    Some(is_right && store.rows().ok()? == rows)
}
