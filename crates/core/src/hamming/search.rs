//! Searches sorted columns by a design; reports every row within the distance exactly once.
//!
//! **Method.** The queries of a batch are processed table by table, roughly in the order of the table, so that neighbouring queries
//! share memory pages. In each table they are processed in groups. While the rows of one group are compared, the rows of the next
//! group and the directory entries of the group after it are prefetched. This hides the latency of memory.
//!
//! **Exactly once.** Several tables may find the same row. It is reported only by the first table of the design that guarantees to
//! find its pattern, even if another table sees it. So no duplicates have to be removed.
//!
//! **Crowded prefixes.** A bucket with more than `CROWD` rows is narrowed to the whole prefix of the design by binary search.
//!
//! **Cost.** For 100 million uniform rows at distance 3: 50 lookups in two tables of 8.7 bytes per row, or 10 lookups in ten tables.

use super::check::{Kernel, Portable, Way, ROWS};
use super::design::{ball, Arrangement, Design};
use lookalike_table::column::Column;
use lookalike_table::memory::prefetch;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use crate::machine::{Avx2, CountAvx512};

/// Lookups in flight together: their cache lines fill half of the first-level cache.
const IN_FLIGHT: usize = 32;

/// Buckets into which queries are distributed.
const SPREAD: usize = 1 << 10;

/// From this many rows on, a table is larger than the first-level cache, and the order of lookups matters.
const LARGE: usize = 1 << 15;

/// From this many rows on, narrowing a bucket is worth its cost: a binary search takes as long as comparing some hundred rows.
const CROWD: usize = 1 << 11;

/// Bits of the number of directory entries in one cache line: prefixes that differ only in these bits share a prefetch.
const LINE_BITS: u32 = 4;

/// A row within the distance of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HammingHit {
    /// Index of the query.
    pub query: u32,
    /// Position of the row in the first table.
    pub row: u32,
    /// The number of differing bits.
    pub distance: u8,
}

/// The results of a search, and its cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Ascending, without duplicates.
    pub found: Vec<HammingHit>,
    /// For each query, the number of rows it was compared with.
    pub candidates: Vec<u64>,
}

/// The lookups of a query in one table.
#[derive(Clone, Debug)]
struct Plan {
    /// Bits of the prefix that are looked up.
    depth: u32,
    /// The differences of prefixes that are looked up, as masks; ascending.
    flips: Vec<u64>,
    /// One of the flips per cache line of the directory.
    hints: Vec<u64>,
    /// The differences of the rest of the prefix, by the number of differences left; only for crowded buckets.
    tails: Vec<Vec<u64>>,
}

/// A search by a design over columns of a fixed length.
#[derive(Clone, Debug)]
pub struct HammingSearch {
    design: Design,
    plans: Vec<Plan>,
    way: Way,
}

/// A query in the order of a table, and its index.
type Keyed = (u64, u32);

/// The buckets of a group of queries.
#[derive(Default)]
struct Buckets {
    /// For each lookup the rows, and where their values end in `values`.
    rows: Vec<(Range<u32>, u32)>,
    /// The values of buckets that the column has decoded, one bucket after the other.
    values: Vec<u64>,
}

impl Buckets {
    #[inline(always)]
    fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
    }

    #[inline(always)]
    fn push<C: Column>(&mut self, column: &C, prefix: u64) {
        let rows = column.bucket_with(prefix, &mut self.values);
        self.rows.push((rows.start as u32..rows.end as u32, self.values.len() as u32));
    }

    /// The rows of each lookup, and their values if they were decoded.
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (Range<usize>, &[u64])> {
        let mut from = 0;
        self.rows.iter().map(move |(rows, end)| {
            let values = &self.values[from..*end as usize];
            from = *end as usize;
            (rows.start as usize..rows.end as usize, values)
        })
    }
}

/// Buffers that are reused.
#[derive(Default)]
struct Scratch {
    /// The queries in the order of a table.
    keyed: Vec<Keyed>,
    /// The same, distributed by their highest bits.
    distributed: Vec<Keyed>,
    /// The buckets of two groups of queries: one to be compared, one to be looked up.
    buckets: [Buckets; 2],
    /// Rows found in later tables: their query, their value in the order of the first table, their distance.
    elsewhere: Vec<(u32, u64, u8)>,
}

impl HammingSearch {
    /// Prepares a search. REQUIRES: the columns have directories of the depths that `design` gives for `rows` rows.
    pub fn new(design: &Design, rows: u64) -> Self {
        let plans = design.arrangements.iter().map(|one| Plan::new(one, rows)).collect();
        Self { design: design.clone(), plans, way: Way::detect() }
    }

    #[cfg(test)]
    fn on(design: &Design, rows: u64, way: Way) -> Self {
        Self { way, ..Self::new(design, rows) }
    }

