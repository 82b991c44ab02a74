//! Each rule of the decoder as a fact, in every encoding it knows; and no panic on any bytes.

use encoding_rs::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;

use super::*;

const ENGLISH: &str = "The quick brown fox jumps over the lazy dog,\nthen sleeps until noon.\n";
const FRENCH: &str = "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter en canoë au delà des îles,\n\
        près du mälström où brûlent les novæ.\n";
const GERMAN: &str = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.\n\
        Falsches Üben von Xylophonmusik quält jeden größeren Zwerg.\n";
const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n\
        В чащах юга жил бы цитрус? Да, но фальшивый экземпляр!\n";
const GREEK: &str = "Άνθρωποι, ξεσκεπάζω την ψυχοφθόρα βδελυγμία.\n\
        Ο καλύμνιος σφουγγαράς ψιθύρισε πως θα βουτήξει χωρίς να διστάζει.\n";
const JAPANESE: &str = "いろはにほへと ちりぬるを 我が世誰ぞ 常ならむ。\n\
        有為の奥山 今日越えて 浅き夢見じ 酔ひもせず。\n\
        ソフトウェアの文書を比較する。\n";
const SIMPLIFIED: &str = "这是一个用来测试编码识别的中文句子，一共有两行文字。\n\
        软件会比较许多文件，找出其中相同的段落。\n";
const TRADITIONAL: &str = "這是一個用來測試編碼識別的中文句子，一共有兩行文字。\n\
        軟體會比較許多檔案，找出其中相同的段落。\n";
const KOREAN: &str = "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.\n\
        문서를 서로 비교하여 같은 부분을 찾는다.\n";
const ARABIC: &str = "هذا نص عربي قصير لاختبار التعرف على ترميز الحروف.\n\
        يقارن البرنامج بين المستندات ويبحث عن الفقرات المتشابهة.\n";

static TEXTS: [(&str, &[&Encoding]); 10] = [
    (ENGLISH, &[]),
    (FRENCH, &[WINDOWS_1252]),
    (GERMAN, &[WINDOWS_1252]),
    (RUSSIAN, &[WINDOWS_1251, KOI8_U, IBM866, ISO_8859_5]),
    (GREEK, &[WINDOWS_1253, ISO_8859_7]),
    (JAPANESE, &[SHIFT_JIS, EUC_JP, ISO_2022_JP]),
    (SIMPLIFIED, &[GBK]),
    (TRADITIONAL, &[BIG5]),
    (KOREAN, &[EUC_KR]),
    (ARABIC, &[WINDOWS_1256]),
];

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

fn utf32(text: &str, order: fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars().map(u32::from).flat_map(order).collect()
}

fn read(bytes: &[u8]) -> Decoded<'_> {
    decode(bytes).expect("text")
}

/// Encoding, whether it was guessed, replacements: what a report says.
fn verdict(bytes: &[u8]) -> (&'static str, bool, u32) {
    let decoded = read(bytes);
    (decoded.encoding, decoded.guessed, decoded.replaced)
}

fn refused_at(bytes: &[u8]) -> Option<u64> {
    match decode(bytes) {
        Err(Error::Binary { at_byte, .. }) => Some(at_byte),
        _ => None,
    }
}

/// Bytes that look random and are the same each time (Knuth's multiplier, upper bits).
fn noise(len: usize) -> Vec<u8> {
    (1..=len as u64).map(|i| (i.wrapping_mul(6_364_136_223_846_793_005) >> 53) as u8).collect()
}

/// The map by brute force: each character must be what its bytes say in the encoding alone.
fn check_offsets(bytes: &[u8], len_of: impl Fn(char) -> usize) {
    let decoded = read(bytes);
    let (mut cursor, mut original) = (decoded.cursor(), 0);
    for (offset, character) in decoded.text.char_indices() {
        assert_eq!((decoded.original(offset), cursor.original(offset)), (original, original), "{offset}");
        original += len_of(character);
    }
    assert_eq!((decoded.original(decoded.text.len()), original), (bytes.len(), bytes.len()));
}

#[test]
fn nothing_is_empty_utf8() {
    assert_eq!((read(b"").text.as_ref(), verdict(b"")), ("", ("utf-8", false, 0)));
    assert_eq!(read(b"").original(0), 0);
}

#[test]
fn lengths_from_4_gib_on_are_refused() {
    assert_eq!(check_len(u64::from(u32::MAX)), Ok(()));
    assert_eq!(check_len(1 << 32), Err(Error::TooLarge { len_bytes: 1 << 32 }));
}

