//! Whether two lengths are similar enough for near-duplicates (Manku 2007, §6 A). Cost: one comparison.

/// Whether lengths differ by at most this share of the longer one; without a share any do.
pub fn is_within(share: Option<f64>, left: u64, right: u64) -> bool {
    let (short, long) = (left.min(right), left.max(right));
    share.is_none_or(|share| (long - short) as f64 <= share * long as f64)
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn lengths_may_differ_by_a_share_of_the_longer() {
        assert!(is_within(Some(0.2), 80, 100) && is_within(Some(0.2), 100, 80) && !is_within(Some(0.2), 79, 100));
        assert!(is_within(Some(0.0), 0, 0) && !is_within(Some(0.0), 1, 0) && is_within(None, 0, u64::MAX));
    }
}
