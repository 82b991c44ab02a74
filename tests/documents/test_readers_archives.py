"""Archives that mean harm, or are broken: bombs, odd entries, any damage. Honest neighbours are always read."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.documents import Limits, collect
from support.packing import (
    COMPRESSORS,
    HONEST,
    MEMORY,
    MIB,
    PACKERS,
    beside,
    memory_within,
    names,
    reasons,
    tar_bytes,
    zip_bytes,
    zstd,
)

# --- bombs --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PACKERS)
def test_every_kind_of_archive_is_read(tmp_path: Path, kind: str):
    data = os.urandom(200_000)
    found = collect([beside(tmp_path, f"x.{kind}", PACKERS[kind](("src/a.py", data), ("b.py", b"")))])
    assert names(found) == {"x": ["b.py", "src/a.py"]}
    assert found.submissions[1].documents[1].data == data


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_a_single_compressed_file_is_one_document(tmp_path: Path, suffix: str):
    found = collect([beside(tmp_path, f"a.py.{suffix}", COMPRESSORS[suffix](HONEST))])
    assert names(found) == {"a.py": ["a.py"]}
    found = collect([tmp_path / f"a.py.{suffix}"])
    assert [(one.name, one.documents[0].data) for one in found.submissions] == [("a.py", HONEST)]


def test_a_bomb_is_stopped_while_it_inflates(tmp_path: Path):
    bomb = zip_bytes(*((f"{n}.py", bytes(20 * MIB)) for n in range(4)))
    assert 80 * MIB / len(bomb) > 500
    with memory_within(MEMORY):
        found = collect([beside(tmp_path, "x.zip", bomb)])
    assert names(found) == {}
    assert reasons(found) == {"x.zip": "expands beyond 200 times its size; nothing of it is read"}


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_compressed_bombs_are_stopped_also_in_members_that_nobody_wants(tmp_path: Path, suffix: str):
    bomb = COMPRESSORS[suffix](tar_bytes(("a.py", HONEST), ("skip.png", bytes(40 * MIB)), ("b.py", HONEST)))
    beside(tmp_path, f"x.tar.{suffix}", bomb)
    (tmp_path / f"y.py.{suffix}").write_bytes(COMPRESSORS[suffix](bytes(40 * MIB)))
    with memory_within(MEMORY):
        found = collect([tmp_path])
    assert names(found) == {}
    assert reasons(found)[f"x.tar.{suffix}"] == "expands beyond 200 times its size; nothing of it is read"
    assert f"y.py.{suffix}" in reasons(found)


def test_the_total_is_counted_on_what_comes_out(tmp_path: Path):
    members = [(f"{n}.py", os.urandom(1000)) for n in range(20)]
    for kind in PACKERS:
        beside(tmp_path, f"x.{kind}", PACKERS[kind](*members))
    found = collect([tmp_path], limits=Limits(archive_bytes=10_000))
    assert names(found) == {}
    assert reasons(found) == {f"x.{kind}": "expands beyond 9.766 KiB; nothing of it is read" for kind in PACKERS}


def test_a_small_archive_may_have_any_ratio(tmp_path: Path):
    found = collect([beside(tmp_path, "x.zip", zip_bytes(("blank.txt", b" " * (MIB - 1))))])
    assert names(found) == {"x": ["blank.txt"]}


def test_a_header_that_lies_about_the_size_changes_nothing(tmp_path: Path):
    honest = zip_bytes(("a.py", bytes(30 * MIB)), ("b.py", HONEST))
    lies = honest.replace(struct.pack("<L", 30 * MIB), struct.pack("<L", 10))
    assert lies != honest
    with memory_within(MEMORY):
        found = collect([beside(tmp_path, "x.zip", lies)])
    assert names(found) == {}
    assert reasons(found) == {"x.zip": "expands beyond 200 times its size; nothing of it is read"}


def test_a_size_that_is_a_little_wrong_is_damage_of_that_member(tmp_path: Path):
    lies = zip_bytes(("a.py", b"12345"), ("b.py", HONEST)).replace(struct.pack("<L", 5), struct.pack("<L", 4))
    found = collect([beside(tmp_path, "x.zip", lies)])
    assert names(found) == {"x": ["b.py"]}
    assert reasons(found) == {"x.zip/a.py": "damaged: size or checksum do not agree with its content"}


def nested(levels: int, leaf: bytes, width: int = 2) -> bytes:
    data = zip_bytes(("leaf.py", leaf))
    for _ in range(levels):
        data = zip_bytes(*((f"{n}.zip", data) for n in range(width)), method=zipfile.ZIP_STORED)
    return data


def test_nested_archives_are_read_to_the_depth_and_no_further(tmp_path: Path):
    found = collect([beside(tmp_path, "x.zip", nested(2, HONEST))])
    assert names(found) == {"x": [f"{a}.zip/{b}.zip/leaf.py" for a in "01" for b in "01"]}
    found = collect([beside(tmp_path, "x.zip", nested(3, HONEST))])
    assert names(found) == {}
    assert reasons(found)["x.zip/0.zip/1.zip/1.zip"] == "more than 2 levels inside an archive"


def test_nested_archives_share_one_total(tmp_path: Path):
    data = nested(1, os.urandom(5000), width=10)
    beside(tmp_path, "x.zip", data)
    assert names(collect([tmp_path], limits=Limits(archive_bytes=200_000))) != {}
    found = collect([tmp_path], limits=Limits(archive_bytes=80_000))
    assert names(found) == {}
    assert reasons(found) == {"x.zip": "expands beyond 78.12 KiB; nothing of it is read"}


def test_a_nested_bomb_is_dropped_and_its_neighbours_are_kept(tmp_path: Path):
    bomb = zip_bytes(("big.py", bytes(30 * MIB)))
    found = collect([beside(tmp_path, "x.zip", zip_bytes(("a.py", HONEST), ("bomb.zip", bomb), ("z.py", HONEST)))])
    assert names(found) == {"x": ["a.py", "z.py"]}
    assert reasons(found) == {"x.zip/bomb.zip": "expands beyond 200 times its size; nothing of it is read"}


def test_in_an_archive_that_was_given_one_submission_cannot_spend_the_others_share(tmp_path: Path):
    greedy = zip_bytes(*((f"{n}.py", os.urandom(1000)) for n in range(80)))
    path = tmp_path / "class.zip"
    path.write_bytes(zip_bytes(("a.zip", greedy), ("b.zip", greedy), ("c.zip", zip_bytes(("c.py", HONEST)))))
    found = collect([path], limits=Limits(archive_bytes=270_000, archive_entries=100))
    assert [one.name for one in found.submissions] == ["a", "c"]
    assert reasons(found) == {
        "b.zip": "holds more than 100 entries: unpack it and give the folder; nothing of it is read"
    }
    found = collect([path], limits=Limits(archive_bytes=270_000))
    assert [one.name for one in found.submissions] == ["a", "c"]
    assert reasons(found) == {"b.zip": "expands beyond 263.7 KiB; nothing of it is read"}


def test_a_gzip_of_many_members_is_counted_as_one(tmp_path: Path):
    many = gzip.compress(b"") * 20_000 + gzip.compress(bytes(MIB)) * 300
    with memory_within(MEMORY):
        found = collect([beside(tmp_path, "x.py.gz", many)], limits=Limits(archive_bytes=100 * MIB))
    assert reasons(found) == {"x.py.gz": "larger than 32 MiB"}
    found = collect([beside(tmp_path, "x.py.gz", gzip.compress(b"ab") + gzip.compress(b"cd"))])
    assert found.submissions[1].documents[0].data == b"abcd"


@pytest.mark.parametrize("suffix", ["xz", "zst"])
def test_a_window_is_refused_before_memory_is_taken(tmp_path: Path, suffix: str):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 256 * MIB}]
    if suffix == "xz":
        data = lzma.compress(HONEST, filters=filters)
    else:
        options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.content_size_flag: 0}
        compressor = zstd.ZstdCompressor(options=options)
        data = compressor.compress(HONEST) + compressor.flush()
    found = collect([beside(tmp_path, f"x.py.{suffix}", data)])
    assert names(found) == {}
    assert reasons(found) == {f"x.py.{suffix}": "asks for a window of more than 64 MiB"}


# --- entries ------------------------------------------------------------------------------


def directory_of(count: int, said: int) -> bytes:
    """A zip archive of ``count`` empty entries that says it has ``said``."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, said, said, len(entry) * count, len(local), 0)
    return local + entry * count + end


