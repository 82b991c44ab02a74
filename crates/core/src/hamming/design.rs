//! Designs: sets of tables that together find every fingerprint within a distance, and their cost.
//!
//! A table holds the fingerprints sorted in one order of their bits. Its arrangement compares the query with all rows whose top
//! `prefix` bits differ from the query's in at most `radius` places. In a design, at least one arrangement finds any pattern of at
//! most `distance` differing bits. This makes the answer complete.
//!
//! There are two ways to make designs, both by the pigeonhole principle.
//!
//! - `blocks`: the bits are divided into blocks, one table each, and block i allows r_i differences. All tables miss a pattern only if
//!   every block has at least r_i + 1 differences, so Σ (r_i + 1) > distance is complete. For distance 3, two halves with one
//!   difference each are enough.
//! - `choices`: the bits are cut into equal blocks, and every choice of some blocks is the prefix of a table. The chosen blocks with
//!   the fewest differences have at most `radius` of them. If the radius is 0, the other bits may be cut again, and so on. With radius
//!   0 these are the paper's designs.
//!
//! **Lookups.** A directory with about one entry per [`BUCKET`] rows finds the rows. If a prefix is longer than the directory's index,
//! only its beginning is looked up. This finds a few more rows and needs fewer lookups: 2 · 25 for two halves and 100 million
//! fingerprints, instead of 2 · 33.
//!
//! **Cost model.** Permuting a query for a table and finding its group costs [`TABLE_PS`]. A lookup costs [`LOOKUP_PS`]: two prefetched
//! memory accesses, to the directory and to the rows. Each row costs [`ROW_PS`]. Fingerprints are assumed to be uniform. The first two
//! costs were fitted to `examples/hamming.rs` on 100 million fingerprints: 2.06 µs in two tables with 50 lookups, 0.84 µs in ten with
//! one each. The model only decides which design is chosen, not which rows are found.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.1; blocks with radii as in Norouzi, Punjani, Fleet 2012, *Fast search in Hamming
//! space with multi-index hashing*.

use super::order::Order;
use super::{BITS, MAX_DISTANCE};
use crate::error::{Error, Result};

/// The fewest rows of a directory bucket on average; fewer only if the directory would have no entry.
pub const BUCKET: u64 = 4;

/// Bytes of an entry of a directory.
pub const ENTRY_BYTES: u64 = 4;

/// Bytes of a row.
pub const ROW_BYTES: u64 = 8;

/// Picoseconds per table.
pub const TABLE_PS: u64 = 44_000;

/// Picoseconds per lookup in tables larger than the caches.
pub const LOOKUP_PS: u64 = 36_000;

/// Picoseconds per row compared with the query.
pub const ROW_PS: u64 = 500;

/// The most tables of a design.
pub const MAX_TABLES: usize = 64;

/// One table: the order of its bits, and the rows that a query is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// The order of bits by which rows are sorted. Its chosen bits are the prefix.
    pub order: Order,
    /// The number of bits of the prefix; 0 if the query is compared with all rows.
    pub prefix: u32,
    /// The number of prefix bits in which a row may differ from the query.
    pub radius: u32,
}

impl Arrangement {
    /// Makes the table with the bits of `chosen` at its top.
    pub fn new(chosen: u64, radius: u32) -> Self {
        Self { order: Order::new(chosen), prefix: chosen.count_ones(), radius }
    }

    /// Returns whether this table finds fingerprints that differ from the query in the bits of `pattern`.
    pub fn finds(&self, pattern: u64) -> bool {
        (pattern & self.order.chosen()).count_ones() <= self.radius
    }

    /// Returns the number of bits that are looked up in a table of `rows` rows.
    pub fn depth(&self, rows: u64) -> u32 {
        directory_bits(rows).min(self.prefix)
    }

    /// Returns the number of lookups of a query in a table of `rows` rows.
    pub fn lookups(&self, rows: u64) -> u64 {
        ball(self.depth(rows), self.radius)
    }

    /// Returns the bytes of the table and its directory.
    pub fn bytes(&self, rows: u64) -> u64 {
        ROW_BYTES.saturating_mul(rows).saturating_add(ENTRY_BYTES << self.depth(rows))
    }
}

/// Tables that together find every fingerprint within a distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The number of bits in which a fingerprint may differ from the query.
    pub distance: u32,
    /// The tables; at least one of them finds any pattern of at most `distance` bits.
    pub arrangements: Vec<Arrangement>,
}

