//! A sorted column of 64-bit values that is looked up by prefix: what a search over plain or compressed values needs of them.
//!
//! A column knows by heart where the values with each prefix of `depth` bits stand: its buckets. One lookup takes three
//! steps, so that a caller with many of them can let memory work on all at once: `hint`, then `bucket`, then `read`.

use std::ops::Range;

/// Values in ascending order, in buckets by prefix.
pub trait Column: Sync {
    /// Number of values.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of the prefix that has a bucket of its own; 0 where all values are in one.
    fn depth(&self) -> u32;

    /// Asks the memory for what `bucket` will need; does nothing else.
    fn hint(&self, prefix: u64);

    /// Positions of the values whose top `depth` bits are `prefix`, and asks the memory for them.
    /// A prefix with more than `depth` bits has an empty bucket.
    fn bucket(&self, prefix: u64) -> Range<usize>;

    /// The values at `rows` where the column holds them as they are; a caller then need not `read`.
    #[inline]
    fn slice(&self, _rows: Range<usize>) -> Option<&[u64]> {
        None
    }

    /// Calls `seen` with the values at `rows`, in ascending order and in one or more slices, each with the position of its
    /// first value. Positions beyond the end are left out.
    fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64]));

    /// Calls `seen` with all values in `low..=high`, as `read` does.
    fn visit(&self, low: u64, high: u64, seen: &mut dyn FnMut(usize, &[u64])) {
        if low > high {
            return;
        }
        let prefix = |value: u64| value.checked_shr(64 - self.depth()).unwrap_or(0);
        let rows = self.bucket(prefix(low)).start..self.bucket(prefix(high)).end;
        self.read(rows, &mut |first, values| {
            let from = values.partition_point(|value| *value < low);
            let to = values.partition_point(|value| *value <= high);
            if from < to {
                seen(first + from, &values[from..to]);
            }
        });
    }
}
