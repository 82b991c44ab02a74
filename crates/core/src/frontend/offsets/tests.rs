//! The map back to the bytes, against one offset a character.

use encoding_rs::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use super::*;

/// Every legacy encoding of the standard but `replacement`, which reads nothing, and `x-user-defined`.
    #[rustfmt::skip]
    static LEGACY: [&Encoding; 35] = [
        BIG5, EUC_JP, EUC_KR, GB18030, GBK, SHIFT_JIS, ISO_2022_JP, IBM866, KOI8_R, KOI8_U, MACINTOSH, X_MAC_CYRILLIC,
        ISO_8859_2, ISO_8859_3, ISO_8859_4, ISO_8859_5, ISO_8859_6, ISO_8859_7, ISO_8859_8, ISO_8859_8_I, ISO_8859_10,
        ISO_8859_13, ISO_8859_14, ISO_8859_15, ISO_8859_16, WINDOWS_874, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252,
        WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257, WINDOWS_1258,
    ];

fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(2003), failure_persistence: None, cases: 2000, ..Default::default() }
}

fn boundaries(text: &str) -> Vec<usize> {
    text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect()
}

/// The text of a reader and the original offset of each character boundary.
fn mapped(built: Builder, original_len: usize) -> (String, Vec<usize>, u32) {
    let (text, map, replaced) = built.finish(original_len).expect("a short text");
    let offsets = boundaries(&text).into_iter().map(|offset| map.original(offset)).collect();
    (text, offsets, replaced)
}

fn legacy(bytes: &[u8], encoding: &'static Encoding) -> (String, Vec<usize>, u32) {
    mapped(read_legacy(bytes, encoding), bytes.len())
}

/// The same by one step for each character, for text without faults in an encoding without escapes.
fn naive_offsets(text: &str, encoded_len: impl Fn(char) -> usize) -> Vec<usize> {
    let mut offsets = vec![0];
    for character in text.chars() {
        offsets.push(offsets[offsets.len() - 1] + encoded_len(character));
    }
    offsets
}

/// True when any stretch of the text is what its own bytes read as.
fn slices_read_alike(bytes: &[u8], read: impl Fn(&[u8]) -> Builder) -> bool {
    let (text, offsets, _) = mapped(read(bytes), bytes.len());
    let boundaries = boundaries(&text);
    let all = 0..boundaries.len();
    all.clone().flat_map(|a| (a..all.end).map(move |b| (a, b))).all(|(a, b)| {
        let slice = &bytes[offsets[a]..offsets[b]];
        mapped(read(slice), slice.len()).0 == text[boundaries[a]..boundaries[b]]
    })
}

#[test]
fn a_text_that_was_not_decoded_has_no_runs() {
    let map = OffsetMap::identity(5);
    assert!(map.is_identity() && map.starts.is_empty());
    assert_eq!([0, 3, 5, 9].map(|offset| map.original(offset)), [0, 3, 5, 5]);
}

#[test]
fn ascii_in_utf16_is_one_run() {
    let bytes: Vec<u8> = "winnowing".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (_, map, _) = read_utf16(&bytes, u16::from_le_bytes).finish(bytes.len()).expect("a short text");
    assert_eq!((map.starts.len(), map.original(4), map.is_identity()), (1, 8, false));
}

#[test]
fn a_cursor_may_go_back() {
    let (text, map, _) = read_legacy(b"a\xE9b\xE8c", WINDOWS_1252).finish(5).expect("a short text");
    let mut cursor = Cursor::new(&map);
    assert_eq!((text.as_str(), cursor.original(6), cursor.original(1), cursor.original(4)), ("aébèc", 4, 1, 3));
}

#[test]
fn too_long_a_text_is_counted_but_not_kept() {
    let mut built = Builder::with_limit(7);
    (0..5).for_each(|_| built.push('é', 1));
    assert_eq!(built.text.len(), 6);
    assert_eq!(built.finish(5).err(), Some(Error::TooLarge { len_bytes: 10 }));
    let mut built = Builder::with_limit(10);
    (0..5).for_each(|_| built.push('é', 1));
    assert_eq!(built.finish(5).map(|(text, ..)| text), Ok("ééééé".to_string()));
}

