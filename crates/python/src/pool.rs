//! Threads that an object of Python owns.

use pyo3::exceptions::PyOSError;
use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Deref;
use std::process;
use std::sync::Arc;

/// A pool of threads. In a forked process its threads do not exist; ending them would wait for locks that they held in
/// the other process, for ever. So there the pool is forgotten instead.
pub struct Pool {
    threads: Arc<ThreadPool>,
    /// The process that has the threads.
    process: u32,
}

impl Pool {
    /// Starts so many threads, one for each core if that is 0. Errors: the machine has no threads left.
    pub fn new(threads: usize) -> PyResult<Self> {
        let threads = ThreadPoolBuilder::new().num_threads(threads).build();
        let threads = threads.map_err(|error| PyOSError::new_err(format!("no threads can be had: {error}")))?;
        Ok(Self { threads: Arc::new(threads), process: process::id() })
    }
}

impl Deref for Pool {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        &self.threads
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if process::id() != self.process {
            std::mem::forget(Arc::clone(&self.threads));
        }
    }
}
