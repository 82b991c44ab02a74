//! The Python binding of `lookalike-core`: validate, borrow, call, convert. No algorithm and no default value lives here.
//!
//! In: `str` and bytes-like objects, borrowed for the call. Out: whole columns that speak the buffer protocol, never a
//! Python object a token. The GIL is released in `detach.rs` and nowhere else.

mod archive;
mod archive_lines;
mod archive_passages;
mod archive_questions;
mod arrow;
mod bundles;
mod column;
mod compare;
mod dedup;
mod dedup_later;
mod design;
mod detach;
mod earlier;
mod error;
mod features;
mod fingerprint;
mod hamming;
mod ids;
mod input;
mod lab;
mod lines;
mod near;
mod pool;
mod prints;
mod references;
mod segments;
mod share;
mod simhash;
mod sketch;
mod steps;
mod stored;
mod texts;
mod tokens;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::archive::{kept_files, moment, RecordSigner};
    #[pymodule_export]
    use crate::archive_lines::RecordLines;
    #[pymodule_export]
    use crate::archive_passages::shared_passages;
    #[pymodule_export]
    use crate::archive_questions::{AskedDocument, Asker, Starter};
    #[pymodule_export]
    use crate::bundles::{CellPairs, HolderStream, PairPacker};
    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::compare::{languages, pane, unreachable, Cohort, ReadFile};
    #[pymodule_export]
    use crate::dedup::{Corpus, Outcome, PairStream};
    #[pymodule_export]
    use crate::dedup_later::{corpus_digest, decide_after, readdressed, record_mark, shadowed, Additions, Later};
    #[pymodule_export]
    use crate::design::simulate_filter;
    #[pymodule_export]
    use crate::earlier::Earlier;
    #[pymodule_export]
    use crate::features::{band_records, band_sharing, band_values};
    #[pymodule_export]
    use crate::fingerprint::{canonical, concatenate, locate, select, stream, Fingerprinter};
    #[pymodule_export]
    use crate::hamming::{hamming_distances, table_candidates, table_design, table_frontier, HammingBatch};
    #[pymodule_export]
    use crate::ids::SeenIds;
    #[pymodule_export]
    use crate::lab::{
        figure5, figure5_text, kgram_keys, memory_pass, memory_walk, modulus_for, rolling_pass, xxh3, EncodedColumn,
    };
    #[pymodule_export]
    use crate::lines::{json_tails, LineFilter};
    #[pymodule_export]
    use crate::near::HammingStore;
    #[pymodule_export]
    use crate::prints::{
        column_remedy, concatenate_texts, csv_pairs, parse_fingerprint, whole_numbers, NearPairs, PrintReader,
    };
    #[pymodule_export]
    use crate::segments::{
        merge_segments, write_segment, RecordReader, Salvage, Segment, SegmentWriter, Snapshot, StoredRow,
    };
    #[pymodule_export]
    use crate::share::{share_check, share_records};
    #[pymodule_export]
    use crate::simhash::{
        concatenate_simhashes, simhash_features, simhash_groups, simhash_languages, simhash_patterns, IdfTable,
        SimhashMaker, SimhashReader,
    };
    #[pymodule_export]
    use crate::sketch::{concatenate_rows, measure, Sketch, SketchMaker};
    #[pymodule_export]
    use crate::steps::{
        clear_corpus, corpus_contents, drain_matches, follow_edges, glance_pairs, push_signed, score_pairs,
        signed_columns, PrintKeys, PrintStream, SignedColumns, StarPass,
    };
    #[pymodule_export]
    use crate::stored::{restore_files, store_files};
    #[pymodule_export]
    use crate::tokens::{fingerprint_tokens, measure_tokens, simhash_tokens, sketch_tokens, token_values};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::export(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("CODE_VERSION", lookalike_code::CODE_VERSION)?;
        module.add("TEXT_VERSION", lookalike_core::frontend::canonical::TEXT_VERSION)?;
        module.add("SIMHASH_VERSION", lookalike_core::simhash::vote::SIMHASH_VERSION)?;
        module.add("SHINGLE_VERSION", lookalike_core::sketch::shingle::SHINGLE_VERSION)?;
        module.add("SKETCH_VERSION", lookalike_core::sketch::SKETCH_VERSION)?;
        module.add("MAX_T", lookalike_core::fingerprint::MAX_T)?;
        module.add("MAX_DISTANCE", lookalike_core::hamming::MAX_DISTANCE)?;
        module.add("MAX_TABLES", lookalike_core::hamming::design::MAX_TABLES)?;
        module.add("HAMMING_COST_NS", crate::hamming::cost_ns())?;
        module.add("MAX_SKETCH", lookalike_core::sketch::fast::MAX_SIZE)?;
        module.add("MAX_FIELD_BYTES", lookalike_index::fields::MAX_FIELD_BYTES)?;
        module.add("MAX_KEYS", lookalike_core::sketch::features::MAX_KEYS)?;
        module.add("MAX_DISTANCE", lookalike_core::hamming::MAX_DISTANCE)?;
        module.add("COLOURS", lookalike_compare::pane::COLOURS)
    }
}
