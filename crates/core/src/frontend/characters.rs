//! Reads any text as the characters of its canonical form, one segment at a time (see `canonical.rs`).
//!
//! Stretches of ASCII go through the block fold of `ascii.rs`. Other characters take one table look-up each. Only segments of
//! several characters, and characters that fold to several, are normalised in full.
//!
//! Cost: 0.2 ns per byte of ASCII, 2–4 ns per byte of other scripts.

#[cfg(target_arch = "x86_64")]
use super::ascii::avx2;
use super::ascii::{ascii_prefix, fold_portable, lower, FoldBlock, BLOCK};
use super::canonical::{fold_of, fold_segment, short_folds, Fold, JOINS, MAX_JOINING, NOTHING, SEVERAL, SHORT};
use super::{Source, Spans};
#[cfg(target_arch = "x86_64")]
use crate::machine::Avx2;

/// Reads a text as canonical code points.
pub struct Characters<'t> {
    text: &'t str,
    at: usize,
    homoglyphs: bool,
    /// Buffers of the full fold.
    segment: Vec<char>,
    folded: Vec<u32>,
}

impl<'t> Characters<'t> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'t str, homoglyphs: bool) -> Self {
        Self { text, at: 0, homoglyphs, segment: Vec::new(), folded: Vec::new() }
    }

    /// Returns the character at a byte offset, or `None` at the end of the text.
    #[inline(always)]
    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    /// [`Source::fill`] with a given function that folds a block of ASCII.
    #[inline(always)]
    fn fill_with<P: Spans>(&mut self, fold: impl FoldBlock, tokens: &mut Vec<u32>, spans: &mut P, want: usize) -> bool {
        while tokens.len() < want {
            self.fold_ascii(&fold, tokens, spans, want);
            self.fold_short(tokens, spans, want);
            if !self.fold_mixed(tokens, spans, want) {
                return false;
            }
        }
        true
    }

    /// `fill_with` compiled for AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn fill_avx2<P: Spans>(&mut self, _: Avx2, tokens: &mut Vec<u32>, spans: &mut P, want: usize) -> bool {
        self.fill_with(|block, wanted, out| avx2::fold_block(block, wanted, out), tokens, spans, want)
    }

    /// Folds ASCII at the front, except the last character before a non-ASCII one, which may combine with it.
    #[inline(always)]
    fn fold_ascii<P: Spans>(&mut self, fold: &impl FoldBlock, tokens: &mut Vec<u32>, spans: &mut P, want: usize) {
        let bytes = self.text.as_bytes();
        while let Some(block) = bytes[self.at..].first_chunk::<BLOCK>().filter(|_| tokens.len() < want) {
            let ascii = ascii_prefix(block);
            let is_whole = ascii == BLOCK && bytes.get(self.at + BLOCK).is_none_or(u8::is_ascii);
            let len = if is_whole { BLOCK } else { ascii.saturating_sub(1) };
            let wanted = if is_whole { u32::MAX } else { (1 << len) - 1 };
            let mut out = [0; BLOCK];
            let kept = fold(block, wanted, &mut out);
            // Copies a fixed number of tokens and truncates, because constant lengths compile to vector moves.
            let end = tokens.len() + kept.count_ones() as usize;
            let mut wide = [0; BLOCK];
            for (code, byte) in wide.iter_mut().zip(out) {
                *code = u32::from(byte);
            }
            tokens.extend_from_slice(&wide);
            tokens.truncate(end);
            spans.bytes(self.at, kept);
            self.at += len;
            if !is_whole {
                return;
            }
        }
    }

    /// Folds characters of one or two bytes that are alone in their segment and fold to at most one character. Stops at any other
    /// character and at a long stretch of ASCII.
    ///
    /// Only the exits are branches, because text of two alphabets is unpredictable.
    #[inline(always)]
    fn fold_short<P: Spans>(&mut self, tokens: &mut Vec<u32>, spans: &mut P, want: usize) {
        let (bytes, table) = (self.text.as_bytes(), short_folds(self.homoglyphs));
        let Some((mut fold, mut end, _)) = short_at(bytes, self.at, table) else { return };
        let mut count = tokens.len();
        tokens.resize(count + want.saturating_sub(count).min(STRETCH), 0);
        let mut ascii = 0;
        while let Some(token) = tokens.get_mut(count) {
            let Some((next, next_end, is_ascii)) = short_at(bytes, end, table) else { break };
            if fold >= SEVERAL || next >= JOINS || ascii > BLOCK {
                break;
            }
            // Always written, but counted only if it is kept.
            *token = fold;
            let stays = usize::from(fold < NOTHING);
            count += stays;
            spans.span(self.at, end, stays);
            ascii = (ascii + 1) * usize::from(is_ascii);
            (self.at, fold, end) = (end, next, next_end);
        }
        tokens.truncate(count);
    }

    /// Folds one segment, and the next ones while they begin with longer characters; returns whether the text goes on.
    #[inline(always)]
    fn fold_mixed<P: Spans>(&mut self, tokens: &mut Vec<u32>, spans: &mut P, want: usize) -> bool {
        let mut ahead = self.text[self.at..].chars();
        let Some(mut c) = ahead.next() else { return false };
        let mut fold = self.fold_of(c);
        while tokens.len() < want {
            let end = self.at + c.len_utf8();
            let next = ahead.next().map(|next| (next, self.fold_of(next)));
            let is_alone = !matches!(next, Some((_, Fold::Joins | Fold::Ignored)));
            match fold {
                Fold::To(code) if is_alone => {
                    tokens.push(code);
                    spans.span(self.at, end, 1);
                }
                Fold::Nothing if is_alone => {}
                Fold::Ignored => {}
                _ => {
                    self.fold_full(c, tokens, spans);
                    return true;
                }
            }
            self.at = end;
            match next {
                None => return false,
                Some((next, _)) if (next as usize) < SHORT => return true,
                Some(next) => (c, fold) = next,
            }
        }
        true
    }

    /// Returns the fold of a character; ASCII is checked first, because it is the most common.
    #[inline(always)]
    fn fold_of(&self, c: char) -> Fold {
        match u8::try_from(c) {
            Ok(byte) if byte < 0x80 => lower(byte).map_or(Fold::Nothing, |lowered| Fold::To(u32::from(lowered))),
            _ => fold_of(c, self.homoglyphs),
        }
    }

    /// Gathers a segment and normalises it.
    #[cold]
    fn fold_full<P: Spans>(&mut self, first: char, tokens: &mut Vec<u32>, spans: &mut P) {
        let start = self.at;
        self.segment.clear();
        self.segment.push(first);
        self.at += first.len_utf8();
        let mut ahead = self.at;
        while let Some(c) = self.char_at(ahead).filter(|_| self.segment.len() <= MAX_JOINING) {
            match self.fold_of(c) {
                Fold::Ignored => ahead += c.len_utf8(),
                Fold::Joins => {
                    self.segment.push(c);
                    ahead += c.len_utf8();
                    self.at = ahead;
                }
                _ => break,
            }
        }
        self.folded.clear();
        fold_segment(&self.segment, self.homoglyphs, &mut self.folded);
        tokens.extend_from_slice(&self.folded);
        spans.span(start, self.at, self.folded.len());
    }
}

/// The most characters for which [`Characters::fold_short`] makes room at once.
const STRETCH: usize = 64;

/// Returns the packed fold of the character at `at`, its end, and whether it is ASCII. Returns `None` if it has three bytes or more,
/// or if fewer than two bytes are left. REQUIRES: `at` is a character boundary.
#[inline(always)]
fn short_at(bytes: &[u8], at: usize, table: &[u32; SHORT]) -> Option<(u32, usize, bool)> {
    let [first, second] = *bytes.get(at..)?.first_chunk()?;
    let is_ascii = first < 0x80;
    let pair = usize::from(first & 0x1F) << 6 | usize::from(second & 0x3F);
    let code = if is_ascii { usize::from(first) } else { pair };
    (first < 0xE0).then(|| (table[code], at + 2 - usize::from(is_ascii), is_ascii))
}

impl Source for Characters<'_> {
    type Token = u32;

    fn fill<P: Spans>(&mut self, tokens: &mut Vec<u32>, spans: &mut P, want: usize) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            // SAFETY: `avx2` proves the features the function is compiled for.
            return unsafe { self.fill_avx2(avx2, tokens, spans, want) };
        }
        self.fill_with(fold_portable, tokens, spans, want)
    }
}