#[test]
fn valid_utf8_is_borrowed_and_maps_to_itself() {
    for (text, _) in TEXTS {
        let decoded = read(text.as_bytes());
        assert!(matches!(decoded.text, Cow::Borrowed(same) if same == text) && decoded.is_identity());
        assert_eq!(verdict(text.as_bytes()), ("utf-8", false, 0));
    }
}

#[test]
fn a_text_that_was_never_bytes_maps_to_itself() {
    let decoded = Decoded::from_text(Cow::Borrowed("naïve"), 3);
    assert_eq!((decoded.encoding, decoded.guessed, decoded.replaced), ("str", false, 3));
    assert_eq!((decoded.is_identity(), decoded.original(4), decoded.cursor().original(6)), (true, 4, 6));
}

#[test]
fn a_utf8_mark_stays_and_is_obeyed() {
    let marked = read("\u{FEFF}naïve".as_bytes());
    assert!(matches!(marked.text, Cow::Borrowed("\u{FEFF}naïve")) && marked.is_identity());
    assert_eq!(verdict(b"\xEF\xBB\xBFna\xEFve"), ("utf-8", false, 1));
    assert_eq!(verdict(b"\xEF\xBB\xBF\0\0\0"), ("utf-8", false, 0));
}

#[test]
fn marks_of_utf16_and_utf32_are_obeyed() {
    for (text, _) in TEXTS {
        let text = format!("\u{FEFF}{text}😀");
        let forms = [
            ("utf-16le", utf16(&text, u16::to_le_bytes)),
            ("utf-16be", utf16(&text, u16::to_be_bytes)),
            ("utf-32le", utf32(&text, u32::to_le_bytes)),
            ("utf-32be", utf32(&text, u32::to_be_bytes)),
        ];
        for (label, bytes) in forms {
            assert_eq!((read(&bytes).text.as_ref(), verdict(&bytes)), (text.as_str(), (label, false, 0)));
            let is_utf16 = label.starts_with("utf-16");
            check_offsets(&bytes, |character| if is_utf16 { 2 * character.len_utf16() } else { 4 });
        }
    }
}

#[test]
fn faults_after_a_mark_are_replaced_and_counted() {
    assert_eq!(verdict(b"\xFF\xFE\x00\xD8"), ("utf-16le", false, 1));
    assert_eq!(verdict(b"\xFE\xFF\x00A\xDC\x00B"), ("utf-16be", false, 2));
    assert_eq!(verdict(b"\xFF\xFE\0\0\xFF\xFF\xFF\xFFA\0"), ("utf-32le", false, 2));
    assert_eq!(verdict(b"\0\0\xFE\xFF\0\0\xD8\0"), ("utf-32be", false, 1));
}

#[test]
fn utf16_without_mark_is_told_from_its_nuls() {
    for (text, _) in TEXTS {
        let forms = [("utf-16le", utf16(text, u16::to_le_bytes)), ("utf-16be", utf16(text, u16::to_be_bytes))];
        for (label, bytes) in forms {
            assert_eq!((read(&bytes).text.as_ref(), verdict(&bytes)), (text, (label, true, 0)));
            check_offsets(&bytes, |character| 2 * character.len_utf16());
            let cut = &bytes[..bytes.len() - 1];
            assert_eq!((read(cut).encoding, read(cut).replaced, read(cut).original(usize::MAX)), (label, 1, cut.len()));
        }
    }
}

#[test]
fn utf16_in_doubt_has_the_order_with_more_ascii() {
    assert_eq!(read(b"\x4E\x00\x76\x84\x00 \x00\n").text, "一的 \n");
    assert_eq!(read(b"\x00\x4E\x84\x76 \x00\n\x00").text, "一的 \n");
    assert_eq!(read(b"\0c\0a\0f\0\xE9").text, "café");
}

#[test]
fn a_stray_nul_leaves_a_text_as_it_is() {
    for (text, _) in TEXTS {
        let text = format!("{text}\0{text}");
        assert_eq!(
            (read(text.as_bytes()).text.as_ref(), verdict(text.as_bytes())),
            (text.as_str(), ("utf-8", false, 0))
        );
    }
    let mut cut = format!("{RUSSIAN}\0{RUSSIAN}").into_bytes();
    cut.truncate(cut.len() - 3);
    assert_eq!(verdict(&cut), ("utf-8", false, 1));
    cut[20..30].fill(1);
    assert_eq!(refused_at(&cut), Some(20));
}

