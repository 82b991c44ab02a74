//! Requests large memory pages for large columns, and prefetches cache lines.
//!
//! Random lookups spend much of their time on translating page addresses. Where the system grants large pages (Linux, `madvise`), a
//! lookup in 100 million values takes about two thirds of the time. Elsewhere, and for small columns, these are ordinary vectors.

/// Below this many bytes, the processor's cache of page addresses covers ordinary pages.
const LARGE_BYTES: usize = 1 << 22;

/// Returns an empty vector with room for `capacity` values, in large pages where possible.
pub fn reserve<T>(capacity: usize) -> Vec<T> {
    let values = Vec::with_capacity(capacity);
    advise(&values);
    values
}

/// Requests large pages before the memory is first touched; later the system would have to move its content. The result is ignored,
/// because the request only affects speed.
#[cfg(target_os = "linux")]
fn advise<T>(values: &Vec<T>) {
    /// A multiple of the page size on every machine, as the system requires for addresses.
    const PAGE: usize = 1 << 16;
    let bytes = values.capacity().saturating_mul(size_of::<T>());
    if bytes < LARGE_BYTES {
        return;
    }
    let skipped = (PAGE - values.as_ptr().addr() % PAGE) % PAGE;
    let whole = (bytes - skipped) / PAGE * PAGE;
    // SAFETY: `skipped` + `whole` ≤ `bytes`, so the range lies within the vector's allocation; `bytes` ≥ LARGE_BYTES > PAGE was
    // checked above. The advice changes neither values nor access rights.
    unsafe { libc::madvise(values.as_ptr().cast_mut().cast::<u8>().add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_values: &Vec<T>) {
    let _ = LARGE_BYTES;
}

/// Prefetches the cache line of a value; does nothing for an index beyond the end.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(index) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a prefetch may take any address and changes nothing; this one is that of a value.
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