@pytest.mark.parametrize("said", [65_535, 1])
def test_a_million_entries_are_refused_before_any_is_made(tmp_path: Path, said: int):
    data = directory_of(1_000_000, said)
    beside(tmp_path, "x.zip", data)
    with memory_within(MEMORY):
        found = collect([tmp_path])
    assert names(found) == {}
    assert "x.zip" in reasons(found)


def test_a_few_too_many_entries_are_refused_in_every_kind(tmp_path: Path):
    for kind in PACKERS:
        beside(tmp_path, f"x.{kind}", PACKERS[kind](*((f"{n}.py", b"") for n in range(11))))
    found = collect([tmp_path], limits=Limits(archive_entries=10))
    assert names(found) == {}
    assert set(reasons(found).values()) == {
        "holds more than 10 entries: unpack it and give the folder; nothing of it is read"
    }
    assert names(collect([tmp_path], limits=Limits(archive_entries=11))).keys() == {
        "x",
        *(f"x ({n})" for n in range(2, 7)),
    }


EVIL = {
    "../../../../etc/passwd": "etc/passwd",
    "/etc/shadow": "etc/shadow",
    "..\\..\\windows\\system.ini": "windows/system.ini",
    "C:/boot.ini": "C:/boot.ini",
    "a//b/./c.py": "a/b/c.py",
    "..": "unnamed",
}


