//! Questions against naive twins.
