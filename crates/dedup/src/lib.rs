//! Finds near-duplicates in a corpus (Broder 2000, the four phases).
//!
//! ```text
//! chunks of lines ─▶ records ─▶ Signed ─▶ SignedStore ─▶ ranks ─▶ proposed pairs ─▶ clusters ─▶ DedupOutcome
//! columns ───────▶ line_cutter.rs, sign.rs  signed_store.rs │     proposing.rs      job.rs
//!                  record.rs                         ranking.rs   prefix.rs          pairs.rs ─▶ FoundPairs
//!                                                                 judge.rs, simhash_judge.rs
//! ```
//!
//! The stages are functions of batches. [`sign::Signer`] computes from a batch of texts everything that later stages
//! need; it can run anywhere. [`corpus::Corpus`] holds the results in memory or in files. [`job::decide`] sorts, joins,
//! verifies and clusters them. [`later::decide_after`] does so after the documents of an [`archive::Archive`].

pub mod alike;
pub mod archive;
pub mod corpus;
pub mod feature_judge;
pub mod ids;
pub mod indexed;
pub mod job;
pub mod judge;
pub mod later;
pub mod line_cutter;
pub mod line_filter;
mod near_prints;
pub mod pairs;
mod prefix;
pub mod proposing;
mod ranking;
pub mod reader;
mod recalled;
pub mod record;
pub mod references;
pub mod sign;
pub mod signed_store;
pub mod simhash_judge;
mod spill;
pub mod steps;

#[cfg(test)]
mod later_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
