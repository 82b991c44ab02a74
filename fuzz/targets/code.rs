//! Reads any text as code of any language: spans from the tree and from the lexer are valid, and the result is the same twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lookalike_code::{CodeOptions, CodeTokens, LANGUAGES};

/// One text in so many is parsed a second time. Parsing is nearly all of the cost, and what could make a second result
/// differ (a parser that keeps something of the text before) does so for most texts.
const REPEATED: usize = 8;

/// Fails unless the spans are in order, apart and between characters.
fn check(code: &CodeTokens, text: &str) {
    assert!(code.tokens.len() == code.spans.len() && code.kinds.len() == code.spans.len());
    for spans in [&code.spans, &code.comments] {
        let mut before = 0;
        for span in spans {
            assert!(before <= span.start && span.start < span.end, "{span:?} after {before}");
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} cuts a character");
            before = span.end;
        }
    }
}

// The first byte chooses the language, its highest bit whether comments are kept.
fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    let language = LANGUAGES[usize::from(first & 0x7F) % LANGUAGES.len()];
    let options = CodeOptions { comments: first & 0x80 != 0 };
    let text = String::from_utf8_lossy(rest);
    let (Ok(parsed), Ok(lexed)) = (language.tokenize(&text, options), language.lex(&text, options)) else { return };
    check(&parsed, &text);
    check(&lexed, &text);
    if rest.len() % REPEATED == 0 {
        assert_eq!(language.tokenize(&text, options), Ok(parsed));
    }
});
