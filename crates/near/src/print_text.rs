//! Fingerprints as people and programs write them: decimal, signed or not, or hexadecimal.
//!
//! Cost: one pass over a few digits.

/// Hexadecimal digits of a fingerprint.
const DIGITS: usize = 16;

/// Parses a fingerprint: a signed or unsigned number, `0x` and digits, or 16 hexadecimal digits. Sixteen decimal digits
/// are a decimal number, unless they begin with 0 or `hexadecimal` is true.
pub fn parse(text: &str, hexadecimal: bool) -> Option<u64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let is_right = (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        return is_right.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
    }
    let is_hex = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hexadecimal(text) || (is_hex && hexadecimal) {
        return u64::from_str_radix(text, 16).ok();
    }
    decimal(text)
}

/// Parses a signed or unsigned decimal number.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => text.parse::<i64>().ok().map(|n| n as u64),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Whether this must be 16 hexadecimal digits: decimal numbers have no leading zeros.
pub(crate) fn is_hexadecimal(text: &str) -> bool {
    let is_decimal = || text.bytes().all(|byte| byte.is_ascii_digit());
    text.len() == DIGITS
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (text.starts_with('0') || !is_decimal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_as_they_are_written() {
        assert_eq!(parse(" 18446744073709551615 ", false), Some(u64::MAX));
        assert_eq!(parse("18446744073709551616", false), None);
        for text in ["ffffffffffffffff", "-1", "0xFFFFFFFFFFFFFFFF"] {
            assert_eq!(parse(text, false), Some(u64::MAX));
        }
        assert_eq!(parse("1000000000000000", false), Some(1_000_000_000_000_000));
        assert_eq!(parse("1000000000000000", true), Some(1 << 60));
        assert_eq!(parse("00000000000000ff", false), Some(255));
        for text in ["", "0x", "1.5", "-", "+1", "0x1ffffffffffffffff", "٣", "1_0"] {
            assert_eq!(parse(text, false), None, "{text}");
        }
    }
}
