//! The Hamming distance problem: which stored fingerprints differ from this one in at most k bits?
//!
//! `order.rs` moves chosen bits of a fingerprint to its top, `design.rs` says which bits to choose so that nothing within the
//! distance can be missed and what that costs, `solve.rs` finds the cheapest such design. `search.rs` searches sorted columns by a
//! design, comparing rows as `check.rs` does it on this machine; `tables.rs` holds such columns in memory with their ids,
//! `batch.rs` has them on the queries and the fingerprints streamed past.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, *Detecting near-duplicates for web crawling*, §3.

pub mod batch;
mod check;
pub mod design;
pub mod order;
pub mod search;
pub mod solve;
pub mod tables;

pub use design::{Arrangement, Design};
pub use order::Order;

/// Bits of a fingerprint.
pub const BITS: u32 = u64::BITS;

/// The largest distance that is searched for.
pub const MAX_DISTANCE: u32 = 10;
