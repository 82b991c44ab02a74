//! Releasing the GIL, and waiting for locks without it, decided in one place.
//!
//! A thread that waits for a lock with the GIL in its hand stops every other thread of the program, also the one that
//! holds the lock and needs the GIL to let it go. So no other file of the binding takes a lock.

use pyo3::Python;
use std::sync::{Mutex, PoisonError, RwLock};

/// Below this many bytes of input the work takes less than about ten microseconds, and handing the GIL over and taking it back under
/// contention costs more than other threads gain.
const WORTH_RELEASING: usize = 8 << 10;

/// Runs `work`, without the GIL if the input is long enough to be worth it.
///
/// REQUIRES: what `work` borrows from Python is immutable (`str`, `bytes`) or owned by the call, and it takes no lock.
pub fn detached<R: Send>(py: Python<'_>, len_bytes: usize, work: impl FnOnce() -> R + Send) -> R {
    if len_bytes < WORTH_RELEASING {
        work()
    } else {
        py.detach(work)
    }
}

/// Runs `work` on what a lock guards, without the GIL from before the lock is waited for until it is let go.
pub fn locked<T: Send, R: Send>(py: Python<'_>, lock: &Mutex<T>, work: impl FnOnce(&mut T) -> R + Send) -> R {
    py.detach(|| work(&mut lock.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// As [`locked`], beside others who only read.
pub fn read<T: Send + Sync, R: Send>(py: Python<'_>, lock: &RwLock<T>, work: impl FnOnce(&T) -> R + Send) -> R {
    py.detach(|| work(&lock.read().unwrap_or_else(PoisonError::into_inner)))
}

/// As [`locked`], alone.
pub fn written<T: Send + Sync, R: Send>(py: Python<'_>, lock: &RwLock<T>, work: impl FnOnce(&mut T) -> R + Send) -> R {
    py.detach(|| work(&mut lock.write().unwrap_or_else(PoisonError::into_inner)))
}
