//! Times the clustering of generated features: `cargo run --release --example clustering -- DOCUMENTS KEYS BUDGET_MIB [components]`.
//!
//! Clusters of 1 to 8 documents share nine keys of ten. Pairs of one cluster have resemblance 0.9, all others 0.1. Prints the CPU
//! seconds of each phase, the result, and the peak memory as the system reports it.

use lookalike_core::clustering::{cluster, Candidates, Glance, Judge, Method, Reach};
use lookalike_core::hash::mix64;
use lookalike_table::spill::Sorter;
use std::error::Error;

struct Planted;

/// Returns the generated cluster of a document.
fn cluster_of(document: u32) -> u64 {
    let slot = mix64(u64::from(document) / 8);
    let first = slot % 8;
    u64::from(document) / 8 * 2 + u64::from(u64::from(document) % 8 >= first)
}

/// Returns document numbers in an order that puts members of a cluster far apart in memory.
fn scattered(document: u32, documents: u32) -> u32 {
    (u64::from(document) * 1_000_003 % u64::from(documents)) as u32
}

impl Judge for Planted {
    fn glance(&self, hub: u32, other: u32) -> Glance {
        let same = cluster_of(hub) == cluster_of(other);
        Glance { estimate: if same { 0.9 } else { 0.1 }, is_possible: same }
    }

    fn exact(&self, _: u32, others: &[u32], _: f64, scores: &mut Vec<Option<f64>>) {
        scores.extend(others.iter().map(|_| Some(0.9)));
    }
}

/// Returns the CPU seconds of this process so far.
fn cpu() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    Some((fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?) / 100.0)
}

fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| arguments.get(i).map_or(Ok(default), |value| value.parse());
    let (documents, keys, budget) = (number(0, 100_000)? as u32, number(1, 21)? as u64, number(2, 1024)?);
    let method = if arguments.iter().any(|word| word == "components") { Method::Components } else { Method::Star };
    let folder = std::path::PathBuf::from(format!("clustering-{}", std::process::id()));
    std::fs::create_dir(&folder)?;

    let mut phases = vec![cpu().unwrap_or(0.0)];
    let mut lap = || phases.push(cpu().unwrap_or(0.0));
    let mut sorter = Sorter::new(std::sync::Arc::new(lookalike_table::disk::System), budget << 20, &folder);
    let mut features = Vec::new();
    for i in 0..documents {
        let document = scattered(i, documents);
        let own = |j: u64| mix64(u64::from(document) << 8 | j);
        let shared = |j: u64| mix64((1 << 62) + (cluster_of(document) << 8 | j));
        features.clear();
        features.extend((0..keys).map(|j| if own(j) % 10 == 0 { own(j) } else { shared(j) }));
        sorter.push(document, &features)?;
    }
    lap();
    let sorted = sorter.finish()?;
    lap();
    let candidates = Candidates::new(sorted, documents as usize, Reach::CROWDED)?;
    lap();
    let found = cluster(&candidates, 0.8, method, &Planted);
    lap();
    std::fs::remove_dir_all(&folder)?;
    let removed = found.leader.iter().enumerate().filter(|(document, leader)| *document as u32 != **leader).count();
    let spent: Vec<f64> = phases.windows(2).map(|pair| pair[1] - pair[0]).collect();
    println!(
        "{documents} documents, {keys} keys, {budget} MiB: generate and push {:.2} s, sort {:.2} s, candidates {:.2} s, {method:?} {:.2} s; \
         {removed} removed, {} exact, {} glances, peak {} MiB",
        spent[0],
        spent[1],
        spent[2],
        spent[3],
        found.exacts,
        found.glances,
        peak_mib().unwrap_or(0),
    );
    Ok(())
}
