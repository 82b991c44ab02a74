//! Finds the cheapest design for a distance, a number of fingerprints and a limit on memory.
//!
//! **Search space.** Three kinds of designs are compared by the cost model in `design.rs`:
//!
//! 1. the scan;
//! 2. blocks: up to distance + 1 blocks of any widths that add up to all bits, with any radii for which Σ (r_i + 1) = distance + 1.
//!    Costs of blocks add up, so one table of partial sums gives the best widths and radii for each number of blocks;
//! 3. choices of equal blocks, by enumeration: one cut with any number of blocks chosen; or, as in the paper, repeated cuts of the
//!    bits left over, in which all but distance many blocks are chosen, as often as the number of tables permits.
//!
//! Of equal costs the design with fewer bytes wins, then the one with fewer tables, then the first in this list. A limit on bytes
//! limits the number of tables: each table counts with the largest directory, so no design exceeds the limit.
//!
//! **Cost.** A few milliseconds.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.1.2. Its recurrence is the third kind with radius 0. It must read d ≤ τ: with d < τ, a
//! prefix of exactly the smallest wanted length would be refused.

use super::design::{binomial, checked, cost, table_bytes, Design, MAX_TABLES};
use crate::error::{Error, Result};
use std::cmp::Reverse;

/// The limit on a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this many tables.
    Tables(u64),
    /// At most this many bytes in all tables and directories.
    Bytes(u64),
    /// Little memory: 2 tables up to distance 4, 3 up to distance 9, then 4.
    Compact,
    /// Little time: five times as many tables.
    Fast,
}

/// Returns the cheapest design for `rows` fingerprints of `bits` bits.
///
/// Errors: numbers out of range, or a limit below one table.
pub fn solve(bits: u32, distance: u32, rows: u64, limit: Limit) -> Result<Design> {
    let (bits, distance) = checked(bits, distance)?;
    let compact = 2 + distance as usize / 5;
    let tables = match limit {
        Limit::Tables(0) => return Err(refused("tables", 0, "leave nothing to search in: use at least 1".into())),
        Limit::Tables(tables) => usize::try_from(tables).unwrap_or(MAX_TABLES),
        Limit::Bytes(bytes) => affordable(bytes, distance, rows)?,
        Limit::Compact => compact,
        Limit::Fast => 5 * compact,
    };
    let fitting = space(bits, distance, rows, tables.min(MAX_TABLES));
    Ok(fitting.into_iter().min_by_key(|design| rank(design, rows)).unwrap_or_else(|| Design::scan(distance)))
}

/// Returns the designs that no other design beats in both time and number of tables, from one table to [`MAX_TABLES`].
///
/// Errors: numbers out of range.
pub fn frontier(bits: u32, distance: u32, rows: u64) -> Result<Vec<Design>> {
    let (bits, distance) = checked(bits, distance)?;
    let mut all = space(bits, distance, rows, MAX_TABLES);
    all.sort_by_key(|design| (design.arrangements.len(), rank(design, rows)));
    let mut least = u64::MAX;
    all.retain(|design| {
        let better = design.picoseconds(rows) < least;
        least = least.min(design.picoseconds(rows));
        better
    });
    Ok(all)
}

/// Returns the best of the paper's designs, which look up one prefix per table, with at most `tables` tables: the one whose shortest
/// prefix is longest; of equal ones, that with the fewest tables.
///
/// Errors: numbers out of range, or fewer tables than distance + 1, with which no such design exists.
pub fn longest_prefix(bits: u32, distance: u32, tables: u64) -> Result<Design> {
    let fitting = exact(bits, distance)?.into_iter().filter(|design| design.arrangements.len() as u64 <= tables);
    fitting.max_by_key(|design| (shortest(design), Reverse(design.arrangements.len()))).ok_or_else(|| {
        refused("tables", tables, format!("are too few to look up one prefix in each: use at least {}", distance + 1))
    })
}

