//! Writes a text as HTML for the page of a pair: numbered lines, coloured tokens, marked passages.
//!
//! The output is defined character by character:
//!
//! * Each line begins with `<b>`, its number and `</b>`. It ends at `\n`; a `\r` before that is not shown.
//! * A run with one mark is `<i class=k>…</i>` with a letter of `LETTERS`; names and operators have none. Grey marks
//!   (template, too common, cannot run) hide the token marks under them. Other marks do not overlap; if one does, it
//!   begins late.
//! * Each region begins with its number as a link to the other side, and is a `<mark>`. Where regions overlap, the one
//!   that began last is visible; of several, the one with the highest number. Marks enclose the coloured runs and
//!   interrupt them. A range whose number is that of a region plus [`PALE`] is a part of it that does not match: it is
//!   marked as pale. Pale parts of one region do not overlap; if they do, the one that begins last counts.
//! * `&`, `<` and `>` are escaped. Invisible characters and those that change the writing direction are shown as `<i
//!   class=x>U+202E</i>`, the noncharacters U+FDD0 to U+FDEF as U+FFFD.
//!
//! No part of the text can leave its element: submitted text becomes HTML here and nowhere else. Cost: one pass.

use std::collections::BinaryHeap;
use std::fmt::Write;

/// The letter of each class of marks: 1 keyword, 3 number, 4 string, 5 comment, 7 template, 8 too common, 9 cannot run.
/// A dash means no colour.
const LETTERS: &[u8] = b"-k-nsc-tou";
/// The first class that greys out the marks under it.
const GREY: u32 = 7;
/// Colours of passages, used in turn.
pub const COLOURS: u32 = 8;
/// Added to the number of a range that is a pale part of a region.
pub const PALE: u32 = 1 << 31;

/// Start, end and class or number; positions are in characters.
pub type MarkedRange = [u32; 3];

/// Writes the text as HTML. Regions have a start, an end and a number; `is_left` distinguishes their anchors from those
/// of the other side.
pub fn pane(text: &str, marks: &[MarkedRange], regions: &[MarkedRange], is_left: bool, first_line: u32) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let length = text.chars().count() as u32;
    let painted = painted(marks);
    let mut writer =
        PaneWriter { out: String::with_capacity(2 * text.len() + 64), rest: text, at: 0, line: first_line };
    writer.number();
    let mut paint = painted.iter().copied().peekable();
    let (own, other) = if is_left { ('l', 'r') } else { ('r', 'l') };
    for cut in cuts(regions, length) {
        for number in cut.begun {
            let colour = number % COLOURS;
            let _ = write!(writer.out, "<a id={own}{number} class=\"p c{colour}\" href=#{other}{number}>{number}</a>");
        }
        if cut.seen > 0 {
            let colour = cut.seen % COLOURS;
            let _ = match cut.is_pale {
                true => write!(writer.out, "<mark class=\"c{colour} pale\" data-p={}>", cut.seen),
                false => write!(writer.out, "<mark class=c{colour} data-p={}>", cut.seen),
            };
        }
        while let Some([start, end, class]) = paint.peek().copied().filter(|mark| mark[0] < cut.end) {
            if end.min(cut.end) > writer.at {
                writer.copy(start.min(cut.end));
                writer.out.push_str("<i class=");
                writer.out.push(char::from(LETTERS[class as usize]));
                writer.out.push('>');
                writer.copy(end.min(cut.end));
                writer.out.push_str("</i>");
            }
            if end > cut.end {
                break;
            }
            paint.next();
        }
        writer.copy(cut.end);
        if cut.seen > 0 {
            writer.out.push_str("</mark>");
        }
    }
    writer.out
}

/// Copies the text, escaped, from the current position on.
struct PaneWriter<'a> {
    out: String,
    rest: &'a str,
    at: u32,
    line: u32,
}

