//! Decodes bytes to text. The result also has the encoding, the number of replaced characters, and a map to original offsets.
//!
//! The rules, in order; the first that applies decides.
//!
//! 1. 4 GiB or more, of bytes or of text, is refused: offsets have 32 bits.
//! 2. A byte-order mark decides: UTF-8, UTF-32, UTF-16. It stays in the text as U+FEFF, which the canonical form ignores, so offset
//!    0 of the text is always offset 0 of the original.
//! 3. Valid UTF-8 without control characters is borrowed as it is. With a NUL it may be UTF-16 of an alphabet; in 7-bit
//!    bytes with an escape it may be ISO-2022-JP; with more than 10 % control characters it is binary.
//! 4. Invalid UTF-8 with at least two well-formed sequences for each stray byte, or whose only fault is a sequence cut
//!    at the very end, is damaged UTF-8: one U+FFFD for each maximal ill-formed part (as `String::from_utf8_lossy` has
//!    it) and for each surrogate written in three bytes (CESU-8, WTF-8; there it has three).
//! 5. Anything else with a NUL is UTF-16 if it reads as such, else binary.
//! 6. The rest is a legacy encoding, guessed, and binary after all if the result is not readable.
//!
//! Control characters are those of C0 except backspace, white space and escape. UTF-32 and EBCDIC without a mark, UTF-7 and HZ are
//! not recognised.
//!
//! Cost: linear. Valid UTF-8 takes one validation, one scan at 30 GB/s and no memory. UTF-16 is read at 100 MB/s, legacy encodings
//! at 30 to 100 MB/s after a guess of at most 2 ms.
//!
//! Source: the Encoding Standard (encoding.spec.whatwg.org) as encoding_rs implements it, and chardetng, the detector
//! of Firefox. The rules before the guess are ours, tuned on message catalogues in 29 languages and on the binaries of
//! a Debian system.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP};

use super::offsets::{self, Builder, OffsetMap, MAX_LEN_BYTES};
use super::offsets::{is_surrogate, read_legacy, read_utf16, read_utf32, utf16_characters, utf8_pieces};
use crate::error::{Error, Result};

pub use super::offsets::Cursor;

/// Valid UTF-8 is binary if more than one byte in this many is a control character. Texts with NUL-padded fields have fewer,
/// compiled files more. A guessed text may have the same share of unreadable characters.
const CONTROLS_ONE_IN: usize = 10;

/// If the encoding is uncertain too, the limit is one fault in this many; random bytes have one in ten.
const DOUBTFUL_ONE_IN: usize = 50;

/// Damaged UTF-8 has at least this many well-formed multi-byte sequences per stray byte. Legacy texts have fewer: in GBK, the worst
/// case, one pair of bytes in six is such a sequence, and every other pair is two stray bytes.
const SEQUENCES_PER_STRAY: usize = 2;

/// UTF-16 without a mark may have one unusual character in this many; random bytes read as UTF-16 have one in three.
const UNUSUAL_ONE_IN: usize = 32;

/// The detector reads at most this many bytes: it reads 12 MB/s, and more bytes seldom change the guess.
const SAMPLE_BYTES: usize = 16 << 10;

/// Below this size the detector is told that the text ends, because a guess from few bytes needs every hint. Above, it is not
/// told: a text cut inside a character would count against its encoding.
const SHORT_SAMPLE_BYTES: usize = 256;

/// A decoded text, and how it was decoded.
#[derive(Clone, Debug)]
pub struct Decoded<'b> {
    /// The text; borrowed from the bytes when they are valid UTF-8.
    pub text: Cow<'b, str>,
    /// The label of the encoding in lower case, for instance `utf-8`, `utf-16le`, `windows-1252`.
    pub encoding: &'static str,
    /// Whether the encoding was inferred from NULs or escapes, or guessed by chardetng.
    pub guessed: bool,
    /// How many U+FFFD stand in `text` for bytes that could not be read.
    pub replaced: u32,
    map: OffsetMap,
}

impl<'b> Decoded<'b> {
    /// Wraps a text that was never bytes; its maker replaced `replaced` characters. Its encoding is called `str`, and its offsets map
    /// to themselves. REQUIRES: less than 4 GiB.
    pub fn from_text(text: Cow<'b, str>, replaced: u32) -> Self {
        let map = OffsetMap::identity(text.len());
        Self { text, encoding: "str", guessed: false, replaced, map }
    }

    /// Returns the original byte offset of a character boundary of `text`, by binary search; `text.len()` maps to the end.
    ///
    /// `original(a)..original(b)` are the bytes of `text[a..b]`. An escape sequence belongs to the character after it
    /// (at the end of the text, before it). Where two characters come from one sequence (four cases in Big5), the first
    /// has its bytes and the second none.
    ///
    /// REQUIRES: `offset` is a character boundary; otherwise the result lies between those of the neighbouring boundaries.
    pub fn original(&self, offset: usize) -> usize {
        self.map.original(offset)
    }