/// Returns the design of the fewest tables whose prefixes all have at least `prefix` bits, each looked up once: the paper's X(f, k, d)
/// with p_min = `prefix`. Of as few tables, the one whose shortest prefix is longest.
///
/// Errors: numbers out of range, or a prefix for which [`MAX_TABLES`] tables are too few.
pub fn fewest_tables(bits: u32, distance: u32, prefix: u64) -> Result<Design> {
    let found = exact(bits, distance)?;
    let most = found.iter().map(shortest).max().unwrap_or(0);
    let fitting = found.into_iter().filter(|design| u64::from(shortest(design)) >= prefix);
    fitting.min_by_key(|design| (design.arrangements.len(), Reverse(shortest(design)))).ok_or_else(|| {
        let reason = format!("bits in every prefix need more than {MAX_TABLES} tables: use at most {most}");
        refused("prefix", prefix, reason)
    })
}

/// Returns all designs of the third kind with radius 0, and the single block for distance 0.
fn exact(bits: u32, distance: u32) -> Result<Vec<Design>> {
    let (bits, distance) = checked(bits, distance)?;
    let mut found = choices(bits, distance, MAX_TABLES);
    found.extend(Design::blocks(bits, distance, &[(bits, 0)]));
    found.retain(|design| design.arrangements.iter().all(|one| one.radius == 0));
    Ok(found)
}

/// Returns the length of the shortest prefix of a design.
fn shortest(design: &Design) -> u32 {
    design.arrangements.iter().map(|one| one.prefix).min().unwrap_or(0)
}

fn rank(design: &Design, rows: u64) -> (u64, u64, usize) {
    (design.picoseconds(rows), design.bytes(rows), design.arrangements.len())
}

/// Returns how many tables fit; 0 if only a scan fits, which has no directory.
fn affordable(bytes: u64, distance: u32, rows: u64) -> Result<usize> {
    let least = Design::scan(distance).bytes(rows);
    if bytes < least {
        return Err(refused("bytes", bytes, format!("do not hold `{rows}` fingerprints once: give at least {least}")));
    }
    Ok(usize::try_from(bytes / table_bytes(rows)).unwrap_or(MAX_TABLES))
}

/// Returns all designs of at most `tables` tables that may be the cheapest; the scan is always one of them.
fn space(bits: u32, distance: u32, rows: u64, tables: usize) -> Vec<Design> {
    let mut found = vec![Design::scan(distance)];
    found.extend(blocks(bits, distance, rows, tables));
    found.extend(choices(bits, distance, tables));
    found
}

/// Returns the best design of the second kind for each number of tables.
fn blocks(bits: u32, distance: u32, rows: u64, tables: usize) -> Vec<Design> {
    let mut sums = Sums::new(bits, distance, rows);
    (1..=tables.min(distance as usize + 1))
        .filter_map(|_| {
            sums.add();
            sums.best().and_then(|blocks| Design::blocks(bits, distance, &blocks).ok())
        })
        .collect()
}

/// Least costs by number of blocks, bits and slots; a block of radius r takes r + 1 slots.
struct Sums {
    bits: usize,
    slots: usize,
    /// `costs[radius][width]` of one block.
    costs: Vec<Vec<u64>>,
    /// For each number of blocks, at index `slots · (all bits + 1) + bits`: the least cost and its last block.
    levels: Vec<Vec<Option<Step>>>,
}

#[derive(Clone, Copy)]
struct Step {
    cost: u64,
    width: usize,
    radius: usize,
}

impl Sums {
    fn new(bits: u32, distance: u32, rows: u64) -> Self {
        let costs = (0..=distance).map(|radius| (0..=bits).map(|width| cost(width, radius, rows)).collect()).collect();
        let (bits, slots) = (bits as usize, distance as usize + 1);
        let mut none = vec![None; (slots + 1) * (bits + 1)];
        none[0] = Some(Step { cost: 0, width: 0, radius: 0 });
        Self { bits, slots, costs, levels: vec![none] }
    }

