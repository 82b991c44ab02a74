//! Reads any text as tokens: spans are exact for every unit, and block-by-block fingerprints equal those of the stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_core::fingerprint::{Fingerprinter, Thresholds};
use lookalike_core::frontend::{locate, stream, Options, Span, Unit};
use lookalike_core::scheme::{Picks, SchemeKind};

fuzz_target!(|input: (bool, u8, String)| {
    let (homoglyphs, k, text) = input;
    let k = i64::from(k % 8) + 1;
    for unit in [Unit::Character, Unit::Word, Unit::Line] {
        let options = Options { unit, homoglyphs };
        let Ok(tokens) = stream(&text, options) else { continue };
        let mut before = Span::default();
        for span in &tokens.spans {
            assert!(
                span.start < span.end && (*span == before || span.start >= before.end),
                "{span:?} after {before:?}"
            );
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} cuts a character");
            before = *span;
        }
        let Ok(thresholds) = Thresholds::new(k, k + 5) else { continue };
        let by = Fingerprinter::new(thresholds, SchemeKind::CompactRobust, options);
        let mut picks = Picks::default();
        assert_eq!(by.text(&text, &mut picks), Ok(tokens.tokens.len()));
        assert_eq!(picks, by.stream(&tokens));
        let spans = locate(&text, options, &picks.positions, k as usize);
        assert!(spans.iter().all(|span| span.start < span.end));
    }
});