    /// Returns a cursor that maps ascending offsets at constant cost on average.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::new(&self.map)
    }

    /// Returns whether every offset of `text` is the same in the original.
    pub fn is_identity(&self) -> bool {
        self.map.is_identity()
    }

    fn borrowed(text: &'b str) -> Self {
        Self { encoding: "utf-8", ..Self::from_text(Cow::Borrowed(text), 0) }
    }

    fn built(built: Builder, bytes: &[u8], encoding: &'static str, guessed: bool) -> Result<Self> {
        let (text, map, replaced) = built.finish(bytes.len())?;
        Ok(Self { text: Cow::Owned(text), encoding, guessed, replaced, map })
    }
}

/// Decodes bytes by the rules at the top of this file.
///
/// Errors: `TooLarge` when the bytes or their text reach 4 GiB, `Binary` when they are not text.
pub fn decode(bytes: &[u8]) -> Result<Decoded<'_>> {
    check_len(bytes.len() as u64)?;
    if let Some((_, form)) = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return form.read(bytes, false);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !has_controls(bytes) => Ok(Decoded::borrowed(text)),
        Ok(text) => read_valid(text),
        Err(_) => read_invalid(bytes),
    }
}

fn check_len(len_bytes: u64) -> Result<()> {
    if len_bytes > MAX_LEN_BYTES {
        return Err(Error::TooLarge { len_bytes });
    }
    Ok(())
}

/// Applies rule 3 to text in which [`has_controls`] found something.
fn read_valid(text: &str) -> Result<Decoded<'_>> {
    let bytes = text.as_bytes();
    // Pairs of ASCII bytes read as Chinese, so only alphabets count here: otherwise a list of names separated by NULs would be
    // UTF-16. In other scripts, UTF-16 that is also valid UTF-8 is rare beyond twenty characters.
    if let Some(form) = utf16_without_mark(bytes, is_of_alphabet) {
        return form.read(bytes, true);
    }
    check_controls(bytes, CONTROLS_ONE_IN, "more than 10 % control characters, the first")?;
    Ok(read_iso_2022_jp(bytes)?.unwrap_or_else(|| Decoded::borrowed(text)))
}

/// Applies rules 4 to 6.
fn read_invalid(bytes: &[u8]) -> Result<Decoded<'_>> {
    let has_nul = bytes.contains(&0);
    if is_damaged_utf8(bytes, has_nul) {
        let reason = "more than 2 % control characters in damaged UTF-8, the first";
        check_controls(bytes, DOUBTFUL_ONE_IN, reason)?;
        return read_utf8(bytes);
    }
    match utf16_without_mark(bytes, is_usual) {
        Some(form) => form.read(bytes, true),
        None if has_nul => Err(binary(bytes, |byte| byte == 0, "NUL in what is neither UTF-8 nor UTF-16, the first")),
        None => read_guessed(bytes),
    }
}

/// Returns the error for binary data; it points at the first byte that `is_sign` accepts.
fn binary(bytes: &[u8], is_sign: impl Fn(u8) -> bool, reason: &'static str) -> Error {
    let at_byte = bytes.iter().position(|&byte| is_sign(byte)).unwrap_or(0) as u64;
    Error::Binary { at_byte, reason }
}

/// Returns whether there is a control character or an escape, which is false for nearly all texts.
///
/// Bytes 0 to 7 are above 247 after subtracting 8, and bytes 14 to 31 are below 18 after subtracting 14. So a maximum and a minimum
/// find both. The compiler vectorises them; this is twice as fast as a search for NUL alone.
fn has_controls(bytes: &[u8]) -> bool {
    bytes.chunks(4096).any(|block| {
        let (max, min) = block.iter().fold((0, u8::MAX), |(max, min): (u8, u8), byte| {
            (max.max(byte.wrapping_sub(8)), min.min(byte.wrapping_sub(14)))
        });
        max > 247 || min < 18
    })
}

/// Returns whether a byte is a C0 control, except those of layout and terminals: backspace, tab to carriage return, escape.
fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, 0x08..=0x0D | 0x1B)
}

fn check_controls(bytes: &[u8], one_in: usize, reason: &'static str) -> Result<()> {
    let controls = bytes.iter().filter(|&&byte| is_control(byte)).count();
    if controls > bytes.len() / one_in {
        return Err(binary(bytes, is_control, reason));
    }
    Ok(())
}

/// The encoding forms of Unicode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Utf8,
    Utf16Le,
    Utf16Be,
    Utf32Le,
    Utf32Be,
}

