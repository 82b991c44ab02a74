//! Every edge with its exact score, for those who want the pairs themselves.
//!
//! Cost: all proposed pairs are looked at, and all that sketches do not reject are counted. Edges are handed over in parts, so that they are
//! never in memory together; the parts come in any order.

use super::verify::{narrow, Verifier};
use super::{tasks, Edge, Judge, Proposals, Proposer};
use rayon::prelude::*;
use std::ops::Range;

/// Edges that one task hands over at a time.
const PART: usize = 1 << 14;

/// Calls `take` with parts of all edges. Returns the number of pairs whose sketches were compared, and of those scored
/// exactly. Errors: the first of `take`, after which no more work is done.
pub fn each_pair<E: Send>(
    proposals: &impl Proposals,
    threshold: f64,
    judge: &impl Judge,
    take: impl Fn(&[Edge]) -> Result<(), E> + Sync,
) -> Result<(u64, u64), E> {
    let work = |components: Range<usize>| {
        let (mut local, mut verifier) = (proposals.local(), Verifier::new(judge, threshold));
        let mut edges = Vec::new();
        for component in components {
            local.load(component);
            of_component(&mut local, &mut verifier, &mut edges, &take)?;
        }
        take(&edges)?;
        Ok((verifier.glances, verifier.exacts))
    };
    let parts: Result<Vec<(u64, u64)>, E> = tasks(proposals).into_par_iter().map(work).collect();
    Ok(parts?.into_iter().fold((0, 0), |all, part| (all.0 + part.0, all.1 + part.1)))
}

/// Appends the edges of the loaded component, and hands over full parts.
fn of_component<E>(
    local: &mut impl Proposer,
    verifier: &mut Verifier<'_, impl Judge>,
    edges: &mut Vec<Edge>,
    take: &impl Fn(&[Edge]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut proposed, mut possible, threshold) = (Vec::new(), Vec::new(), verifier.threshold);
    for place in 0..local.places() as u32 {
        if verifier.judge.is_stopped() {
            return Ok(());
        }
        local.propose(place, &mut proposed);
        verifier.glance(local, place, &proposed, &mut possible);
        let left = local.document(place);
        let edge = |right: u32, score: f64| Edge { left, right, score: narrow(score, threshold) };
        let scored = possible.iter().zip(verifier.verify(local, place, &possible));
        edges.extend(scored.filter_map(|(pair, score)| Some(edge(local.document(pair.other), (*score)?))));
        if edges.len() >= PART {
            take(edges)?;
            edges.clear();
        }
    }
    Ok(())
}
