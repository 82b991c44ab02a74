//! Measures size and speed of the codecs on uniform values: `cargo run --release --example codecs -- 100000000`.
//!
//! For each codec it prints bits per value, the difference to the entropy, the share of plain 8 bytes, values decoded per second, and
//! nanoseconds per probe by a prefix of 32 bits. It checks that decoding gives back the encoded values. Times are CPU times of one
//! thread, as Linux counts them. `lookalike lab compression` shows the same for a corpus.

use lookalike_table::codec::elias_fano::EliasFano;
use lookalike_table::codec::huffman::{Huffman, BLOCK_BYTES};
use lookalike_table::codec::packed::{pack, Order, Packed};
use lookalike_table::column::Column;

const PROBES: u64 = 1_000_000;

/// The finaliser of SplitMix64.
fn mix64(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// Returns the CPU seconds of this thread.
fn cpu() -> f64 {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    line.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).map_or(f64::NAN, |count| count / 1e9)
}

/// Returns the CPU seconds of one run, averaged over at least half a second because the clock ticks in milliseconds.
fn mean<R>(mut work: impl FnMut() -> R) -> f64 {
    let (start, mut runs) = (cpu(), 0);
    loop {
        std::hint::black_box(work());
        runs += 1;
        let spent = cpu() - start;
        if spent.is_nan() || spent > 0.5 {
            return spent / f64::from(runs);
        }
    }
}

fn probes() -> impl Iterator<Item = (u64, u64)> {
    (0..PROBES).map(|i| mix64(!i)).map(|value| (value & !0xFFFF_FFFF, value | 0xFFFF_FFFF))
}

fn report(name: &str, n: usize, bytes: usize, decode: f64, probe: f64) {
    let bits = bytes as f64 * 8.0 / n as f64;
    let entropy = 64.0 - (n as f64).log2() + std::f64::consts::LOG2_E;
    let (above, share, rate) = (bits - entropy, bits / 0.64, n as f64 / decode / 1e6);
    println!(
        "{name:12} {bits:6.2} bits ({above:+.2}, {share:.1} %)  decode {rate:6.0} M/s  probe {:6.1} ns",
        probe * 1e9 / PROBES as f64
    );
}

fn main() {
    let n = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let mut values: Vec<u64> = (0..n as u64).map(mix64).collect();
    values.sort_unstable();
    let mut out: Vec<u64> = Vec::with_capacity(n);

    let column = EliasFano::new(&values, 64);
    let decode = mean(|| {
        out.clear();
        column.decode(&mut out);
    });
    assert!(out == values);
    let probe = mean(|| {
        probes().fold(0, |sum, (low, high)| {
            let mut sum = sum;
            column.visit(low, high, &mut |_, values| sum = values.iter().fold(sum, |sum, value| sum ^ value));
            sum
        })
    });
    report("Elias–Fano", n, column.bytes(), decode, probe);

    let bytes = pack(&values, Order::Ascending);
    let Some(column) = Packed::open(&bytes[..], 0..bytes.len(), Order::Ascending) else { return };
    let decode = mean(|| {
        out.clear();
        column.decode(&mut out)
    });
    assert!(out == values);
    let probe = mean(|| {
        probes().fold(0, |sum, (low, high)| {
            let mut sum = sum;
            let rows = column.rows(low, high).unwrap_or(0..0);
            let _ = column.read(rows, &mut |_, values| sum = values.iter().fold(sum, |sum, value| sum ^ value));
            sum
        })
    });
    report("packed", n, bytes.len(), decode, probe);

    let column = Huffman::new(&values, BLOCK_BYTES);
    let decode = mean(|| {
        out.clear();
        column.decode(&mut out)
    });
    assert!(out == values);
    let probe = mean(|| {
        probes().take(PROBES as usize / 100).fold(0, |sum, (low, high)| {
            let mut sum = sum;
            let _ = column.visit(low, high, |value| sum ^= value);
            sum
        })
    }) * 100.0;
    report("Huffman", n, column.bytes(), decode, probe);
}
