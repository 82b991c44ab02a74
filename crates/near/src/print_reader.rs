//! Rows of files of fingerprints: ids, fingerprints and further columns of CSV or JSON Lines, from chunks cut anywhere.
//!
//! A row that cannot be read, or has no id or no fingerprint in its columns, is left out and told. A row that does not
//! have the columns at all is an error: then the file is not what it was taken for. Whether 16 digits are hexadecimal is
//! decided by the first [`SAMPLE`] rows, whatever the chunks are.
//!
//! Cost: one pass over the bytes; a row that lies in several chunks is read again from its beginning.

use crate::cells::unguarded;
use crate::csv_record::{delimiter, fields, readable};
use crate::names::Strings;
use crate::print_text::{decimal, is_hexadecimal, parse};
use lookalike_json::{members, ValueKind};
use std::borrow::Cow;

/// Rows that decide whether a column of 16 digits is hexadecimal: among so many, some have a letter.
pub const SAMPLE: usize = 1000;
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Problems told with their reason; further ones are only counted.
const MAX_PROBLEMS: usize = 100;

/// The layout of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Records with a header; the delimiter that is usual for the name of the file.
    Csv(u8),
    /// One JSON object a line.
    Json,
    /// Cells that the caller cut.
    Cells,
}

/// Rows that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintRows {
    /// Their ids.
    pub ids: Strings,
    /// Their fingerprints.
    pub fingerprints: Vec<u64>,
    /// Cells of the further columns, empty where there is none.
    pub others: Vec<Strings>,
    /// Rows left out, and the first of them: number of the line or row, and reason.
    pub left_out: u64,
    /// The first of them.
    pub problems: Vec<(u64, String)>,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cell<'a> {
    /// Null, or an empty cell of CSV.
    Empty,
    Text(Cow<'a, str>),
    /// A number of JSON, which is decimal.
    Number(&'a str),
}

/// A row that waits until it is known how fingerprints are written.
struct Waiting {
    line: u64,
    cells: Vec<Option<(String, bool)>>,
}

/// Reads a file chunk by chunk.
pub struct PrintReader {
    layout: Layout,
    /// Id, fingerprint, and further columns.
    columns: Vec<String>,
    /// A row may have so many bytes.
    most: usize,
    held: Vec<u8>,
    /// Where the columns are in a record, once the header is read.
    places: Option<Vec<usize>>,
    line: u64,
    waiting: Vec<Waiting>,
    hexadecimal: Option<bool>,
    problems: usize,
}

/// A file is refused: the number of the line, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFile {
    /// The number of the line or row, from 1 on.
    pub line: u64,
    /// The reason.
    pub reason: String,
}

type Read<T> = Result<T, RefusedFile>;

impl PrintReader {
    /// A reader of these columns: id, fingerprint, and further ones. A row may have `most` bytes.
    pub fn new(layout: Layout, columns: Vec<String>, most: usize) -> Self {
        Self {
            layout,
            columns,
            most,
            held: Vec::new(),
            places: None,
            line: 0,
            waiting: Vec::new(),
            hexadecimal: None,
            problems: 0,
        }
    }

    /// Reads a chunk. Errors: a column is missing in the header or in a row, or a row is too long.
    pub fn push(&mut self, data: &[u8], last: bool) -> Read<PrintRows> {
        let mut rows = PrintRows { others: vec![Strings::default(); self.columns.len() - 2], ..PrintRows::default() };
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(data);
        let mut at = 0;
        while at < held.len() {
            let end = match self.layout {
                Layout::Csv(usual) => self.record(&held[at..], usual, last, &mut rows)?,
                _ => self.json(&held[at..], last, &mut rows)?,
            };
            match end {
                Some(length) => at += length,
                None => break,
            }
        }
        held.drain(..at);
        if held.len() > self.most {
            let reason = format!("has more than {} bytes, or a quote that is never closed", self.most);
            return Err(RefusedFile { line: self.line + 1, reason });
        }
        self.held = held;
        if last {
            self.settle(&mut rows);
        }
        Ok(rows)
    }

