//! The stages of a deduplication for an engine that sorts and joins by itself, such as Spark: pure functions of batches.
//!
//! ```text
//! texts ─▶ Corpus (sign) ─▶ keys ─┬▶ HolderStream ─▶ Packer ─▶ CellPairs ─▶ glances, scores ─▶ edges ─▶ cluster, StarPass
//!                    fingerprints ─▶ PrintStream ─▶ near fingerprints ┘
//! ```
//!
//! The engine brings rows together and puts them in order; what is computed of them is the same code that [`crate::job`]
//! runs. No function here knows how many machines there are, or in which order batches come, but for the streams, which
//! take rows in the order that they name.

pub mod bundles;
pub mod cell;
pub mod edges;
pub mod holders;
pub mod listed;
pub mod pass;
pub mod print_keys;
