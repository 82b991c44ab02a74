//! Finds every stored fingerprint that differs from a query in at most k bits.
//!
//! - `order.rs` moves chosen bits of a fingerprint to its top.
//! - `design.rs` chooses bits for each table so that nothing within the distance is missed, and computes the cost.
//! - `solve.rs` finds the cheapest design.
//! - `search.rs` searches sorted columns by a design; `check.rs` compares rows with a query.
//! - `tables.rs` holds the columns, in memory or in a mapped file, with their ids (`owners.rs`).
//! - `scan.rs` compares one query with every fingerprint of a column.
//! - `batch.rs` builds tables on the queries and streams the stored fingerprints past them.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, *Detecting near-duplicates for web crawling*, §3.

pub mod batch;
mod check;
pub mod design;
pub mod order;
pub mod owners;
pub mod scan;
pub mod search;
pub mod solve;
pub mod tables;

pub use design::{Arrangement, Design};
pub use order::Order;

/// Bits of a fingerprint.
pub const BITS: u32 = u64::BITS;

/// The largest distance that can be searched.
pub const MAX_DISTANCE: u32 = 10;