    /// Ends the reading of a file that is cut short: the row at its end, which may be half of one, is not read.
    pub fn abandon(&mut self) -> PrintRows {
        self.held.clear();
        self.push_cells(&[], true)
    }

    /// Reads cells that the caller cut, column by column; none where there is null.
    pub fn push_cells(&mut self, cells: &[Vec<Option<&str>>], last: bool) -> PrintRows {
        let mut rows = PrintRows { others: vec![Strings::default(); self.columns.len() - 2], ..PrintRows::default() };
        for row in 0..cells.first().map_or(0, Vec::len) {
            self.line += 1;
            let cell = |column: &Vec<Option<&str>>| match column.get(row).copied().flatten() {
                Some(text) => (text.to_owned(), false).into(),
                None => None,
            };
            self.take(self.line, cells.iter().map(cell).collect(), &mut rows);
        }
        if last {
            self.settle(&mut rows);
        }
        rows
    }

    fn leave_out(&mut self, line: u64, reason: impl Into<String>, rows: &mut PrintRows) {
        rows.left_out += 1;
        self.problems += 1;
        if self.problems <= MAX_PROBLEMS {
            rows.problems.push((line, reason.into()));
        }
    }

    /// Takes a row, as soon as it is known how fingerprints are written.
    fn take(&mut self, line: u64, cells: Vec<Option<(String, bool)>>, rows: &mut PrintRows) {
        match self.hexadecimal {
            Some(hexadecimal) => self.keep(line, &cells, hexadecimal, rows),
            None => {
                self.waiting.push(Waiting { line, cells });
                if self.waiting.len() == SAMPLE {
                    self.settle(rows);
                }
            }
        }
    }

    /// Decides how fingerprints are written, and takes the rows that waited for it.
    fn settle(&mut self, rows: &mut PrintRows) {
        let print = |row: &Waiting| {
            row.cells[1].as_ref().is_some_and(|(text, is_number)| !is_number && is_hexadecimal(text.trim()))
        };
        let hexadecimal = *self.hexadecimal.get_or_insert_with(|| self.waiting.iter().any(print));
        for row in std::mem::take(&mut self.waiting) {
            self.keep(row.line, &row.cells, hexadecimal, rows);
        }
    }

    fn keep(&mut self, line: u64, cells: &[Option<(String, bool)>], hexadecimal: bool, rows: &mut PrintRows) {
        let Some((id, _)) = &cells[0] else { return self.leave_out(line, "has no id", rows) };
        let Some((print, is_number)) = cells[1].as_ref().filter(|(text, _)| !text.is_empty()) else {
            return self.leave_out(line, "has no fingerprint", rows);
        };
        let found = if *is_number { decimal(print) } else { parse(print, hexadecimal) };
        let Some(found) = found else {
            let reason = format!(
                "`{print}` is not a fingerprint: use 0 to 2^64 − 1, or 0x and hexadecimal digits, or 16 of them"
            );
            return self.leave_out(line, reason, rows);
        };
        rows.ids.push(id);
        rows.fingerprints.push(found);
        for (column, cell) in rows.others.iter_mut().zip(&cells[2..]) {
            column.push(cell.as_ref().map_or("", |(text, _)| text));
        }
    }