def test_names_that_lead_elsewhere_are_labels_only(tmp_path: Path):
    found = collect([beside(tmp_path, "x.zip", zip_bytes(*((name, HONEST) for name in EVIL)))])
    assert names(found) == {"x": sorted(EVIL.values())}
    unix = {name: label for name, label in EVIL.items() if "\\" not in name}
    found = collect([beside(tmp_path, "x.zip", tar_bytes(*((name, HONEST) for name in unix)))])
    assert names(found) == {"x": sorted(unix.values())}


def test_a_nul_or_nothing_in_a_name_is_no_obstacle(tmp_path: Path):
    data = zip_bytes(("a_b.py", HONEST)).replace(b"a_b.py", b"a\0b.py")
    assert names(collect([beside(tmp_path, "x.zip", data)])) == {"x": ["a\0b.py"]}
    assert names(collect([beside(tmp_path, "x.zip", tar_bytes(("", HONEST)))])) == {"x": ["unnamed"]}


def test_a_path_that_is_too_long_is_skipped(tmp_path: Path):
    long = "/".join(["x" * 200] * 25)
    for kind in ("zip", "tar.gz"):
        found = collect([beside(tmp_path, "x.zip", PACKERS[kind]((long, HONEST), ("a.py", HONEST)))])
        assert names(found) == {"x": ["a.py"]}
        assert list(reasons(found).values()) == ["its path is longer than 4 KiB"]


def test_links_devices_and_fifos_in_archives_are_listed(tmp_path: Path):
    kinds = {"sym": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "fifo": tarfile.FIFOTYPE, "dev": tarfile.CHRTYPE}
    members: list[tuple[tarfile.TarInfo, bytes]] = []
    for name, kind in kinds.items():
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        members.append((info, b""))
    found = collect([beside(tmp_path, "x.tar", tar_bytes(*members, ("a.py", HONEST)))])
    assert names(found) == {"x": ["a.py"]}
    assert reasons(found) == {
        "x.tar/sym": "a link, and links are not followed",
        "x.tar/hard": "a link, and links are not followed",
        "x.tar/fifo": "not a regular file",
        "x.tar/dev": "not a regular file",
    }
    link = zipfile.ZipInfo("link")
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    found = collect([beside(tmp_path, "x.tar", zip_bytes((link, b"/etc/passwd"), ("a.py", HONEST)))])
    assert names(found) == {"x": ["a.py"]}
    assert reasons(found) == {"x.tar/link": "a link, and links are not followed"}


def patched(data: bytes, flags: int = 0, method: int = 8) -> bytes:
    """Change flags and method of the first entry, in its header and in the directory."""
    result = bytearray(data)
    at = data.index(b"PK\1\2")
    struct.pack_into("<2H", result, 6, flags, method)
    struct.pack_into("<2H", result, at + 8, flags, method)
    return bytes(result)


def test_members_that_cannot_be_read_are_skipped_alone(tmp_path: Path):
    data = zip_bytes(("a.py", b"x" * 100), ("b.py", HONEST))
    cases = {
        patched(data, flags=1): "encrypted",
        patched(data, method=14): "packed by method 14, and only stored and deflated members are read",
        data[:35] + bytes([data[35] ^ 1]) + data[36:]: "damaged: ",
    }
    for bad, reason in cases.items():
        found = collect([beside(tmp_path, "x.zip", bad)])
        assert names(found) == {"x": ["b.py"]}
        assert reasons(found)["x.zip/a.py"].startswith(reason)


