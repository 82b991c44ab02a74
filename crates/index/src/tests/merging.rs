//! Merges of many segments, and of parts that do not fit together.

use super::documents::many;
use super::{on_disk, path, shared, write};
use crate::{merge, merge_unless, Bitmap, Document, Segment, SegmentWriter, Settings};
use lookalike_table::merge::FAN_IN;
use lookalike_table::ram::Ram;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

#[test]
fn more_segments_than_can_be_merged_at_a_time_are_merged_in_groups() {
    let documents = many(FAN_IN as u64 * 2 + 3, 2);
    let segments: Vec<_> = documents.chunks(1).map(|one| on_disk(one, 0)).collect();
    let gone = Bitmap::of_rows(1, [0]).expect("one row");
    let part = |(i, segment): (usize, &Arc<Segment>)| (segment.clone(), (i % 50 == 7).then_some(&gone));
    let parts: Vec<_> = segments.iter().enumerate().map(part).collect();
    let disk = Ram::default();
    let written = merge(&shared(&disk), &parts, path(), b"parameters").expect("merged");
    let left: Vec<Document> =
        documents.iter().enumerate().filter(|(i, _)| i % 50 != 7).map(|(_, one)| one.clone()).collect();
    assert_eq!(written, write(&Ram::default(), path(), &left, 1 << 20).expect("written"));
    assert_eq!(disk.files().len(), 1, "temporary files are removed");
}

#[test]
fn a_merge_of_nothing_is_an_empty_segment() {
    let disk = Ram::default();
    let all = Bitmap::of_rows(4, 0..4).expect("four rows");
    for parts in [vec![], vec![(on_disk(&many(4, 3), 0), Some(&all))]] {
        let written = merge(&shared(&disk), &parts, path(), b"parameters").expect("merged");
        assert_eq!(written, write(&Ram::default(), path(), &[], 0).expect("written"));
        let segment = Segment::open(&disk, path()).expect("sound");
        segment.verify().expect("sound");
        assert_eq!(segment.rows(), 0);
    }
}

#[test]
fn a_bitmap_of_another_segment_is_refused() {
    let disk = Ram::default();
    let map = Bitmap::of_rows(5, [1]).expect("five rows");
    assert!(merge(&shared(&disk), &[(on_disk(&many(4, 3), 0), Some(&map))], path(), b"").is_err());
    assert!(disk.files().is_empty());
}

#[test]
fn work_that_is_stopped_leaves_nothing() {
    let disk = Ram::default();
    let stop = AtomicBool::new(true);
    let parts = [(on_disk(&many(40, 3), 0), None)];
    assert!(merge_unless(&shared(&disk), &parts, path(), b"", &stop).is_err());
    let mut writer = SegmentWriter::new(shared(&disk), path(), Settings::default()).expect("begun");
    many(40, 3).iter().try_for_each(|document| writer.push(document)).expect("written");
    assert!(!disk.files().is_empty());
    assert!(writer.finish_unless(&stop).is_err());
    assert!(disk.files().is_empty());
}
