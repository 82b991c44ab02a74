//! Workers that are costly to make, kept between jobs: signers and askers, whose tables take longer to fill than a
//! document to sign.

use std::sync::{Mutex, PoisonError};

/// Workers that are not at work.
#[derive(Debug)]
pub struct Idle<T>(Mutex<Vec<T>>);

impl<T> Idle<T> {
    /// Starts without workers.
    pub const fn none() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Starts with one worker.
    pub fn new(first: T) -> Self {
        Self(Mutex::new(vec![first]))
    }

    /// Works with one that is not at work, or with a new one. The lock is held only to take it and to give it back.
    /// Errors: those of `make` and `work`.
    pub fn with<R, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
        work: impl FnOnce(&mut T) -> Result<R, E>,
    ) -> Result<R, E> {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut worker = idle.map_or_else(make, Ok)?;
        let done = work(&mut worker);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_made_only_if_all_are_at_work() {
        let pool = Idle::new(1);
        let made = pool.with::<_, ()>(|| Err(()), |first| pool.with(|| Ok(2), |second| Ok((*first, *second))));
        assert_eq!(made, Ok((1, 2)));
        let both = pool.with(|| Err(()), |one| pool.with(|| Err(()), |other| Ok(*one + *other)));
        assert_eq!(both, Ok(3));
        assert_eq!(pool.with(|| Ok(0), |_| Err::<(), _>("failed")), Err("failed"));
        assert_eq!(pool.with(|| Err(()), |one| pool.with(|| Err(()), |other| Ok(*one + *other))), Ok(3), "and is kept");
    }
}
