//! The trait of sorted columns of 64-bit values that are looked up by prefix, plain or compressed.
//!
//! A column has a bucket of values for each prefix of `depth` bits. A lookup takes three steps, `hint`, `bucket` and `read`, so that
//! a caller with many lookups can overlap their memory accesses.

use std::ops::Range;

/// Values in ascending order, in buckets by prefix.
pub trait Column: Sync {
    /// Returns the number of values.
    fn len(&self) -> usize;

    /// Returns whether there are no values.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bits of the prefix of a bucket; 0 if all values are in one bucket.
    fn depth(&self) -> u32;

    /// Prefetches the memory that `bucket` will read.
    fn hint(&self, prefix: u64);

    /// Returns the positions of the values whose top `depth` bits are `prefix`, and prefetches these values.
    /// A prefix of more than `depth` bits has an empty bucket.
    fn bucket(&self, prefix: u64) -> Range<usize>;

    /// As `bucket`. A column that decodes values to find their positions also appends them to `values`: all of the bucket, or none.
    #[inline(always)]
    fn bucket_with(&self, prefix: u64, _values: &mut Vec<u64>) -> Range<usize> {
        self.bucket(prefix)
    }

    /// Returns the values at `rows` if the column stores them uncompressed; otherwise the caller must `read`.
    #[inline]
    fn slice(&self, _rows: Range<usize>) -> Option<&[u64]> {
        None
    }

    /// Calls `seen` with the values at `rows`, in ascending order and in one or more slices, each with the position of its first
    /// value. Positions beyond the end are skipped.
    fn read(&self, rows: Range<usize>, seen: &mut dyn FnMut(usize, &[u64]));

    /// Calls `seen` with all values in `low..=high`, like `read`.
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