/// The byte-order marks. UTF-32 comes first, because the little-endian mark of UTF-16 is the start of that of UTF-32.
const MARKS: [(&[u8], Form); 5] = [
    (b"\xEF\xBB\xBF", Form::Utf8),
    (b"\xFF\xFE\0\0", Form::Utf32Le),
    (b"\0\0\xFE\xFF", Form::Utf32Be),
    (b"\xFF\xFE", Form::Utf16Le),
    (b"\xFE\xFF", Form::Utf16Be),
];

impl Form {
    fn read(self, bytes: &[u8], guessed: bool) -> Result<Decoded<'_>> {
        let (built, label) = match self {
            Self::Utf8 => return read_utf8(bytes),
            Self::Utf16Le => (read_utf16(bytes, u16::from_le_bytes), "utf-16le"),
            Self::Utf16Be => (read_utf16(bytes, u16::from_be_bytes), "utf-16be"),
            Self::Utf32Le => (read_utf32(bytes, u32::from_le_bytes), "utf-32le"),
            Self::Utf32Be => (read_utf32(bytes, u32::from_be_bytes), "utf-32be"),
        };
        Decoded::built(built, bytes, label, guessed)
    }
}

fn read_utf8(bytes: &[u8]) -> Result<Decoded<'_>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Decoded::borrowed(text)),
        Err(_) => Decoded::built(offsets::read_utf8(bytes), bytes, "utf-8", false),
    }
}

/// Applies rule 4. A surrogate in three bytes counts as a sequence; a sequence cut at the end of the bytes does not count. If there
/// are NULs, the cut sequence may be half a unit of UTF-16, so at least one sequence is needed.
fn is_damaged_utf8(bytes: &[u8], has_nul: bool) -> bool {
    let (mut sequences, mut strays, mut at) = (0, 0, 0);
    for (valid, ill_formed) in utf8_pieces(bytes) {
        sequences += valid.bytes().filter(|&byte| byte >= 0xC0).count();
        at += valid.len() + ill_formed.len();
        if is_surrogate(ill_formed) {
            sequences += 1;
        } else if !(ill_formed.is_empty() || at == bytes.len() && is_cut(ill_formed)) {
            strays += 1;
        }
        // The rest cannot change the result: a sequence has at least two bytes.
        if strays * SEQUENCES_PER_STRAY > sequences + (bytes.len() - at) / 2 {
            return false;
        }
    }
    sequences > 0 || !has_nul
}

/// Returns whether the bytes are the start of a well-formed sequence.
fn is_cut(ill_formed: &[u8]) -> bool {
    std::str::from_utf8(ill_formed).is_err_and(|error| error.error_len().is_none())
}

/// Returns the byte order in which the bytes are plausible UTF-16 of characters that `is_usual` accepts.
///
/// If both are plausible, the one with more ASCII wins: the common Chinese character U+4E00 is an `N` in the other order. Returns
/// `None` without a NUL or without ASCII.
fn utf16_without_mark(bytes: &[u8], is_usual: fn(char) -> bool) -> Option<Form> {
    if !bytes.contains(&0) {
        return None;
    }
    let le = utf16_ascii(bytes, u16::from_le_bytes, is_usual);
    let be = utf16_ascii(bytes, u16::from_be_bytes, is_usual);
    match le.max(be) {
        0 => None,
        most if most == le => Some(Form::Utf16Le),
        _ => Some(Form::Utf16Be),
    }
}

/// Counts the ASCII characters of the bytes read as UTF-16; returns 0 if that reading is not plausible.
///
/// It is not plausible if more than one character in 32 is unusual, or if high and low bytes are too similar. In UTF-16 the high
/// bytes stay in the blocks of one or two scripts, while the low bytes vary. In a legacy text with a stray NUL, both are bytes of
/// the same text, which would read as Chinese or Korean. So the histograms of the upper four bits may share at most half of the
/// characters; pure Chinese reaches 38 %.
fn utf16_ascii(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16, is_usual: fn(char) -> bool) -> usize {
    let (mut all, mut ascii, mut unusual) = (0, 0, 0);
    let (mut high, mut low) = ([0usize; 16], [0usize; 16]);
    for read in utf16_characters(bytes, unit) {
        all += 1;
        match read {
            Some('\t'..='\r' | ' '..='~') => ascii += 1,
            Some(character @ '\u{2000}'..='\u{FFFF}') if is_usual(character) => {
                high[character as usize >> 12] += 1;
                low[character as usize >> 4 & 0xF] += 1;
            }
            Some(character) if is_usual(character) => (),
            _ => unusual += 1,
        }
    }
    let shared: usize = high.iter().zip(low).map(|(&high, low)| high.min(low)).sum();
    let is_plausible = unusual * UNUSUAL_ONE_IN <= all && shared * 2 <= all;
    usize::from(is_plausible) * ascii
}