    /// Finds all rows within the distance of each query. REQUIRES: fewer than 2^32 queries and rows; `columns` hold the same distinct
    /// values in the orders of the design.
    pub fn run<C: Column>(&self, columns: &[C], queries: &[u64]) -> Findings {
        let mut out = Findings { candidates: vec![0; queries.len()], ..Findings::default() };
        let mut scratch = Scratch::default();
        for (table, column) in columns.iter().enumerate().take(self.plans.len()) {
            let order = &self.design.arrangements[table].order;
            let mut keyed = std::mem::take(&mut scratch.keyed);
            keyed.clear();
            keyed.extend(queries.iter().enumerate().map(|(i, query)| (order.apply(*query), i as u32)));
            if column.len() >= LARGE && queries.len() >= SPREAD {
                distribute(&keyed, &mut scratch.distributed);
                std::mem::swap(&mut keyed, &mut scratch.distributed);
            }
            self.look(table, column, &keyed, &mut scratch, &mut out);
            scratch.keyed = keyed;
        }
        if let Some(first) = columns.first() {
            locate(first, &scratch.elsewhere, &mut out.found);
        }
        out.found.sort_unstable();
        out
    }

    /// Searches one table with the code for this machine.
    fn look<C: Column>(&self, table: usize, column: &C, keyed: &[Keyed], scratch: &mut Scratch, out: &mut Findings) {
        match self.way {
            // SAFETY: `count` proves the features the function is compiled for.
            #[cfg(target_arch = "x86_64")]
            Way::Avx512(count) => unsafe { look_avx512(count, self, table, column, keyed, scratch, out) },
            // SAFETY: `avx2` proves the features the function is compiled for.
            #[cfg(target_arch = "x86_64")]
            Way::Avx2(avx2) => unsafe { look_avx2(avx2, self, table, column, keyed, scratch, out) },
            Way::Portable => self.look_with(Portable, table, column, keyed, scratch, out),
        }
    }

    #[inline(always)]
    fn look_with<K: Kernel, C: Column>(
        &self,
        kernel: K,
        table: usize,
        column: &C,
        keyed: &[Keyed],
        scratch: &mut Scratch,
        out: &mut Findings,
    ) {
        let plan = &self.plans[table];
        let size = (IN_FLIGHT / plan.flips.len().max(1)).max(1);
        let group = |number: usize| keyed.chunks(size).nth(number).unwrap_or_default();
        let groups = keyed.len().div_ceil(size);
        for step in 0..groups + 2 {
            plan.hint(column, group(step));
            // The counters of distributed queries are scattered; without the prefetch, waiting for them took half of the time.
            group(step).iter().for_each(|(_, query)| prefetch(&out.candidates, *query as usize));
            if step >= 1 {
                plan.find(column, group(step - 1), &mut scratch.buckets[(step - 1) % 2]);
            }
            if step >= 2 {
                let near = GroupComparison { search: self, table, out, elsewhere: &mut scratch.elsewhere };
                near.all(kernel, column, group(step - 2), &scratch.buckets[step % 2]);
            }
        }
    }
}

/// Distributes queries by their highest bits. Sorting them fully would cost more than it saves.
fn distribute(queries: &[Keyed], out: &mut Vec<Keyed>) {
    let bucket_of = |query: &Keyed| (query.0 >> (64 - SPREAD.ilog2())) as usize;
    let mut next = [0usize; SPREAD + 1];
    queries.iter().for_each(|query| next[bucket_of(query) + 1] += 1);
    (0..SPREAD).for_each(|bucket| next[bucket + 1] += next[bucket]);
    out.resize(queries.len(), (0, 0));
    for query in queries {
        let at = &mut next[bucket_of(query)];
        out[*at] = *query;
        *at += 1;
    }
}

/// [`HammingSearch::look_with`] compiled for AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
fn look_avx512<C: Column>(
    count: CountAvx512,
    search: &HammingSearch,
    table: usize,
    column: &C,
    keyed: &[Keyed],
    scratch: &mut Scratch,
    out: &mut Findings,
) {
    search.look_with(count, table, column, keyed, scratch, out);
}

/// [`HammingSearch::look_with`] compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn look_avx2<C: Column>(
    _: Avx2,
    search: &HammingSearch,
    table: usize,
    column: &C,
    keyed: &[Keyed],
    scratch: &mut Scratch,
    out: &mut Findings,
) {
    search.look_with(Portable, table, column, keyed, scratch, out);
}

impl Plan {
    fn new(arrangement: &Arrangement, rows: u64) -> Self {
        let depth = arrangement.depth(rows);
        let flips = flips(depth, arrangement.radius);
        let mut hints = flips.clone();
        hints.dedup_by_key(|flip| *flip >> LINE_BITS);
        let tail = arrangement.prefix - depth;
        // Narrowing is not worth its cost if it makes too many sub-ranges.
        let narrows = tail > 0 && ball(tail, arrangement.radius) < CROWD as u64 / 8;
        let lefts = if narrows { 0..arrangement.radius + 1 } else { 0..0 };
        Self { depth, flips, hints, tails: lefts.map(|left| self::flips(tail, left)).collect() }
    }