impl Design {
    /// Makes a design that compares the query with all rows of one table.
    pub fn scan(distance: u32) -> Self {
        Self { distance, arrangements: vec![Arrangement::new(0, 0)] }
    }

    /// Makes one table for each (width, radius); the blocks take their bits from the highest of `bits` down.
    ///
    /// Errors: more bits than there are, too many tables, or radii that would miss a pattern.
    pub fn blocks(bits: u32, distance: u32, blocks: &[(u32, u32)]) -> Result<Self> {
        let (bits, distance) = checked(bits, distance)?;
        let allowed: u64 = blocks.iter().map(|(_, radius)| u64::from(*radius) + 1).sum();
        if allowed <= u64::from(distance) {
            let reason =
                format!("is more than the radii allow for: blocks with radii r_i find up to `{allowed}` − 1 bits");
            return Err(Error::Parameter { name: "distance", value: i64::from(distance), reason });
        }
        let used: u64 = blocks.iter().map(|(width, _)| u64::from(*width)).sum();
        if used > u64::from(bits) || blocks.len() > MAX_TABLES {
            let reason = format!("is more than there are: use at most {bits} bits in at most {MAX_TABLES} blocks");
            return Err(Error::Parameter { name: "blocks", value: used as i64, reason });
        }
        let mut rest = bits;
        let arrangements = blocks
            .iter()
            .map(|(width, radius)| {
                rest -= width;
                Arrangement::new(ones(*width) << (rest % BITS), *radius)
            })
            .collect();
        Ok(Self { distance, arrangements })
    }

    /// Makes one table for every choice of `cuts[0].1` out of `cuts[0].0` equal blocks of the highest `bits`, then of the next cut among
    /// the bits that were not chosen, and so on. Only the last cut may need a radius.
    ///
    /// Errors: a cut into no or too many blocks, a choice of no or too many blocks, or too many tables.
    pub fn choices(bits: u32, distance: u32, cuts: &[(u32, u32)]) -> Result<Self> {
        let (bits, distance) = checked(bits, distance)?;
        let mut made = vec![(0u64, 0u32)];
        for (blocks, chosen) in cuts {
            let radius = spread(*blocks, *chosen, distance);
            let tables = made.len() as u64 * binomial(*blocks, *chosen);
            let fits = *blocks >= 1 && *blocks <= bits && (1..=*blocks).contains(chosen) && tables <= MAX_TABLES as u64;
            if !fits || made.iter().any(|(_, radius)| *radius > 0) {
                let reason = format!("blocks with `{chosen}` chosen make no table: choose 1 ≤ chosen ≤ blocks ≤ {bits}, {MAX_TABLES} tables at most, a radius in the last cut only");
                return Err(Error::Parameter { name: "cut", value: i64::from(*blocks), reason });
            }
            made = made
                .iter()
                .flat_map(|(prefix, _)| {
                    let parts = cut(ones(bits) & !prefix, *blocks);
                    subsets(&parts, *chosen as usize).into_iter().map(move |more| (prefix | more, radius))
                })
                .collect();
        }
        let arrangements = made.into_iter().map(|(chosen, radius)| Arrangement::new(chosen, radius)).collect();
        Ok(Self { distance, arrangements })
    }

    /// Returns the number of lookups of a query among `rows` fingerprints.
    pub fn lookups(&self, rows: u64) -> u64 {
        self.arrangements.iter().fold(0, |sum, one| sum.saturating_add(one.lookups(rows)))
    }

    /// Returns the expected number of rows that a query is compared with, among `rows` uniform fingerprints.
    pub fn candidates(&self, rows: u64) -> f64 {
        self.arrangements
            .iter()
            .map(|one| one.lookups(rows) as f64 * rows as f64 / 2f64.powi(one.depth(rows) as i32))
            .sum()
    }

    /// Returns the bytes of all tables and directories, without ids.
    pub fn bytes(&self, rows: u64) -> u64 {
        self.arrangements.iter().fold(0, |sum, one| sum.saturating_add(one.bytes(rows)))
    }

    /// Returns the picoseconds of a query by the cost model above.
    pub fn picoseconds(&self, rows: u64) -> u64 {
        self.arrangements.iter().fold(0, |sum, one| sum.saturating_add(cost(one.prefix, one.radius, rows)))
    }
}