/// Returns whether a character is in the blocks from Latin to Tibetan, or general punctuation.
fn is_of_alphabet(character: char) -> bool {
    matches!(character, '\u{A0}'..='\u{FFF}' | '\u{2000}'..='\u{206F}')
}

/// Returns whether a character is in the blocks of everyday texts.
///
/// Private use, rare ideographs and rare or historic scripts are left out, because every further block would accept more binaries.
/// Such texts need a byte-order mark.
fn is_usual(character: char) -> bool {
    matches!(character,
        '\u{A0}'..='\u{18AF}' // Latin, Greek, Cyrillic and the other alphabets and syllabaries, up to Mongolian.
        | '\u{1E00}'..='\u{27BF}' // More Latin and Greek, punctuation, symbols.
        | '\u{3000}'..='\u{33FF}' // Punctuation of East Asia, kana, bopomofo.
        | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' // Ideographs, hangul.
        | '\u{F900}'..='\u{FAFF}' | '\u{FE00}'..='\u{FE6F}' | '\u{FF00}'..='\u{FFEF}' // Compatibility forms.
        | '\u{1F000}'..='\u{1FAFF}' | '\u{20000}'..='\u{2FA1F}') // Emoji, ideographs beyond the 16 bits.
}

/// Reads ISO-2022-JP, which is valid UTF-8 because it is 7-bit. It is recognised by the escape to a two-byte set, `ESC $`; with more
/// than one fault in 50 characters it is something else.
fn read_iso_2022_jp(bytes: &[u8]) -> Result<Option<Decoded<'_>>> {
    if !bytes.is_ascii() || !bytes.windows(2).any(|pair| pair == b"\x1B$") {
        return Ok(None);
    }
    let decoded = Decoded::built(read_legacy(bytes, ISO_2022_JP), bytes, label(ISO_2022_JP), true)?;
    let is_sound = decoded.replaced as usize * DOUBTFUL_ONE_IN <= decoded.text.chars().count();
    Ok(is_sound.then_some(decoded))
}

/// Applies rule 6.
fn read_guessed(bytes: &[u8]) -> Result<Decoded<'_>> {
    let encoding = guess(bytes);
    let decoded = Decoded::built(read_legacy(bytes, encoding), bytes, label(encoding), true)?;
    check_readable(&decoded)?;
    Ok(decoded)
}

/// Guesses the encoding with chardetng, from the first lines that are not ASCII. No encoding it knows has a line feed inside a
/// character, so lines are whole.
fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut room = SAMPLE_BYTES;
    for line in bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.is_ascii()) {
        let part = &line[..line.len().min(room)];
        detector.feed(part, false);
        room -= part.len();
        if room == 0 {
            break;
        }
    }
    if SAMPLE_BYTES - room < SHORT_SAMPLE_BYTES {
        detector.feed(&[], true);
    }
    detector.guess(None, Utf8Detection::Deny)
}

/// Returns the name of an encoding in lower case.
fn label(encoding: &'static Encoding) -> &'static str {
    let name = encoding.name();
    LABELS.into_iter().find(|label| label.eq_ignore_ascii_case(name)).unwrap_or(name)
}

/// ISO-2022-JP, and every encoding that chardetng may guess.
#[rustfmt::skip]
const LABELS: [&str; 25] = [
    "big5", "euc-jp", "euc-kr", "gbk", "shift_jis", "iso-2022-jp", "ibm866", "koi8-u", "iso-8859-2", "iso-8859-4",
    "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-13", "windows-874", "windows-1250",
    "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257",
    "windows-1258",
];

/// Refuses a guessed text with more than 2 % control characters, or more than 10 % of these and unreadable characters together.
/// Controls include C1, which single-byte encodings give for undefined bytes.
fn check_readable(decoded: &Decoded<'_>) -> Result<()> {
    let is_lost = |character| matches!(character, '\u{E000}'..='\u{F8FF}' | char::REPLACEMENT_CHARACTER);
    let is_control = |character: char| character.is_control() && !matches!(character, '\x08'..='\r' | '\x1B');
    let (mut all, mut controls, mut lost) = (0, 0, 0);
    for character in decoded.text.chars() {
        all += 1;
        controls += usize::from(is_control(character));
        lost += usize::from(is_lost(character));
    }
    if controls <= all / DOUBTFUL_ONE_IN && controls + lost <= all / CONTROLS_ONE_IN {
        return Ok(());
    }
    let first = decoded.text.find(|character| is_lost(character) || is_control(character)).unwrap_or(0);
    let reason = "too many control or unreadable characters in every encoding, the first";
    Err(Error::Binary { at_byte: decoded.original(first) as u64, reason })
}

#[cfg(test)]
mod tests;