def test_a_zip_that_is_cut_short_is_skipped_with_the_reason(tmp_path: Path):
    found = collect([beside(tmp_path, "x.zip", zip_bytes(("a.py", HONEST))[:-30])])
    assert names(found) == {}
    assert reasons(found) == {"x.zip": "damaged: it is cut short, or no zip archive"}


def test_what_stands_before_the_cut_of_a_tar_is_kept_and_the_cut_is_told(tmp_path: Path):
    whole = tar_bytes(("a.py", HONEST), ("b.py", os.urandom(5000)), ("c.py", HONEST))
    for cut, kept in ((512 + 512 + 512 + 1000, ["a.py"]), (512 + 512, ["a.py"]), (100, [])):
        found = collect([beside(tmp_path, "x.tar", whole[:cut])])
        assert names(found) == ({"x": kept} if kept else {})
        assert any(reason.startswith("damaged") for reason in reasons(found).values())
    found = collect([beside(tmp_path, "x.tar", gzip.compress(whole)[:-3000])])
    assert names(found) == {"x": ["a.py"]}
    assert reasons(found)["x.tar"] == "damaged: it is cut short"


def test_a_tar_that_is_broken_in_the_middle_does_not_end_in_silence(tmp_path: Path):
    whole = bytearray(tar_bytes(("a.py", HONEST), ("b.py", HONEST)))
    whole[1024 + 150] ^= 1
    found = collect([beside(tmp_path, "x.tar", bytes(whole))])
    assert names(found) == {"x": ["a.py"]}
    assert reasons(found)["x.tar"].startswith("damaged: cut short or not a tar archive from here on")


def test_a_tar_whose_sizes_lead_backwards_ends(tmp_path: Path):
    """Some versions of ``tarfile`` read the same member for ever; others refuse the header."""
    whole = bytearray(tar_bytes(("a.py", HONEST), ("b.py", HONEST)))
    whole[1148:1160] = b"\xff" * 10 + b"\xfe\x00"
    whole[1172:1180] = b" " * 8
    whole[1172:1180] = b"%06o\0 " % sum(whole[1024:1536])
    found = collect([beside(tmp_path, "x.tar", bytes(whole))])
    assert names(found) == {"x": ["a.py"]}
    assert reasons(found)["x.tar"].startswith("damaged")


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_headers_of_a_tar_that_go_on_and_on_are_refused(tmp_path: Path, kind: bytes):
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, 50 * MIB
    data = info.tobuf() + bytes(50 * MIB) + tar_bytes(("a.py", HONEST))
    with memory_within(MEMORY + len(data)):
        found = collect([beside(tmp_path, "x.tar", data)])
    assert names(found) == {}
    assert reasons(found)["x.tar"] == "damaged: a member has headers of more than 64 KiB"
    info.size = 0
    found = collect([beside(tmp_path, "x.tar", info.tobuf() * 5000 + tar_bytes(("a.py", HONEST)))])
    assert reasons(found)["x.tar"].startswith("damaged")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_headers_of_a_tar_are_forgotten_with_their_members(tmp_path: Path, kind: bytes):
    parts = []
    for n in range(500):
        record = b"60000 key%05d=" % n
        header = tarfile.TarInfo("h")
        header.type, header.size = kind, 60_000
        padding = bytes(-60_000 % 512)
        parts.append(header.tobuf() + record.ljust(59_999, b"v") + b"\n" + padding + tarfile.TarInfo(f"{n}.py").tobuf())
    beside(tmp_path, "x.tar", b"".join(parts) + bytes(1024))
    del parts
    with memory_within(8 * MIB):
        found = collect([tmp_path])
    assert len(names(found)["x"]) == 500