/// Returns the picoseconds of a query in one table, by its prefix and radius. They are integers, so that sums do not depend on their
/// order.
pub(super) fn cost(prefix: u32, radius: u32, rows: u64) -> u64 {
    let depth = directory_bits(rows).min(prefix);
    let lookups = u128::from(ball(depth, radius));
    let found = lookups.saturating_mul(u128::from(rows)).saturating_mul(u128::from(ROW_PS)) >> depth;
    let sum = lookups.saturating_mul(u128::from(LOOKUP_PS)).saturating_add(found).saturating_add(u128::from(TABLE_PS));
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// Returns the bytes of the largest table of `rows` rows, over all prefixes.
pub fn table_bytes(rows: u64) -> u64 {
    ROW_BYTES.saturating_mul(rows).saturating_add(ENTRY_BYTES << directory_bits(rows))
}

/// Returns the bits of the index of a full directory: the most for which a bucket holds [`BUCKET`] rows on average.
pub fn directory_bits(rows: u64) -> u32 {
    (rows / BUCKET).checked_ilog2().unwrap_or(0)
}

/// Counts the numbers of `bits` bits with at most `radius` ones.
pub fn ball(bits: u32, radius: u32) -> u64 {
    (0..=radius.min(bits)).fold(0, |sum, ones| sum.saturating_add(binomial(bits, ones)))
}

/// Returns n choose k, or the largest number if it overflows.
pub fn binomial(n: u32, k: u32) -> u64 {
    if k > n {
        return 0;
    }
    let product = (0..k.min(n - k)).try_fold(1u128, |product, i| {
        product.checked_mul(u128::from(n - i)).map(|product| product / u128::from(i + 1))
    });
    product.and_then(|product| u64::try_from(product).ok()).unwrap_or(u64::MAX)
}

/// Returns the most differences in the `chosen` blocks with the fewest, if all `blocks` have `distance` in total. The worst case
/// spreads them evenly; the chosen blocks are then those with one fewer, as far as there are.
fn spread(blocks: u32, chosen: u32, distance: u32) -> u32 {
    let (each, more) = (distance / blocks.max(1), distance % blocks.max(1));
    chosen.saturating_mul(each).saturating_add(chosen.saturating_sub(blocks - more))
}

/// Divides the set bits of `mask` into parts of equal size, from the highest down; the first parts have one more if needed.
fn cut(mask: u64, parts: u32) -> Vec<u64> {
    let (each, larger) = (mask.count_ones() / parts, mask.count_ones() % parts);
    let mut bits = (0..BITS).rev().filter(|bit| mask >> bit & 1 == 1);
    (0..parts)
        .map(|part| bits.by_ref().take((each + u32::from(part < larger)) as usize).fold(0, |sum, bit| sum | 1 << bit))
        .collect()
}

/// Returns the union of every choice of `chosen` parts, in the order of the parts.
fn subsets(parts: &[u64], chosen: usize) -> Vec<u64> {
    if chosen == 0 || chosen > parts.len() {
        return if chosen == 0 { vec![0] } else { vec![] };
    }
    (0..=parts.len() - chosen)
        .flat_map(|first| subsets(&parts[first + 1..], chosen - 1).into_iter().map(move |more| parts[first] | more))
        .collect()
}

/// Returns a number with `bits` ones at its end.
fn ones(bits: u32) -> u64 {
    u64::MAX.checked_shr(BITS - bits.min(BITS)).unwrap_or(0)
}

/// Checks a size and a distance. Errors: not 1 to 64 bits, or a distance above [`MAX_DISTANCE`].
pub(super) fn checked(bits: u32, distance: u32) -> Result<(u32, u32)> {
    if !(1..=BITS).contains(&bits) {
        let reason = format!("is not a size of fingerprints: use 1 ≤ bits ≤ {BITS}");
        return Err(Error::Parameter { name: "bits", value: i64::from(bits), reason });
    }
    if distance > MAX_DISTANCE {
        let reason = format!("is larger than is searched for: use 0 ≤ distance ≤ {MAX_DISTANCE}");
        return Err(Error::Parameter { name: "distance", value: i64::from(distance), reason });
    }
    Ok((bits, distance))
}

#[cfg(test)]
mod tests;