    /// Reads a line of JSON; its length, or none if it is not complete. Errors: a column is missing.
    fn json(&mut self, data: &[u8], last: bool, rows: &mut PrintRows) -> Read<Option<usize>> {
        let (line, length) = match data.iter().position(|byte| *byte == b'\n') {
            Some(end) => (&data[..end], end + 1),
            None if last => (data, data.len()),
            None => return Ok(None),
        };
        self.line += 1;
        let line = if self.line == 1 { line.strip_prefix(MARK).unwrap_or(line) } else { line };
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some(length));
        }
        let Some(cells) = cells_of(line, &self.columns) else {
            self.leave_out(self.line, "is not a JSON object", rows);
            return Ok(Some(length));
        };
        let cells = cells.into_iter().zip(&self.columns).enumerate().map(|(number, (cell, column))| {
            let reason = || format!("has no column `{column}`: {}", remedy(number));
            let missing = || RefusedFile { line: self.line, reason: reason() };
            Ok(match cell.ok_or_else(missing)? {
                Cell::Empty => None,
                Cell::Text(text) => Some((text.into_owned(), false)),
                Cell::Number(text) => Some((text.to_owned(), true)),
            })
        });
        let cells = cells.collect::<Read<Vec<_>>>()?;
        self.take(self.line, cells, rows);
        Ok(Some(length))
    }

    /// Reads a record of CSV; its length, or none if it is not complete. Errors: a column is missing.
    fn record(&mut self, data: &[u8], usual: u8, last: bool, rows: &mut PrintRows) -> Read<Option<usize>> {
        let delimiter = match self.layout {
            Layout::Csv(found) if self.places.is_some() => found,
            _ => {
                let Some(end) = data.iter().position(|byte| *byte == b'\n').or_else(|| last.then_some(data.len()))
                else {
                    return Ok(None);
                };
                delimiter(&data[..end], usual)
            }
        };
        let Some((fields, length)) = fields(data, delimiter, last) else { return Ok(None) };
        let line = self.line + 1;
        self.line += data[..length].iter().filter(|byte| **byte == b'\n').count().max(1) as u64;
        let Some(places) = &self.places else {
            self.layout = Layout::Csv(delimiter);
            self.places = Some(self.header(&fields)?);
            return Ok(Some(length));
        };
        if fields.len() == 1 && fields[0].is_empty() {
            return Ok(Some(length));
        }
        let cells = places.iter().zip(&self.columns).enumerate().map(|(i, (place, column))| {
            let Some(field) = fields.get(*place) else {
                return Err(RefusedFile { line, reason: format!("has no column `{column}`: it has too few fields") });
            };
            let text = readable(field);
            let text = if i == 0 { unguarded(&text).to_owned() } else { text.into_owned() };
            Ok((!text.is_empty() || i == 0).then_some((text, false)))
        });
        let cells = cells.collect::<Read<Vec<_>>>()?;
        self.take(line, cells, rows);
        Ok(Some(length))
    }

    /// Where the columns are. Errors: one is missing.
    fn header(&self, fields: &[Cow<'_, [u8]>]) -> Read<Vec<usize>> {
        let mut names: Vec<Cow<'_, str>> = fields.iter().map(|field| readable(field)).collect();
        if let Some(first) = names.first_mut() {
            *first = Cow::Owned(first.trim_start_matches('\u{FEFF}').to_owned());
        }
        let place = |(number, column): (usize, &String)| {
            let quoted: Vec<String> = names.iter().take(50).map(|name| format!("`{name}`")).collect();
            let listed = quoted.join(", ");
            let reason = || format!("has no column `{column}`: it has {listed}; {}", remedy(number));
            let found = names.iter().position(|name| name == column.as_str());
            found.ok_or_else(|| RefusedFile { line: 1, reason: reason() })
        };
        self.columns.iter().enumerate().map(place).collect()
    }
}

/// What to do if a column is missing: ids and fingerprints may have any name, further columns have those of `simhash`.
pub fn remedy(number: usize) -> &'static str {
    if number < 2 {
        "name yours"
    } else {
        "`lookalike simhash --languages` writes it"
    }
}

/// The cells of the columns in a line of JSON, where it has them; `None` if it is not an object.
fn cells_of<'a>(line: &'a [u8], columns: &[String]) -> Option<Vec<Option<Cell<'a>>>> {
    let mut found = vec![None; columns.len()];
    let mut is_sound = true;
    let wants = |key: &str| columns.iter().any(|column| column == key);
    let read = members(line, wants, |key, raw| match Cell::of(raw) {
        None => is_sound = false,
        Some(cell) => {
            let places = found.iter_mut().zip(columns).filter(|(_, column)| *column == key);
            places.for_each(|(place, _)| *place = Some(cell.clone()));
        }
    });
    (read.is_ok() && is_sound).then_some(found)
}

