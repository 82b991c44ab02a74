//! Limits on what may be paired: texts of similar length, and in the same language (Manku 2007, §6 A and C).
//!
//! A judge is wrapped, so the limits hold for every method. Cost: two comparisons per pair; 8 bytes per row, kept only if
//! a limit is asked for.

use lookalike_core::clustering::{Glance, Judge};
use lookalike_core::simhash::language::TextLanguage;
use lookalike_core::simhash::lengths::is_within;

/// What limits compare of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Number of tokens.
    pub length: u32,
    /// Its language; unknown unless a limit asks for it.
    pub language: TextLanguage,
}

/// The limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The largest difference of two lengths, as a share of the longer one; `None` for no limit.
    pub length: Option<f64>,
    /// Whether only texts with the same known language are paired.
    pub same_language: bool,
}

impl Limits {
    /// Whether there is any.
    pub fn is_any(&self) -> bool {
        self.length.is_some() || self.same_language
    }

    /// Whether two texts may be paired.
    pub fn allow(&self, left: Traits, right: Traits) -> bool {
        let is_alike = is_within(self.length, left.length.into(), right.length.into());
        let is_spoken = left.language == right.language && left.language != TextLanguage::default();
        is_alike && (is_spoken || !self.same_language)
    }
}

/// Asks another judge about the pairs that the limits allow.
pub struct AlikeJudge<'a, J> {
    limits: Limits,
    /// The traits of each row; empty without limits.
    traits: &'a [Traits],
    /// The row of each document.
    documents: &'a [u32],
    judge: &'a J,
}

impl<'a, J: Judge> AlikeJudge<'a, J> {
    /// Wraps a judge. REQUIRES: `traits` of every row if there are limits.
    pub fn new(limits: Limits, traits: &'a [Traits], documents: &'a [u32], judge: &'a J) -> Self {
        Self { limits, traits, documents, judge }
    }

    fn traits(&self, document: u32) -> Traits {
        self.traits.get(self.documents[document as usize] as usize).copied().unwrap_or_default()
    }
}

impl<J: Judge> Judge for AlikeJudge<'_, J> {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        if self.limits.is_any() && !self.limits.allow(self.traits(hub), self.traits(other)) {
            return Glance::REJECTED;
        }
        self.judge.glance(hub, other)
    }

    fn is_stopped(&self) -> bool {
        self.judge.is_stopped()
    }

    fn exact(&self, hub: u32, others: &[u32], least: f64, scores: &mut Vec<Option<f64>>) {
        self.judge.exact(hub, others, least, scores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_may_differ_by_a_share_of_the_longer() {
        let of = |length| Traits { length, ..Traits::default() };
        let limits = Limits { length: Some(0.2), same_language: false };
        assert!(limits.allow(of(80), of(100)) && limits.allow(of(100), of(80)) && limits.allow(of(0), of(0)));
        assert!(!limits.allow(of(79), of(100)));
        assert!(Limits::default().allow(of(0), of(100)) && !Limits::default().is_any());
    }

    #[test]
    fn an_unknown_language_is_no_common_one() {
        let of = |code| Traits { length: 1, language: TextLanguage::of_code(code).unwrap_or_default() };
        let limits = Limits { length: None, same_language: true };
        assert!(limits.allow(of("en"), of("en")) && !limits.allow(of("en"), of("de")));
        assert!(!limits.allow(of(""), of("")) && !limits.allow(of("en"), of("")));
    }
}
