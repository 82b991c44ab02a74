//! Permutes the 64 bits of a fingerprint so that chosen bits move to the top.
//!
//! After such a permutation, fingerprints that agree in the chosen bits are adjacent when sorted. The chosen bits keep their order,
//! and so do the others. So neighbouring bits mostly move by the same number of places, and the permutation takes few masks and
//! rotations: one for two halves, at most five for two of five blocks. Instructions that gather bits exist only on some machines
//! and are not needed.
//!
//! **Source.** Manku, Jain, Das Sarma 2007, §3.1: "making the bits lying in the chosen blocks the leading bits".

/// Bits that move by the same number of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// Their positions before the permutation.
    mask: u64,
    /// The number of places that they rotate to the left.
    places: u32,
}

/// A permutation of bit positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    chosen: u64,
    /// The masks are disjoint and cover all 64 bits, before and after their rotations.
    pieces: Vec<Piece>,
}

impl Order {
    /// Makes the permutation that moves the bits of `chosen` to the top.
    pub fn new(chosen: u64) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut top, mut rest) = (64, 64 - chosen.count_ones());
        for bit in (0..64).rev() {
            let target = if chosen >> bit & 1 == 1 { &mut top } else { &mut rest };
            *target -= 1;
            let places = (*target + 64 - bit) % 64;
            match pieces.iter_mut().find(|piece| piece.places == places) {
                Some(piece) => piece.mask |= 1 << bit,
                None => pieces.push(Piece { mask: 1 << bit, places }),
            }
        }
        Self { chosen, pieces }
    }

    /// Returns the bits that move to the top.
    pub fn chosen(&self) -> u64 {
        self.chosen
    }

    /// Returns the value with its bits permuted.
    #[inline]
    pub fn apply(&self, value: u64) -> u64 {
        self.pieces.iter().fold(0, |sum, piece| sum | (value & piece.mask).rotate_left(piece.places))
    }

    /// Reverses [`Self::apply`].
    #[inline]
    pub fn undo(&self, value: u64) -> u64 {
        self.pieces.iter().fold(0, |sum, piece| sum | value.rotate_right(piece.places) & piece.mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fixed;
    use proptest::prelude::*;

    /// The definition, bit by bit: chosen ones first, each group from the highest down.
    fn apply_naive(chosen: u64, value: u64) -> u64 {
        let groups = [1, 0].map(|wanted| (0..64).rev().filter(move |bit| chosen >> bit & 1 == wanted));
        groups.into_iter().flatten().fold(0, |sum, bit| sum << 1 | value >> bit & 1)
    }

    /// Masks of few blocks, as designs have them, and any others.
    fn masks() -> impl Strategy<Value = u64> {
        let blocks = prop::collection::vec((0u32..64, 0u32..64), 0..5).prop_map(|blocks| {
            blocks.iter().fold(0, |sum, (from, to)| sum | (u64::MAX >> (63 - from.abs_diff(*to))) << from.min(to))
        });
        prop_oneof![blocks, any::<u64>(), Just(0), Just(u64::MAX)]
    }

    proptest! {
        #![proptest_config(fixed(2000))]
        #[test]
        fn the_pieces_match_naive(chosen in masks(), value in any::<u64>()) {
            prop_assert_eq!(Order::new(chosen).apply(value), apply_naive(chosen, value));
        }

        #[test]
        fn an_order_is_undone(chosen in masks(), value in any::<u64>()) {
            let order = Order::new(chosen);
            prop_assert_eq!(order.undo(order.apply(value)), value);
            prop_assert_eq!(order.apply(order.undo(value)), value);
        }

        #[test]
        fn an_order_is_a_bijection_of_the_bits(chosen in masks()) {
            let order = Order::new(chosen);
            let targets = (0..64).fold(0, |sum, bit| sum | order.apply(1 << bit));
            prop_assert!((0..64).all(|bit| order.apply(1 << bit).is_power_of_two()));
            prop_assert_eq!(targets, u64::MAX);
        }
    }

    #[test]
    fn halves_are_one_rotation() {
        assert_eq!(Order::new(u64::MAX << 32).pieces.len(), 1);
        assert_eq!(Order::new(u64::MAX >> 32).pieces.len(), 1);
    }
}