    #[inline(always)]
    fn prefix(&self, value: u64) -> u64 {
        value.checked_shr(64 - self.depth).unwrap_or(0)
    }

    #[inline(always)]
    fn hint<C: Column>(&self, column: &C, group: &[Keyed]) {
        for (value, _) in group {
            let prefix = self.prefix(*value);
            for flip in &self.hints {
                column.hint(prefix ^ flip);
            }
        }
    }

    #[inline(always)]
    fn find<C: Column>(&self, column: &C, group: &[Keyed], buckets: &mut Buckets) {
        buckets.clear();
        for (value, _) in group {
            let prefix = self.prefix(*value);
            for flip in &self.flips {
                buckets.push(column, prefix ^ flip);
            }
        }
    }
}

/// Returns all numbers of `bits` bits with at most `most` ones, ascending.
fn flips(bits: u32, most: u32) -> Vec<u64> {
    let mut all = vec![0u64];
    let mut last = vec![0u64];
    for _ in 0..most.min(bits) {
        let longer = |flip: &u64| {
            let flip = *flip;
            (flip.checked_ilog2().map_or(0, |top| top + 1)..bits).map(move |bit| flip | 1 << bit)
        };
        last = last.iter().flat_map(longer).collect();
        all.extend_from_slice(&last);
    }
    all.sort_unstable();
    all
}

/// Compares groups of queries with the rows of one table.
struct GroupComparison<'a> {
    search: &'a HammingSearch,
    table: usize,
    out: &'a mut Findings,
    elsewhere: &'a mut Vec<(u32, u64, u8)>,
}

impl GroupComparison<'_> {
    /// Compares each query of a group with its buckets.
    #[inline(always)]
    fn all<K: Kernel, C: Column>(mut self, kernel: K, column: &C, group: &[Keyed], buckets: &Buckets) {
        let plan = &self.search.plans[self.table];
        let mut buckets = buckets.iter();
        for query in group {
            let mut seen = 0;
            for (flip, (rows, values)) in plan.flips.iter().zip(&mut buckets) {
                if !values.is_empty() {
                    self.compare_values(kernel, *query, rows.start, values);
                    seen += values.len();
                } else if rows.len() > CROWD && !plan.tails.is_empty() {
                    seen += self.narrow(kernel, column, *query, rows, *flip);
                } else {
                    seen += self.compare(kernel, column, *query, rows);
                }
            }
            self.out.candidates[query.1 as usize] += seen as u64;
        }
    }

    /// Compares the rows with the query and returns their number.
    #[inline(always)]
    fn compare<K: Kernel, C: Column>(&mut self, kernel: K, column: &C, query: Keyed, rows: Range<usize>) -> usize {
        match column.slice(rows.clone()) {
            Some(values) => self.compare_values(kernel, query, rows.start, values),
            None => column.read(rows.clone(), &mut |first, values| self.compare_values(kernel, query, first, values)),
        }
        rows.len()
    }

    #[inline(always)]
    fn compare_values(&mut self, kernel: impl Kernel, query: Keyed, first: usize, values: &[u64]) {
        for (part, values) in values.chunks(ROWS).enumerate() {
            let mut mask = kernel.near(values, query.0, self.search.design.distance);
            while mask != 0 {
                let i = mask.trailing_zeros() as usize;
                self.report(query, first + part * ROWS + i, values[i]);
                mask &= mask - 1;
            }
        }
    }

    /// Compares only those rows of a bucket whose whole prefix is within the radius.
    #[cold]
    fn narrow<K: Kernel, C: Column>(
        &mut self,
        kernel: K,
        column: &C,
        query: Keyed,
        rows: Range<usize>,
        flip: u64,
    ) -> usize {
        let (plan, arrangement) = (&self.search.plans[self.table], &self.search.design.arrangements[self.table]);
        let left = arrangement.radius - flip.count_ones().min(arrangement.radius);
        let below = u64::MAX.checked_shr(arrangement.prefix).unwrap_or(0);
        let flipped = query.0 ^ flip.checked_shl(64 - plan.depth).unwrap_or(0);
        let mut seen = 0;
        for tail in plan.tails.get(left as usize).into_iter().flatten() {
            let low = (flipped ^ tail << (64 - arrangement.prefix)) & !below;
            seen += self.compare(kernel, column, query, within(column, rows.clone(), low, low | below));
        }
        seen
    }

    /// Reports a row within the distance if this is the first table that guarantees to find it.
    #[inline(never)]
    fn report(&mut self, query: Keyed, at: usize, row: u64) {
        let design = &self.search.design;
        let order = &design.arrangements[self.table].order;
        let pattern = order.undo(row ^ query.0);
        if design.arrangements.iter().position(|one| one.finds(pattern)) != Some(self.table) {
            return;
        }
        let distance = pattern.count_ones() as u8;
        if self.table == 0 {
            self.out.found.push(HammingHit { query: query.1, row: at as u32, distance });
        } else {
            self.elsewhere.push((query.1, design.arrangements[0].order.apply(order.undo(row)), distance));
        }
    }
}