#[test]
fn more_than_a_tenth_of_controls_is_binary() {
    assert_eq!(verdict(b"123456789\0"), ("utf-8", false, 0));
    assert_eq!(refused_at(b"12345678\0"), Some(8));
    assert_eq!(refused_at(b"ls\0-l\0"), Some(2));
    assert_eq!(refused_at(&[0; 4096]), Some(0));
    assert_eq!(refused_at(b"text\x01\x02\x03"), Some(4));
    assert_eq!(verdict(b"\t\n\x0B\x0C\r\x1B[0m\x08"), ("utf-8", false, 0));
}

#[test]
fn every_control_is_seen_wherever_it_stands() {
    for byte in 0..=u8::MAX {
        let expected = byte < 0x20 && !matches!(byte, 0x08..=0x0D);
        for at in [0, 1, 15, 4095, 4096, 4999] {
            let mut bytes = [b' '; 5000];
            bytes[at] = byte;
            assert_eq!(has_controls(&bytes), expected, "{byte} at {at}");
        }
    }
}

#[test]
fn legacy_text_with_a_nul_is_binary() {
    for (text, encodings) in TEXTS {
        for encoding in encodings.iter().filter(|&&encoding| encoding != ISO_2022_JP) {
            let mut bytes = encoding.encode(text).0.into_owned();
            bytes.insert(40, 0);
            assert_eq!(refused_at(&bytes), Some(40), "{}", encoding.name());
        }
    }
    let usual_either_way =
        b"wir suchen gleiche stellen und zeigen sie au\xDFerdem\0 so dass man leicht vergleichen kann";
    assert_eq!(refused_at(usual_either_way), Some(50));
}

#[test]
fn a_sequence_cut_at_the_end_is_one_fault_of_utf8() {
    for (bytes, text) in
        [(&b"abc\xC3"[..], "abc\u{FFFD}"), (b"\xE2\x82", "\u{FFFD}"), (b"caf\xC3\xA9 \xF0\x9F\x98", "café \u{FFFD}")]
    {
        assert_eq!((read(bytes).text.as_ref(), verdict(bytes)), (text, ("utf-8", false, 1)));
    }
    assert_eq!(read(b"it costs 10 \x80").text, "it costs 10 €");
}

#[test]
fn a_little_damage_leaves_utf8() {
    let mut bytes = [b"\xFF", RUSSIAN.as_bytes()].concat();
    bytes[20] = 0xFF;
    bytes.insert(50, 0x80);
    let decoded = read(&bytes);
    assert_eq!(verdict(&bytes).0, "utf-8");
    assert_eq!(decoded.replaced as usize, decoded.text.matches('\u{FFFD}').count());
    assert_eq!(&bytes[decoded.original(decoded.text.len() - 5)..], "яр!\n".as_bytes().split_at(1).1);
}

#[test]
fn surrogates_in_three_bytes_are_faults_of_utf8() {
    assert_eq!(verdict(b"smile \xED\xA0\xBD\xED\xB8\x80!"), ("utf-8", false, 2));
    assert_eq!(verdict(b"\xED\xA0\x80"), ("utf-8", false, 1));
}

#[test]
fn legacy_encodings_are_guessed_and_mapped() {
    for (text, encodings) in TEXTS {
        for encoding in encodings.iter().copied() {
            let bytes = encoding.encode(text).0;
            let expected = (label(encoding), true, 0);
            assert_eq!((read(&bytes).text.as_ref(), verdict(&bytes)), (text, expected), "{}", encoding.name());
            if encoding != ISO_2022_JP {
                check_offsets(&bytes, |character| encoding.encode(&character.to_string()).0.len());
            }
        }
    }
}

#[test]
fn legacy_text_is_found_behind_any_amount_of_ascii() {
    let mut bytes = ENGLISH.repeat(2000).into_bytes();
    bytes.extend_from_slice(&WINDOWS_1251.encode(RUSSIAN).0);
    assert_eq!((verdict(&bytes), read(&bytes).text.ends_with(RUSSIAN)), (("windows-1251", true, 0), true));
}

#[test]
fn a_long_legacy_text_may_end_inside_a_character() {
    let text = JAPANESE.repeat(4);
    let bytes = SHIFT_JIS.encode(&text).0;
    assert_eq!(verdict(&bytes[..bytes.len() - 4]), ("shift_jis", true, 1));
}

#[test]
fn a_short_legacy_text_is_guessed_with_its_end() {
    let bytes = WINDOWS_874.encode("วในการกลับไปยังไดเรก").0;
    assert_eq!(verdict(&bytes), ("windows-874", true, 0));
}

#[test]
fn a_guess_that_cannot_be_read_is_binary() {
    let mut bytes = WINDOWS_1252.encode(FRENCH).0.into_owned();
    bytes[60..64].fill(1);
    assert_eq!(refused_at(&bytes), Some(60));
    let mut bytes = GBK.encode(SIMPLIFIED).0.repeat(300);
    let at = bytes.len();
    assert!(at > SAMPLE_BYTES);
    bytes.resize(2 * at, 0xFF);
    assert_eq!(refused_at(&bytes), Some(at as u64));
}

