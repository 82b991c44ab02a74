//! Finds the tokens of a submission that cannot run, family by family of languages.
//!
//! The families of a submission are analysed apart. A submission counts as analysed if one of them is; tokens of the
//! others are reachable. Cost: linear in the definitions and names of its files.

use crate::submitted_file::{StretchOutline, SubmittedFile};
use lookalike_code::reachable::{sweep, Everything, Outline};
use lookalike_core::matching::entry::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The family whose code other languages call, such as HTML.
const CALLED_FROM_OUTSIDE: &str = "ecmascript";

/// A stretch of code and its first token in the submission.
type Placed<'a> = (&'a StretchOutline, u32);

/// Marks the tokens of `entry` that cannot run. `parts` are file, part and first token.
///
/// Errors: the reason why everything is reachable.
pub fn analyse(files: &[Arc<SubmittedFile>], parts: &[(u32, u32, u32)], entry: &mut Entry) -> Result<(), Everything> {
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
    let (mut result, mut marks) = (Err(Everything::Language), vec![false; entry.tokens.len()]);
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
    if marks.contains(&true) {
        entry.unreachable = marks;
    }
    entry.is_analysed = result.is_ok();
    result
}

fn family_marks(stretches: &[Placed]) -> Result<Vec<Vec<bool>>, Everything> {
    if !stretches.iter().all(|(one, _)| one.is_analysed) {
        return Err(Everything::Language);
    }
    let outlines: Option<Vec<&Outline>> = stretches.iter().map(|(one, _)| one.outline.as_ref()).collect();
    sweep(&outlines.ok_or(Everything::Unparsed)?)
}