#[test]
fn two_characters_of_one_sequence_share_its_start() {
    assert_eq!(legacy(b"x\x88\x62y", BIG5), ("xÊ\u{304}y".to_string(), vec![0, 1, 3, 3, 4], 0));
}

#[test]
fn bytes_after_a_fault_are_characters_of_their_own() {
    // The fourth byte shows that the first is a fault: `0` stands alone, the third starts a new sequence.
    assert_eq!(legacy(b"\x810\x81\x40", GB18030), ("\u{FFFD}0丂".to_string(), vec![0, 1, 2, 4], 1));
    // The third byte shows that the escape is a fault: `$` stands alone.
    assert_eq!(legacy(b"\x1B$!", ISO_2022_JP), ("\u{FFFD}$!".to_string(), vec![0, 1, 2, 3], 1));
    assert_eq!(legacy(b"\x1B$", ISO_2022_JP), ("\u{FFFD}$".to_string(), vec![0, 1, 2], 1));
    // The second byte shows that the first is a fault, and is read again.
    assert_eq!(legacy(b"\x81\x20", SHIFT_JIS), ("\u{FFFD} ".to_string(), vec![0, 1, 2], 1));
}

#[test]
fn escapes_belong_to_the_next_character_and_at_the_end_to_the_last() {
    let bytes = b"a\x1B$B$\"$$\x1B(Bb\x1B(J";
    assert_eq!(legacy(bytes, ISO_2022_JP), ("aあいb".to_string(), vec![0, 1, 6, 8, 15], 0));
}

#[test]
fn a_surrogate_in_three_bytes_is_one_fault() {
    let read = mapped(read_utf8(b"a\xED\xA0\xBD\xED\xB8\x80\xE2\x82b"), 10);
    assert_eq!(read, ("a\u{FFFD}\u{FFFD}\u{FFFD}b".to_string(), vec![0, 1, 4, 7, 9, 10], 3));
}