#[test]
fn iso_2022_jp_is_told_from_its_escapes() {
    let bytes = ISO_2022_JP.encode(JAPANESE).0;
    assert_eq!((read(&bytes).text.as_ref(), verdict(&bytes)), (JAPANESE, ("iso-2022-jp", true, 0)));
    assert_eq!([0, 3, 6].map(|offset| read(&bytes).original(offset)), [0, 5, 7]);
    assert_eq!(verdict(b"\x1B[1mbold\x1B[0m costs \x1B$5"), ("utf-8", false, 0));
}

#[test]
fn labels_are_lower_case() {
    assert!(LABELS.iter().all(|label| Encoding::for_label(label.as_bytes()).is_some()));
    assert!(LABELS.iter().all(|label| label.to_ascii_lowercase() == *label));
}

#[test]
fn small_binaries_are_not_text() {
    let png = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0\x1F\xF3\xFFa\
            \0\0\0\x04gAMA\0\0\xB1\x8F\x0B\xFCa\x05\0\0";
    let elf = b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0\x01\0\0\0\x40\x10\0\0\0\0\0\0";
    let zip = b"PK\x03\x04\x14\0\x02\0\x08\0\xA5\x93\x8AY\x1C\x8D\xF4\xE6\x9B\x04\0\0\xE2\x0C\0\0";
    let noise = noise(256);
    let without_nul: Vec<u8> =
        [b"\x1F\x8B\x08\x08", &noise[..]].concat().into_iter().filter(|&byte| byte != 0).collect();
    for bytes in [&png[..], &png[..8], elf, zip, &noise, &without_nul] {
        assert!(refused_at(bytes).is_some(), "{bytes:?}");
    }
}

/// What holds for every input.
fn check_invariants(bytes: &[u8]) -> std::result::Result<(), TestCaseError> {
    let Ok(decoded) = decode(bytes) else { return Ok(()) };
    let text = &decoded.text;
    let boundaries: Vec<usize> = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect();
    let originals: Vec<usize> = boundaries.iter().map(|&offset| decoded.original(offset)).collect();
    let mut cursor = decoded.cursor();
    prop_assert_eq!(&boundaries.iter().map(|&offset| cursor.original(offset)).collect::<Vec<_>>(), &originals);
    prop_assert!(originals.is_sorted(), "{:?}", originals);
    prop_assert!(text.is_empty() || originals[0] == 0);
    prop_assert_eq!(originals.last(), Some(&bytes.len()));
    prop_assert!(decoded.replaced as usize <= text.matches(char::REPLACEMENT_CHARACTER).count());
    prop_assert!(!decoded.is_identity() || boundaries == originals);
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(1997), failure_persistence: None, cases: 2000, ..Default::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn anything_keeps_the_invariants(bytes in vec(any::<u8>(), 0..300)) {
        check_invariants(&bytes)?;
    }

    #[test]
    fn anything_after_a_mark_keeps_the_invariants(mark in 0..MARKS.len(), bytes in vec(any::<u8>(), 0..60)) {
        let bytes = [MARKS[mark].0, &bytes[..]].concat();
        check_invariants(&bytes)?;
        prop_assert!(decode(&bytes).is_ok());
    }

    #[test]
    fn damaged_texts_keep_the_invariants(
        which in 0..TEXTS.len(),
        form in 0usize..8,
        faults in vec((any::<Index>(), any::<u8>()), 0..4),
        end in any::<Index>(),
    ) {
        let (text, encodings) = TEXTS[which];
        let mut bytes = match form {
            0 => utf16(text, u16::to_le_bytes),
            1 => utf16(text, u16::to_be_bytes),
            2 => utf32(&format!("\u{FEFF}{text}"), u32::to_le_bytes),
            3 => text.as_bytes().to_vec(),
            _ => encodings.get(form - 4).unwrap_or(&UTF_8).encode(text).0.into_owned(),
        };
        for (at, byte) in faults {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        check_invariants(&bytes)?;
    }

    #[test]
    fn utf8_cut_anywhere_stays_utf8(which in 0..TEXTS.len(), end in any::<Index>()) {
        let text = TEXTS[which].0;
        let bytes = &text.as_bytes()[..end.index(text.len() + 1)];
        let fault = u32::from(!text.is_char_boundary(bytes.len()));
        prop_assert_eq!(verdict(bytes), ("utf-8", false, fault));
    }
}