impl PaneWriter<'_> {
    fn number(&mut self) {
        let _ = write!(self.out, "<b>{}</b>", self.line);
        self.line += 1;
    }

    /// Copies up to the character `until`.
    fn copy(&mut self, until: u32) {
        while self.at < until {
            let plain = self.rest.bytes().take((until - self.at) as usize).take_while(|byte| is_plain(*byte)).count();
            self.out.push_str(&self.rest[..plain]);
            self.rest = &self.rest[plain..];
            self.at += plain as u32;
            let Some(c) = self.rest.chars().next().filter(|_| self.at < until) else {
                break;
            };
            self.rest = &self.rest[c.len_utf8()..];
            self.at += 1;
            self.show(c);
        }
    }

    fn show(&mut self, c: char) {
        match c {
            '\n' => {
                self.out.push('\n');
                self.number();
            }
            '\r' if self.rest.starts_with('\n') => {}
            '&' => self.out.push_str("&amp;"),
            '<' => self.out.push_str("&lt;"),
            '>' => self.out.push_str("&gt;"),
            '\u{FDD0}'..='\u{FDEF}' => self.out.push('\u{FFFD}'),
            _ if is_unseen(c) => {
                let _ = write!(self.out, "<i class=x>U+{:04X}</i>", u32::from(c));
            }
            _ => self.out.push(c),
        }
    }
}

/// Whether a byte is copied unchanged.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t') && !matches!(byte, b'&' | b'<' | b'>')
}

/// Whether a character is a control, bidirectional or invisible one. Joiners are not: some scripts need them.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{8}' | '\u{B}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'
            | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}'
    )
}

/// The visible marks, ascending.
fn painted(marks: &[MarkedRange]) -> Vec<MarkedRange> {
    let is_seen = |mark: &&MarkedRange| LETTERS.get(mark[2] as usize).is_some_and(|letter| *letter != b'-');
    let (mut greys, tokens): (Vec<MarkedRange>, Vec<MarkedRange>) =
        marks.iter().filter(is_seen).partition(|mark| mark[2] >= GREY);
    if greys.is_empty() {
        return tokens;
    }
    let mut first = 0;
    let mut seen = Vec::with_capacity(tokens.len());
    for [mut start, end, class] in tokens {
        while greys.get(first).is_some_and(|grey| grey[1] <= start) {
            first += 1;
        }
        for grey in greys[first..].iter().take_while(|grey| grey[0] < end) {
            if start < grey[0] {
                seen.push([start, grey[0], class]);
            }
            start = start.max(grey[1]);
        }
        if start < end {
            seen.push([start, end, class]);
        }
    }
    greys.append(&mut seen);
    greys.sort_unstable();
    greys
}

/// A range in which one region is visible.
struct Cut {
    end: u32,
    /// Number of the visible region, or 0.
    seen: u32,
    /// Whether it is a pale part of that region.
    is_pale: bool,
    /// Regions that begin at its start.
    begun: Vec<u32>,
}

/// Cuts the text where regions begin and end.
fn cuts(regions: &[MarkedRange], length: u32) -> Vec<Cut> {
    let mut waiting: Vec<MarkedRange> =
        regions.iter().map(|[start, end, number]| [*start, (*end).min(length), *number]).collect();
    waiting.retain(|[start, end, _]| start < end);
    waiting.sort_unstable_by_key(|[start, end, number]| (*start, *number, *end));
    let mut places: Vec<u32> = waiting.iter().flat_map(|[start, end, _]| [*start, *end]).chain([0, length]).collect();
    let (mut pale, waiting): (Vec<MarkedRange>, Vec<MarkedRange>) =
        waiting.into_iter().partition(|[_, _, number]| *number >= PALE);
    pale.sort_unstable_by_key(|[start, _, number]| (*number, *start));
    let is_pale = |seen: u32, at: u32| {
        let begun = pale.partition_point(|[start, _, number]| (*number, *start) <= (seen | PALE, at));
        begun > 0 && pale[begun - 1][2] == seen | PALE && at < pale[begun - 1][1]
    };
    places.sort_unstable();
    places.dedup();
    let mut waiting = waiting.into_iter().peekable();
    let mut open: BinaryHeap<(u32, u32, u32)> = BinaryHeap::new();
    let mut found = Vec::new();
    for ends in places.windows(2) {
        let mut begun = Vec::new();
        while let Some([start, end, number]) = waiting.next_if(|region| region[0] == ends[0]) {
            open.push((start, number, end));
            begun.push(number);
        }
        while open.peek().is_some_and(|region| region.2 <= ends[0]) {
            open.pop();
        }
        let seen = open.peek().map_or(0, |region| region.1);
        found.push(Cut { end: ends[1], seen, is_pale: seen > 0 && is_pale(seen, ends[0]), begun });
    }
    found
}
