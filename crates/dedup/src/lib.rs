//! Near-duplicates out of a corpus: rows in, who resembles whom out (Broder 2000, the four phases).
//!
//! ```text
//! chunks of lines ─▶ records ─▶ Signed ─▶ Store ─▶ classes ─▶ keys ─▶ clustering ─▶ Outcome
//! columns ───────▶ lines.rs,   sign.rs   store.rs  job.rs           judge.rs
//!                  record.rs
//! ```
//!
//! The stages are functions of batches: [`sign::Signer`] makes of a batch of texts what the others need, wherever that is done;
//! [`corpus::Corpus`] holds what was signed, in memory or in files; [`job::decide`] sorts, joins, verifies and clusters it.

pub mod blocks;
pub mod corpus;

pub mod job;
pub mod judge;
pub mod line_cutter;
pub mod line_filter;
pub mod reader;
pub mod record;
pub mod sign;
pub mod signed_store;
pub mod simhash_judge;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