    /// Computes the sums for one more block.
    fn add(&mut self) {
        let last = &self.levels[self.levels.len() - 1];
        let mut next: Vec<Option<Step>> = vec![None; last.len()];
        for (at, before) in last.iter().enumerate() {
            let Some(before) = before else { continue };
            let (slots, bits) = (at / (self.bits + 1), at % (self.bits + 1));
            for radius in 0..self.slots - slots {
                for width in 1..=self.bits - bits {
                    let cost = before.cost.saturating_add(self.costs[radius][width]);
                    let entry = &mut next[at + (radius + 1) * (self.bits + 1) + width];
                    if entry.is_none_or(|entry| cost < entry.cost) {
                        *entry = Some(Step { cost, width, radius });
                    }
                }
            }
        }
        self.levels.push(next);
    }

    /// Returns the blocks that use all bits and all slots at the least cost. Widths are made even if that costs no more, because a
    /// prefix longer than the directory's index helps in crowded buckets.
    fn best(&self) -> Option<Vec<(u32, u32)>> {
        let mut at = self.slots * (self.bits + 1) + self.bits;
        let mut found = Vec::new();
        for level in self.levels.iter().skip(1).rev() {
            let step = level[at]?;
            found.push((step.width as u32, step.radius as u32));
            at -= (step.radius + 1) * (self.bits + 1) + step.width;
        }
        let even = evened(&found);
        let chosen = if self.cost(&even) <= self.cost(&found) { even } else { found };
        Some(chosen)
    }

    fn cost(&self, blocks: &[(u32, u32)]) -> u64 {
        blocks.iter().fold(0, |sum, (width, radius)| sum.saturating_add(self.costs[*radius as usize][*width as usize]))
    }
}

/// Returns the blocks with the bits of each radius divided evenly, largest radius and widest block first.
fn evened(blocks: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut radii: Vec<u32> = blocks.iter().map(|(_, radius)| *radius).collect();
    radii.sort_unstable_by_key(|radius| Reverse(*radius));
    let mut found = Vec::new();
    for same in radii.chunk_by(|a, b| a == b) {
        let bits: u32 = blocks.iter().filter(|(_, radius)| *radius == same[0]).map(|(width, _)| width).sum();
        let count = same.len() as u32;
        found.extend((0..count).map(|at| (bits / count + u32::from(at < bits % count), same[0])));
    }
    found
}

/// Returns all designs of the third kind of at most `tables` tables.
fn choices(bits: u32, distance: u32, tables: usize) -> Vec<Design> {
    let cuts = (2..=bits.min(tables as u32)).flat_map(|blocks| (1..blocks).map(move |chosen| vec![(blocks, chosen)]));
    let single = cuts.filter(|cuts| binomial(cuts[0].0, cuts[0].1) <= tables as u64);
    let repeated = chains(distance, tables as u64).into_iter().filter(|cuts| cuts.len() > 1);
    single.chain(repeated).filter_map(|cuts| Design::choices(bits, distance, &cuts).ok()).collect()
}

/// Returns all sequences of the paper's cuts that make at most `tables` tables.
fn chains(distance: u32, tables: u64) -> Vec<Vec<(u32, u32)>> {
    let mut found = vec![vec![]];
    if distance == 0 {
        return found;
    }
    for blocks in distance + 1.. {
        let made = binomial(blocks, distance);
        if made > tables {
            break;
        }
        let first = (blocks, blocks - distance);
        found.extend(chains(distance, tables / made).into_iter().map(|rest| [vec![first], rest].concat()));
    }
    found
}

fn refused(name: &'static str, value: u64, reason: String) -> Error {
    Error::Parameter { name, value: i64::try_from(value).unwrap_or(i64::MAX), reason }
}

#[cfg(test)]
mod tests;