#[test]
fn faults_of_utf16_and_utf32_are_replaced_one_by_one() {
    let utf16 = b"\x00\xD8\x41\x00\x00\xDC\x00\xD8\x00\xDC\x42";
    let read = mapped(read_utf16(utf16, u16::from_le_bytes), utf16.len());
    assert_eq!(read, ("\u{FFFD}A\u{FFFD}\u{10000}\u{FFFD}".to_string(), vec![0, 2, 4, 6, 10, 11], 3));
    let utf32 = b"\x00\x00\x00\x41\x00\x11\x00\x00\x00\x00\xD8\x00\x00\x01";
    let read = mapped(read_utf32(utf32, u32::from_be_bytes), utf32.len());
    assert_eq!(read, ("A\u{FFFD}\u{FFFD}\u{FFFD}".to_string(), vec![0, 4, 8, 12, 14], 3));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn map_matches_naive(
        pieces in vec((select(vec!['a', 'é', '的', '😀']), 0usize..6), 1..40),
        tail in 0usize..3,
    ) {
        let mut built = Builder::new();
        let mut naive = vec![0];
        for &(character, len) in &pieces {
            built.push(character, len);
            naive.push(built.original());
        }
        let total = built.original() + tail;
        naive[pieces.len()] = total;
        let (text, map, _) = built.finish(total).expect("a short text");
        let mut cursor = Cursor::new(&map);
        for (&offset, &original) in boundaries(&text).iter().zip(&naive) {
            prop_assert_eq!((map.original(offset), cursor.original(offset)), (original, original));
        }
        prop_assert_eq!(map.is_identity(), tail == 0 && boundaries(&text) == naive);
    }

    #[test]
    fn legacy_readers_match_encoding_rs(bytes in vec(any::<u8>(), 0..60), which in 0..LEGACY.len()) {
        let encoding = LEGACY[which];
        let (text, offsets, replaced) = legacy(&bytes, encoding);
        prop_assert_eq!(&text, &encoding.decode_without_bom_handling(&bytes).0, "{}", encoding.name());
        prop_assert_eq!(replaced as usize, text.matches(char::REPLACEMENT_CHARACTER).count());
        prop_assert!(offsets.is_sorted() && offsets.last() == Some(&bytes.len()), "{:?}", offsets);
        for (character, span) in text.chars().zip(offsets.windows(2)) {
            let is_second = matches!(character, '\u{304}' | '\u{30C}');
            prop_assert_eq!(span[0] == span[1], is_second && encoding == BIG5, "{} {:?}", encoding.name(), offsets);
        }
    }

    #[test]
    fn iso_2022_jp_matches_encoding_rs(
        bytes in vec(select(b"\x1B\x1B$(BJI@!0Ab~\n\x0E\xE9".to_vec()), 0..40),
    ) {
        let (text, offsets, replaced) = legacy(&bytes, ISO_2022_JP);
        prop_assert_eq!(&text, &ISO_2022_JP.decode_without_bom_handling(&bytes).0);
        prop_assert_eq!(replaced as usize, text.matches(char::REPLACEMENT_CHARACTER).count());
        prop_assert!(text.is_empty() || offsets.windows(2).all(|span| span[0] < span[1]), "{:?}", offsets);
    }

    #[test]
    fn gb18030_in_four_bytes_matches_encoding_rs(
        bytes in vec(select(b"\x81\x84\xFE09\x40\x80\xFF".to_vec()), 0..40),
    ) {
        let (text, offsets, _) = legacy(&bytes, GB18030);
        prop_assert_eq!(&text, &GB18030.decode_without_bom_handling(&bytes).0);
        prop_assert!(text.is_empty() || offsets.windows(2).all(|span| span[0] < span[1]), "{:?}", offsets);
    }

    #[test]
    fn offsets_of_legacy_text_match_naive(
        text in "[ -~]{0,9}[а-яΑ-ωא-תء-ي가-힣ぁ-ん一-龥ｱ-ﾝâ-ü€ก-ฮ]{1,20}[ -~]{0,9}",
        which in 0..LEGACY.len(),
    ) {
        let encoding = LEGACY[which];
        prop_assume!(encoding != ISO_2022_JP);
        let text: String = text.chars().filter(|c| !encoding.encode(&c.to_string()).2).collect();
        let bytes = encoding.encode(&text).0;
        let text = encoding.decode_without_bom_handling(&bytes).0;
        let naive = naive_offsets(&text, |character| encoding.encode(&character.to_string()).0.len());
        prop_assert_eq!(legacy(&bytes, encoding), (text.to_string(), naive, 0), "{}", encoding.name());
        prop_assert!(slices_read_alike(&bytes, |bytes| read_legacy(bytes, encoding)), "{}", encoding.name());
    }

    #[test]
    fn slices_of_anything_read_alike_where_no_state_is_kept(
        bytes in vec(prop_oneof![any::<u8>(), 0x80u8..0xC0, Just(0xED), Just(0xE2), Just(0)], 0..24),
    ) {
        prop_assert!(slices_read_alike(&bytes, read_utf8));
        prop_assert!(slices_read_alike(&bytes, |bytes| read_utf16(bytes, u16::from_le_bytes)));
        prop_assert!(slices_read_alike(&bytes, |bytes| read_utf16(bytes, u16::from_be_bytes)));
        prop_assert!(slices_read_alike(&bytes, |bytes| read_utf32(bytes, u32::from_le_bytes)));
        prop_assert!(slices_read_alike(&bytes, |bytes| read_legacy(bytes, WINDOWS_1252)));
    }

    #[test]
    fn utf8_without_surrogates_is_read_as_std_does(
        bytes in vec(prop_oneof![any::<u8>(), 0x80u8..0xC0, 0xE0u8..0xF8], 0..40),
    ) {
        prop_assume!(!bytes.windows(3).any(is_surrogate));
        prop_assert_eq!(mapped(read_utf8(&bytes), bytes.len()).0, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn unicode_forms_match_naive(text in "[a-zé的😀\u{FEFF}]{0,30}") {
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let naive = naive_offsets(&text, |character| 2 * character.len_utf16());
        prop_assert_eq!(mapped(read_utf16(&utf16, u16::from_be_bytes), utf16.len()), (text.clone(), naive, 0));
        let utf32: Vec<u8> = text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect();
        let naive = naive_offsets(&text, |_| 4);
        prop_assert_eq!(mapped(read_utf32(&utf32, u32::from_le_bytes), utf32.len()), (text, naive, 0));
    }
}
