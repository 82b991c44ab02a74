//! Releasing the GIL, decided in one place.

use pyo3::Python;

/// Below this many bytes of input the work takes less than about ten microseconds, and handing the GIL over and taking it back under
/// contention costs more than other threads gain.
const WORTH_RELEASING: usize = 8 << 10;

/// Runs `work`, without the GIL if the input is long enough to be worth it.
///
/// REQUIRES: what `work` borrows from Python is immutable (`str`, `bytes`) or owned by the call.
pub fn detached<R: Send>(py: Python<'_>, len_bytes: usize, work: impl FnOnce() -> R + Send) -> R {
    if len_bytes < WORTH_RELEASING {
        work()
    } else {
        py.detach(work)
    }
}