/// Returns the positions in `rows` of the values in `low..=high`.
fn within<C: Column>(column: &C, rows: Range<usize>, low: u64, high: u64) -> Range<usize> {
    let first = |is_before: &dyn Fn(u64) -> bool| {
        let (mut from, mut to) = (rows.start, rows.end);
        while from < to {
            let middle = from + (to - from) / 2;
            if value_at(column, middle).is_some_and(is_before) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    };
    first(&|value| value < low)..first(&|value| value <= high)
}

fn value_at<C: Column>(column: &C, at: usize) -> Option<u64> {
    let mut value = column.slice(at..at + 1).and_then(|values| values.first().copied());
    if value.is_none() {
        column.read(at..at + 1, &mut |_, values| value = values.first().copied());
    }
    value
}

/// Finds the positions of values that the column contains exactly once.
pub fn locate<C: Column>(column: &C, values: &[(u32, u64, u8)], found: &mut Vec<HammingHit>) {
    let prefix = |value: u64| value.checked_shr(64 - column.depth()).unwrap_or(0);
    let mut buckets = Buckets::default();
    for group in values.chunks(IN_FLIGHT) {
        group.iter().for_each(|(_, value, _)| column.hint(prefix(*value)));
        buckets.clear();
        group.iter().for_each(|(_, value, _)| buckets.push(column, prefix(*value)));
        for ((query, value, distance), (bucket, values)) in group.iter().zip(buckets.iter()) {
            let place = |first: usize| bucket.start + first;
            let rows = match values.is_empty() {
                true => within(column, bucket, *value, *value),
                false => {
                    place(values.partition_point(|other| other < value))
                        ..place(values.partition_point(|other| other <= value))
                }
            };
            found.extend(rows.map(|row| HammingHit { query: *query, row: row as u32, distance: *distance }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables::tests::{designs, fingerprints};
    use super::*;
    use crate::testing::fixed;
    use lookalike_table::plain::Plain;
    use proptest::prelude::*;

    /// A column that can only be read in pieces, as a compressed one.
    struct Pieces(Plain);

    impl Column for Pieces {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn depth(&self) -> u32 {
            self.0.depth()
        }

        fn hint(&self, _: u64) {}

        fn bucket(&self, prefix: u64) -> Range<usize> {
            self.0.bucket(prefix)
        }

        fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64])) {
            let values = self.0.slice(rows.clone()).unwrap_or_default();
            values.chunks(3).enumerate().for_each(|(i, part)| seen(rows.start + i * 3, part));
        }
    }

    fn column(arrangement: &Arrangement, values: &[u64]) -> Plain {
        let mut rows: Vec<u64> = values.iter().map(|value| arrangement.order.apply(*value)).collect();
        rows.sort_unstable();
        Plain::new(rows, arrangement.depth(values.len() as u64))
    }

    proptest! {
        #![proptest_config(fixed(40))]
        #[test]
        fn every_machine_and_column_matches_portable(values in fingerprints(0..500), distance in 0u32..=10) {
            let mut values = values;
            values.sort_unstable();
            values.dedup();
            let queries: Vec<u64> = values.iter().map(|value| value ^ 5 << (value % 60)).collect();
            for design in designs(distance, values.len() as u64).iter().step_by(3) {
                let columns: Vec<Plain> = design.arrangements.iter().map(|one| column(one, &values)).collect();
                let pieces: Vec<Pieces> = columns.iter().cloned().map(Pieces).collect();
                let expected = HammingSearch::on(design, values.len() as u64, Way::Portable).run(&columns, &queries);
                prop_assert_eq!(&HammingSearch::new(design, values.len() as u64).run(&pieces, &queries), &expected);
                for way in Way::all() {
                    let search = HammingSearch::on(design, values.len() as u64, way);
                    prop_assert_eq!(&search.run(&columns, &queries), &expected, "{:?}", way);
                }
            }
        }
    }

    #[test]
    fn flips_are_all_masks_of_few_bits() {
        for (bits, most) in [(0, 3), (1, 0), (5, 2), (9, 9), (12, 3)] {
            let expected: Vec<u64> = (0..1u64 << bits).filter(|mask| mask.count_ones() <= most).collect();
            assert_eq!(flips(bits, most), expected);
        }
    }
}
