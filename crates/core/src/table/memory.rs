//! Large columns in large pages: memory that is looked up at random spends much of its time on finding pages.
//!
//! Where the system gives large pages to those who ask (Linux, `madvise`), a lookup in 100 million values takes about two thirds
//! of the time. Elsewhere, and for small columns, this is an ordinary vector.

/// Columns below this many bytes fit the caches of page addresses as they are.
const LARGE_BYTES: usize = 1 << 22;

/// An empty vector with room for `capacity` values, in large pages where that is possible.
pub fn reserve<T>(capacity: usize) -> Vec<T> {
    let values = Vec::with_capacity(capacity);
    advise(&values);
    values
}

/// Asks for large pages, before the first touch: afterwards the system would have to move what is there. Whether it follows
/// changes no value, so its answer is not looked at.
#[cfg(target_os = "linux")]
fn advise<T>(values: &Vec<T>) {
    /// Addresses that the system takes are multiples of this on every machine that it runs on.
    const PAGE: usize = 1 << 16;
    let bytes = values.capacity().saturating_mul(size_of::<T>());
    if bytes < LARGE_BYTES {
        return;
    }
    let skipped = (PAGE - values.as_ptr().addr() % PAGE) % PAGE;
    let whole = (bytes - skipped) / PAGE * PAGE;
    // SAFETY: the range lies within the vector's own allocation, and this advice changes neither values nor access.
    unsafe { libc::madvise(values.as_ptr().cast_mut().cast::<u8>().add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_values: &Vec<T>) {
    let _ = LARGE_BYTES;
}

/// Asks the memory for the cache line of a value. Nothing is read; an index beyond the end asks for nothing.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(index) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: the pointer is that of a value; a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_vector_holds_what_is_put_in() {
        for length in [0usize, 1, 1 << 10, (1 << 22) / 8, (1 << 20) + 13] {
            let mut values = reserve::<u64>(length);
            values.extend((0..length as u64).map(|i| i * i));
            prefetch(&values, 0);
            prefetch(&values, length);
            assert!(values.capacity() >= length);
            assert!(values.iter().enumerate().all(|(i, value)| *value == (i * i) as u64));
        }
    }
}
