//! Resemblance and containment: the shingles of a text, their exact measures, and sketches that estimate both.
//!
//! | file | content | source |
//! |---|---|---|
//! | `shingle.rs` | ids of the shingles of a text | Broder 1997, §2, §4.1 |
//! | `exact.rs` | resemblance, containment and distance of two sets | 1997, §2 |
//! | `fast.rs` | t coordinates in one pass | Dahlgaard, Knudsen, Thorup 2017 |
//! | `permutations.rs` | t coordinates by t linear maps | Broder 2000, §2 |
//! | `coordinates.rs` | either of these two, for everything that makes sketches | |
//! | `sample.rs` | MIN_s, MOD_m, MIN_s of MOD_m, L_i | 1997, §3, §4.1 |
//! | `law.rs`, `estimate.rs` | value, interval, decision at a threshold | 1997, §4.1, §4.2 |
//! | `features.rs` | k groups of s elements, as keys | 2000, §3 |
//! | `count.rs` | estimated number of distinct shingles | |
//! | `kind.rs`, `sketching.rs`, `stored.rs` | the kinds by name; sketches of texts and their estimates; bytes | |
//! | `filter.rs` | simulation of how often r of k features are equal | 2000, §3 |
//!
//! Every id is scrambled already, so its own order serves as the random permutation of the papers.

/// Version of the kinds of sketches, their features and keys; see FORMAT.md.
pub const SKETCH_VERSION: u32 = 1;

pub mod coordinates;
pub mod count;
pub mod estimate;
pub mod exact;
pub mod fast;
pub mod features;
pub mod filter;
pub mod kind;
pub mod law;
pub mod permutations;
pub mod sample;
pub mod shingle;
pub mod sketching;
pub mod stored;

#[cfg(test)]
mod tests;
