//! Reads moments as people and programs write them: seconds since 1970, a date of ISO 8601 with or without a time, or the
//! date of a mail.
//!
//! | text | meaning |
//! |---|---|
//! | `1762160400`, `1762160400.5` | seconds since 1970-01-01 00:00 UTC, rounded down |
//! | `1762160400000` | a number of 10^11 or more (year 5138) is milliseconds |
//! | `2025-11-03` | the beginning of that day, UTC |
//! | `2025-11-03T09:00`, `2025-11-03 09:00:30.25` | that time, UTC |
//! | `…Z`, `…+01:00`, `…+0100`, `…+01` | that time in another zone |
//! | `Mon, 3 Nov 2025 10:00:00 +0100`, `3 Nov 2025 09:00 GMT` | that time; the day of the week is not looked at |
//!
//! Anything else is no moment. Cost: one pass. **Source.** ISO 8601; RFC 2822, section 3.3; days from civil dates as Howard Hinnant,
//! *chrono-compatible low-level date algorithms*, derives them.

/// Numbers from here on are milliseconds.
const MILLISECONDS: u64 = 100_000_000_000;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Names of zones in mails, with their hours east of UTC.
const ZONES: [(&str, i64); 12] = [
    ("GMT", 0),
    ("UT", 0),
    ("UTC", 0),
    ("Z", 0),
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
];

/// The seconds since 1970 that a text means; none if it is no moment.
pub fn moment(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<i64>() {
        return Some(if number.unsigned_abs() < MILLISECONDS { number } else { number.div_euclid(1000) });
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b".+-eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(seconds) if is_number && seconds.abs() < MILLISECONDS as f64 => Some(seconds.floor() as i64),
        Ok(number) if is_number && number.abs() < 1e15 => Some((number / 1000.0).floor() as i64),
        _ => written(text).or_else(|| mailed(text)),
    }
}

/// The date of a mail: a day of the week or none, day, month, year, time, zone, and remarks in parentheses.
fn mailed(text: &str) -> Option<i64> {
    let text = text.split_once(',').map_or(text, |(_, rest)| rest);
    let mut words = text.split_ascii_whitespace();
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let (clock, zone) = (words.next()?, words.next()?);
    if words.next().is_some_and(|remark| !remark.starts_with('(')) {
        return None;
    }
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? + 1;
    let date = day_of(&format!("{year}-{month:02}-{day:0>2}"))?;
    date.checked_mul(86_400)?.checked_add(clock_of(clock)?)?.checked_sub(mail_zone(zone)?)
}

/// Seconds east of UTC.
fn mail_zone(text: &str) -> Option<i64> {
    if let Some((_, hours)) = ZONES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Some(hours * 3600);
    }
    let is_offset = text.len() == 5 && text.starts_with(['+', '-']);
    zone(text).filter(|_| is_offset).map(|(_, offset)| offset)
}

/// A date with or without a time.
fn written(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let day = day_of(date)?;
    if rest.is_empty() {
        return day.checked_mul(86_400);
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, offset) = zone(rest)?;
    day.checked_mul(86_400)?.checked_add(clock_of(clock)?)?.checked_sub(offset)
}

fn day_of(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let (year, month, day) = (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let most = *days.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    if parts.next().is_some() || !(1..=most).contains(&day) {
        return None;
    }
    // Years begin in March, so that the day of a leap year is the last one.
    let (shifted, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * months + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Splits a time from its zone, in seconds east of UTC.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock.trim_end(), 0));
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, 0)) };
    let (clock, offset) = text.split_at(at);
    let (sign, digits) = (if offset.starts_with('-') { -1 } else { 1 }, offset[1..].replace(':', ""));
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits, 2)?, 0),
        4 => (number(digits.get(..2)?, 2)?, number(digits.get(2..)?, 2)?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some((clock.trim_end(), sign * (hours * 3600 + minutes * 60)))
}

fn clock_of(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let mut parts = whole.split(':');
    let (hours, minutes) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let seconds = parts.next().map_or(Some(0), |part| number(part, 2))?;
    let is_told = parts.next().is_none() && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    // A leap second is told as 60.
    (is_told && hours < 24 && minutes < 60 && seconds <= 60).then_some(hours * 3600 + minutes * 60 + seconds)
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_they_are_written() {
        let table = [
            ("0", Some(0)),
            ("-1", Some(-1)),
            (" 1762160400 ", Some(1_762_160_400)),
            ("1762160400.75", Some(1_762_160_400)),
            ("1970-01-01", Some(0)),
            ("1969-12-31", Some(-86_400)),
            ("2000-02-29", Some(951_782_400)),
            ("2025-11-03", Some(1_762_128_000)),
            ("2025-11-03T09:00", Some(1_762_160_400)),
            ("2025-11-03 09:00:30.25", Some(1_762_160_430)),
            ("2025-11-03T09:00:00Z", Some(1_762_160_400)),
            ("2025-11-03T10:00:00+01:00", Some(1_762_160_400)),
            ("2025-11-03T10:00:00+0100", Some(1_762_160_400)),
            ("2025-11-03T08:00:00-01", Some(1_762_160_400)),
            ("99999999999", Some(99_999_999_999)),
            ("1762160400000", Some(1_762_160_400)),
            ("1762160400999", Some(1_762_160_400)),
            ("1762160400999.5", Some(1_762_160_400)),
            ("-100000000001", Some(-100_000_001)),
            ("Mon, 3 Nov 2025 10:00:00 +0100", Some(1_762_160_400)),
            ("Mon, 03 Nov 2025 09:00:00 GMT (UTC)", Some(1_762_160_400)),
            ("3 nov 2025 04:00 EST", Some(1_762_160_400)),
            ("Mon, 3 Nov 2025 10:00:00", None),
            ("Mon, 3 Nov 2025 10:00:00 +01", None),
            ("Mon, 31 Feb 2025 10:00:00 +0100", None),
            ("Mon, 3 Nov 25 10:00:00 +0100", None),
            ("Mon, 3 Nov 2025 10:00:00 +0100 x", None),
            ("31.12.2024", None),
            ("2025-02-29", None),
            ("2025-13-01", None),
            ("2025-00-01", None),
            ("2025-11-03T24:00", None),
            ("2025-11-03x", None),
            ("2025-11-03T", None),
            ("2025-1-3", None),
            ("yesterday", None),
            ("", None),
            ("inf", None),
            ("nan", None),
            ("1e400", None),
            ("２０２５-11-03", None),
        ];
        for (text, expected) in table {
            assert_eq!(moment(text), expected, "{text}");
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut last = moment("1899-12-31").expect("a day");
        for year in 1900..2110 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(found) = moment(&format!("{year:04}-{month:02}-{day:02}")) {
                        assert_eq!(found, last + 86_400, "{year}-{month}-{day}");
                        last = found;
                    }
                }
            }
        }
    }
}