impl<'a> Cell<'a> {
    /// The cell of a JSON value; `None` for a string that is no text, such as half of a surrogate pair.
    fn of(raw: &'a str) -> Option<Self> {
        Some(match ValueKind::of(raw) {
            ValueKind::Null => Self::Empty,
            ValueKind::String => Self::Text(serde_json::from_str::<String>(raw).ok()?.into()),
            ValueKind::Number => Self::Number(raw),
            ValueKind::Other(_) => Self::Text(Cow::Borrowed(raw)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reader(layout: Layout) -> PrintReader {
        PrintReader::new(layout, vec!["id".to_owned(), "fingerprint".to_owned()], 1 << 20)
    }

    /// Ids with fingerprints, and lines with reasons.
    type Found = (Vec<(String, u64)>, Vec<(u64, String)>);

    /// What a reader makes of these chunks.
    fn read(layout: Layout, chunks: &[&[u8]]) -> Read<Found> {
        let (mut reader, mut rows, mut problems) = (reader(layout), Vec::new(), Vec::new());
        for (i, chunk) in chunks.iter().enumerate() {
            let found = reader.push(chunk, i + 1 == chunks.len())?;
            rows.extend(found.ids.iter().map(str::to_owned).zip(found.fingerprints));
            problems.extend(found.problems);
        }
        Ok((rows, problems))
    }

    #[test]
    fn records_are_read_with_quotes_and_guards() {
        let csv = b"\xef\xbb\xbfname,id,fingerprint\r\n\"a\nb\",\"x,\"\"y\"\"\",5\r\n\r\n,'=z,0x1f\n,,7\n,u,\n,v,w";
        let (rows, problems) = read(Layout::Csv(b','), &[csv]).expect("read");
        let expected = [("x,\"y\"", 5), ("=z", 31), ("", 7)].map(|(id, print)| (id.to_owned(), print));
        assert_eq!(rows, expected);
        assert_eq!(problems[0], (7, "has no fingerprint".to_owned()));
        assert!(problems[1].0 == 8 && problems[1].1.starts_with("`w` is not a fingerprint"), "{problems:?}");
    }

    #[test]
    fn a_row_without_the_columns_is_refused_with_its_line() {
        let csv = read(Layout::Csv(b','), &[b"id,fingerprint\na,1\nb\n"]);
        assert_eq!(
            csv,
            Err(RefusedFile { line: 3, reason: "has no column `fingerprint`: it has too few fields".to_owned() })
        );
        let header = read(Layout::Csv(b','), &[b"id;print\na;1\n"]).expect_err("refused");
        assert_eq!(header.reason, "has no column `fingerprint`: it has `id`, `print`; name yours");
        let json = read(Layout::Json, &[b"{\"id\":1,\"fingerprint\":2}\n\n{\"fingerprint\":2}"]);
        assert_eq!(json, Err(RefusedFile { line: 3, reason: "has no column `id`: name yours".to_owned() }));
    }

    #[test]
    fn half_a_row_of_a_cut_file_is_not_read() {
        let mut reader = reader(Layout::Csv(b','));
        assert_eq!(reader.push(b"id,fingerprint\na,12\nb,12", false).expect("read").ids.len(), 0);
        let rows = reader.abandon();
        assert_eq!((rows.ids.get(0), rows.fingerprints), ("a", vec![12]));
    }

    #[test]
    fn lines_of_json_are_read() {
        let json = b"{\"id\":\"a\\u00e9\",\"fingerprint\":7}\nno\n{\"id\":null,\"fingerprint\":1}\n{\"id\":3,\"fingerprint\":null}\n[1]\n{\"fingerprint\":\"0x1f\",\"id\":12.50}";
        let (rows, problems) = read(Layout::Json, &[json]).expect("read");
        assert_eq!(rows, [("aé".to_owned(), 7), ("12.50".to_owned(), 31)]);
        let lines: Vec<u64> = problems.iter().map(|problem| problem.0).collect();
        assert_eq!(lines, [2, 5, 3, 4], "what is no object is told at once");
    }

    proptest! {
        #[test]
        fn rows_do_not_depend_on_the_chunks(text in "[a\"\n,\r1]{0,40}", cuts in prop::collection::vec(0usize..60, 0..5)) {
            let whole = format!("id,fingerprint\n{text}");
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(whole.len())).chain([0, whole.len()]).collect();
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &whole.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(Layout::Csv(b','), &chunks), read(Layout::Csv(b','), &[whole.as_bytes()]));
        }
    }
}
