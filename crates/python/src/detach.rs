//! Releasing the GIL, waiting for locks without it, and hearing signals meanwhile, decided in one place.
//!
//! A thread that waits for a lock with the GIL in its hand stops every other thread of the program, also the one that
//! holds the lock and needs the GIL to let it go. So no other file of the binding takes a lock.

use pyo3::{PyResult, Python};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

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

/// How often signals are looked for. It decides how soon an interrupt is heard, never an answer.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `work` on the threads of a pool, without the GIL. When a signal handler of Python raises, the flag that `work` was given
/// becomes true; `work` must then end soon, and what the handler raised is returned.
pub fn interruptible<R: Send>(
    py: Python<'_>,
    pool: &rayon::ThreadPool,
    work: impl FnOnce(&AtomicBool) -> R + Send,
) -> PyResult<R> {
    let (raised, done) = py.detach(|| {
        let (stop, (sender, receiver)) = (AtomicBool::new(false), channel());
        pool.in_place_scope(|scope| {
            scope.spawn(|_| drop(sender.send(work(&stop))));
            let mut raised = None;
            loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(done) => return (raised, Some(done)),
                    Err(RecvTimeoutError::Disconnected) => return (raised, None),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = Python::attach(|py| py.check_signals()).err();
                        stop.store(raised.is_some(), Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    });
    match (raised, done) {
        (Some(error), _) => Err(error),
        (None, Some(done)) => Ok(done),
        // The scope has raised the panic of the work already.
        (None, None) => Err(pyo3::exceptions::PyRuntimeError::new_err("the work ended without an answer")),
    }
}