def test_entries_that_overlap_are_refused(tmp_path: Path):
    """Fifield's bomb: many entries of the directory share one piece of deflated data."""
    data = zip_bytes(("a.py", bytes(10_000)))
    start = data.index(b"PK\1\2")
    end = data.index(b"PK\5\6")
    entry = data[start:end]
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 9, 9, len(entry) * 9, start, 0)
    found = collect([beside(tmp_path, "x.zip", data[:start] + entry * 9 + tail)])
    assert names(found) == {}
    assert reasons(found) == {"x.zip": "damaged: its entries overlap"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", PACKERS)
def test_members_of_one_name_get_labels_of_their_own(tmp_path: Path, kind: str):
    members = [("a.py", b"1"), ("a.py", b"2"), ("A.py", b"3"), ("a (2).py", b"4")]
    found = collect([beside(tmp_path, "x.zip", PACKERS[kind](*members))])
    documents = found.submissions[1].documents
    assert len({one.name for one in documents}) == 4
    assert sorted(one.data for one in documents) == [b"1", b"2", b"3", b"4"]


def test_a_member_that_is_too_large_is_skipped_alone(tmp_path: Path):
    for kind in PACKERS:
        data = PACKERS[kind](("a.py", os.urandom(101)), ("b.py", HONEST))
        found = collect([beside(tmp_path, "x.zip", data)], limits=Limits(file_bytes=100))
        assert names(found) == {"x": ["b.py"]}
        assert reasons(found) == {"x.zip/a.py": "larger than 100 bytes"}


@pytest.mark.parametrize("name", ["x.docx", "x.odt", "x.epub", "x.ipynb"])
def test_documents_that_are_zip_archives_inside_stay_documents(tmp_path: Path, name: str):
    data = zip_bytes(("word/document.xml", HONEST))
    found = collect([beside(tmp_path, name, data)])
    assert names(found) == {name: [name]}
    assert found.submissions[1].documents[0].data == data


def test_a_name_alone_makes_no_archive(tmp_path: Path):
    assert names(collect([beside(tmp_path, "x.zip", b"this is a text")])) == {"x.zip": ["x.zip"]}
    found = collect([beside(tmp_path, "x.zip", b"Rar!\x1a\x07\x00...")])
    assert reasons(found) == {"x.zip": "a rar archive, which is not read: unpack it, or pack it as zip"}


def test_a_large_zip_record_is_understood(tmp_path: Path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a.py", "w", force_zip64=True) as member:
        member.write(HONEST)
    data = file.getvalue()
    at, size, count = data.index(b"PK\5\6"), len(data) - data.index(b"PK\1\2") - 22, 1
    start = at - size
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    large = b"a program that unpacks itself" + data[:at] + record + locator + end
    assert zipfile.ZipFile(io.BytesIO(large)).namelist() == ["a.py"]
    assert names(collect([beside(tmp_path, "x.zip", b"PK\3\4" + large)])) == {"x": ["a.py"]}


def test_names_in_archives_are_read_in_the_encoding_they_have(tmp_path: Path):
    marked = zip_bytes(("é_日.py", HONEST))
    unmarked = zip_bytes(("xx.py", HONEST)).replace(b"xx", "é".encode())
    german = zip_bytes(("xx.py", HONEST)).replace(b"xx", b"x\x81")
    for data, name in ((marked, "é_日.py"), (unmarked, "é.py"), (german, "xü.py")):
        assert names(collect([beside(tmp_path, "x.zip", data)])) == {"x": [name]}
    raw = os.fsdecode(b"x\xff.py")
    assert names(collect([beside(tmp_path, "x.zip", tar_bytes((raw, HONEST)))])) == {"x": [raw]}


# --- any damage ------------------------------------------------------------------------------------

MEMBERS = [("a.py", HONEST), ("src/b.py", b"x = 1\n" * 50), ("c.zip", zip_bytes(("d.py", HONEST))), ("e.txt", b"")]
VALID = {kind: pack(*MEMBERS) for kind, pack in PACKERS.items()}
CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8)


@pytest.mark.parametrize("kind", VALID)
@settings(max_examples=60)
@given(changes=CHANGES, cut=st.integers(0, 10**6) | st.none())
def test_no_damage_to_an_archive_ends_the_run(
    tmp_path_factory: pytest.TempPathFactory, kind: str, changes: list[tuple[int, int]], cut: int | None
):
    data = bytearray(VALID[kind])
    for at, value in changes:
        data[at % len(data)] = value
    if cut is not None:
        del data[cut % len(data) :]
    root = tmp_path_factory.getbasetemp() / f"damage-{kind}"
    root.mkdir(exist_ok=True)
    beside_others = collect([beside(root, f"x.{kind}", bytes(data))])
    assert names(beside_others) or reasons(beside_others), "the archive is neither read nor told"
    alone = collect([root / f"x.{kind}"])
    assert alone.submissions or alone.skipped
