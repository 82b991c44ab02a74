//! Finds the tokens of a submission that cannot run, family by family of languages.
//!
//! The families of a submission are analysed apart. A submission counts as analysed if one of them is; tokens of the
//! others are reachable. Cost: linear in the definitions and names of its files.

use crate::submitted_file::{Settled, StretchOutline, SubmittedFile};
use lookalike_code::reachable::{sweep, Everything, Outline};
use lookalike_core::matching::entry::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The family whose code other languages call, such as HTML.
const CALLED_FROM_OUTSIDE: &str = "ecmascript";

/// A stretch of code and its first token in the submission.
type Placed<'a> = (&'a StretchOutline, u32);

/// The parts of some files that have tokens: file, part and first token, with a token between two parts; and the number
/// of all tokens.
pub fn placed_parts(files: &[Arc<SubmittedFile>]) -> (Vec<(u32, u32, u32)>, usize) {
    let (mut parts, mut tokens) = (Vec::new(), 0);
    for (f, file) in files.iter().enumerate() {
        for (p, part) in file.parts.iter().enumerate().filter(|(_, part)| !part.tokens.is_empty()) {
            tokens += usize::from(tokens > 0);
            parts.push((f as u32, p as u32, tokens as u32));
            tokens += part.tokens.len();
        }
    }
    (parts, tokens)
}

/// Marks the tokens of `entry` that cannot run. `parts` are file, part and first token.
///
/// Errors: the reason why everything is reachable.
pub fn analyse(files: &[Arc<SubmittedFile>], parts: &[(u32, u32, u32)], entry: &mut Entry) -> Result<(), Everything> {
    let (result, marks) = find(files, parts, entry.tokens.len());
    if marks.contains(&true) {
        entry.unreachable = marks;
    }
    entry.is_analysed = result.is_ok();
    result
}

/// Whether each of so many tokens cannot run, and the reason why everything is reachable, if it is.
pub fn find(
    files: &[Arc<SubmittedFile>],
    parts: &[(u32, u32, u32)],
    tokens: usize,
) -> (Result<(), Everything>, Vec<bool>) {
    let settled: Option<Vec<&Settled>> = files.iter().map(|file| file.settled.as_ref()).collect();
    match settled.filter(|settled| !settled.is_empty()) {
        Some(settled) => recalled(&settled, parts, tokens),
        None => swept(files, parts, tokens),
    }
}

/// What was found when the files were stored.
fn recalled(settled: &[&Settled], parts: &[(u32, u32, u32)], tokens: usize) -> (Result<(), Everything>, Vec<bool>) {
    let mut marks = vec![false; tokens];
    for (file, part, first) in parts {
        let known = settled.get(*file as usize).and_then(|file| file.unreachable.get(*part as usize));
        for range in known.into_iter().flatten() {
            let [start, end] = [range.start, range.end].map(|at| first.saturating_add(at) as usize);
            marks.get_mut(start..end).into_iter().for_each(|stretch| stretch.fill(true));
        }
    }
    (settled.iter().find_map(|file| file.everything).map_or(Ok(()), Err), marks)
}

fn swept(
    files: &[Arc<SubmittedFile>],
    parts: &[(u32, u32, u32)],
    tokens: usize,
) -> (Result<(), Everything>, Vec<bool>) {
    let mut families: BTreeMap<&str, Vec<Placed>> = BTreeMap::new();
    let mut is_prose = false;
    for (file, part, first) in parts {
        let outlines = &files[*file as usize].parts[*part as usize].outlines;
        is_prose |= outlines.is_empty();
        for one in outlines {
            families.entry(one.family).or_default().push((one, first + one.first));
        }
    }
    let is_mixed = is_prose || families.len() > 1;
    let (mut result, mut marks) = (Err(Everything::Language), vec![false; tokens]);
    for (family, stretches) in families {
        let found = match family {
            CALLED_FROM_OUTSIDE if is_mixed => Err(Everything::Mixed),
            _ => family_marks(&stretches),
        };
        for ((_, first), own) in stretches.iter().zip(found.iter().flatten()) {
            marks[*first as usize..*first as usize + own.len()].copy_from_slice(own);
        }
        result = match (result, found) {
            (Ok(()), _) | (_, Ok(_)) => Ok(()),
            (Err(Everything::Language), Err(reason)) | (Err(reason), Err(_)) => Err(reason),
        };
    }
    (result, marks)
}

fn family_marks(stretches: &[Placed]) -> Result<Vec<Vec<bool>>, Everything> {
    if !stretches.iter().all(|(one, _)| one.is_analysed) {
        return Err(Everything::Language);
    }
    let outlines: Option<Vec<&Outline>> = stretches.iter().map(|(one, _)| one.outline.as_ref()).collect();
    sweep(&outlines.ok_or(Everything::Unparsed)?)
}
