//! The Hamming distance problem: which stored fingerprints differ from this one in at most k bits?
//!
//! `order.rs` moves chosen bits of a fingerprint to its top, `design.rs` says which bits to choose so that nothing within the
//! distance can be missed and what that costs, `solve.rs` finds the cheapest such design.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, *Detecting near-duplicates for web crawling*, §3.

pub mod design;
pub mod order;
pub mod solve;

pub use design::{Arrangement, Design};
pub use order::Order;

/// Bits of a fingerprint.
pub const BITS: u32 = u64::BITS;

/// The largest distance that is searched for.
pub const MAX_DISTANCE: u32 = 10;
