"""Files that commands read from and write to with `--engine spark`: what is refused, what comes back, what is told."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike.spark as las
from lookalike.engines.writing import WriteError
from lookalike.errors import ParameterError
from lookalike.spark import files, records, sessions

LINE = '{"id":1,"text":"a b"}\n'
#: What is said of lines of which Spark reads a part.
ANEW = "the first value only: write each object on its own line"
#: Values that a CSV file can lose.
AWKWARD = [
    "  blanks  ",
    "\ttabs\t",
    'say "hi"',
    '"',
    '""',
    "\\",
    '\\"',
    "ends in \\",
    "line\nbreak",
    "\n",
    "crlf\r\nend",
    "lone\rreturn",
    "\r",
    "",
    None,
    "häß 漢字 😀",
    "#hash",
    "a,b",
    "null",
    "\ufeffmark",
]


def put(path: Path, content: str | bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def parquet(folder: Path, **columns: dict[str, Any]) -> str:
    """Write a Parquet file for each name; __ in it is a folder."""
    for name, rows in columns.items():
        path = folder / f"{name.replace('__', '/')}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(rows), path, use_dictionary=False, compression="none")
    return str(folder)


def rows_of(found: files.Input) -> list[dict[str, Any]]:
    return sorted((row.asDict() for row in found.rows.collect()), key=lambda row: str(row.get("id")))


@pytest.mark.parametrize(
    ("read", "written", "said"),
    [
        (["in/a.parquet"], ["in"], "it is above `in/a.parquet`, which would be deleted"),
        (["in"], ["./in"], "read or written already"),
        (["in"], ["x/../in/"], "read or written already"),
        (["{cwd}/in"], ["in"], "read or written already"),
        (["file:///x/in"], ["/x/in"], "read or written already"),
        (["/x/in"], ["file:/x//in/"], "read or written already"),
        (["hdfs://host/in"], ["hdfs://host//in/"], "read or written already"),
        (["hdfs://host/in"], ["hdfs:///in"], "read or written already"),
        (["hdfs:///in"], ["/in"], "read or written already"),
        (["s3a://bucket/in"], ["s3://bucket/in/clean"], "a later run would read both"),
        (["s3a://bucket/in"], ["s3a://bucket"], "would be deleted"),
        (["corpus"], ["corpus/clean"], "it is in `corpus`, and a later run would read both"),
        (["corpus/*.parquet"], ["corpus"], "would be deleted"),
        (["corpus/*"], ["corpus/clean"], "read or written already"),
        (["corpus/*/*.parquet"], ["corpus/clean"], "would be deleted"),
        (["corpus/*.parquet"], ["corpus/clean.parquet"], "read or written already"),
        (["{{a,b}}/rows"], ["b"], "it is above `{{a,b}}/rows`"),
        (["[ab]"], ["a/clean"], "a later run would read both"),
        (["table:Corpus"], ["table:`default`.corpus"], "read or written already"),
        (["in"], ["o/kept", "o"], "it is above `o/kept`"),
        (["in"], ["o", "o/kept"], "it is in `o`"),
        (["in"], ["o", "./o"], "read or written already"),
        (["in"], ["/"], "would be deleted"),
    ],
)
def test_outputs_that_meet_inputs_or_each_other_are_refused(read: list[str], written: list[str], said: str) -> None:
    with pytest.raises(ParameterError) as told:
        files.check_places([one.format(cwd=os.getcwd()) for one in read], written, None)
    assert said.format() in str(told.value)
    assert str(told.value).endswith("choose another place")


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("in", ["in2", "out"]),
        ("in/a.parquet", ["in/b", "in/a"]),
        ("*.parquet", ["clean"]),
        ("corpus/part-?.parquet", ["corpus/clean"]),
        ("{a,b}", ["c"]),
        ("[^a]", ["a"]),
        ("a\\*", ["ab"]),
        ("file:/in", ["hdfs://host/in"]),
        ("s3a://bucket/in", ["s3a://other/in"]),
        ("table:corpus", ["corpus", "table:clean"]),
    ],
)
def test_outputs_apart_from_inputs_are_not_refused(read: str, written: list[str]) -> None:
    files.check_places([read], written, "parquet")


def test_a_link_to_an_input_is_that_input(tmp_path: Path) -> None:
    inside = put(tmp_path / "corpus" / "a.jsonl", LINE)
    (tmp_path / "link").symlink_to(tmp_path / "corpus")
    with pytest.raises(ParameterError, match="would be deleted"):
        files.check_places([inside], [f"{tmp_path}/link"], None)
    with pytest.raises(ParameterError, match="a later run would read both"):
        files.check_places([f"{tmp_path}/link"], [f"{tmp_path}/corpus/clean"], None)


@pytest.mark.parametrize(("name", "said"), [("_a.jsonl", "passes over"), (".a.jsonl", "passes over"), ("a:b", "colon")])
def test_files_that_spark_cannot_read_by_name_are_refused(tmp_path: Path, name: str, said: str) -> None:
    path = put(tmp_path / name, LINE)
    with pytest.raises(ParameterError, match=said):
        files.check_places([path], ["out"], "jsonl")
    with pytest.raises(ParameterError, match=said):
        files.check_places([f"file://{path}"], ["out"], "jsonl")


def test_awkward_values_come_back_from_csv(spark: Any, tmp_path: Path) -> None:
    values = {f"{number:02}": value for number, value in enumerate(AWKWARD)}
    made = spark.createDataFrame([(*row, "end") for row in values.items()], "id string, text string, z string")
    files.write(made, f"{tmp_path}/out", "csv", overwrite=False)
    found = files.read(spark, [f"{tmp_path}/out"], "csv")
    assert found.problems == []
    assert found.rows.columns == ["id", "text", "z"]
    assert {row["id"]: row["text"] for row in found.rows.collect()} == values
    raw = dict[str, str]()
    for part in (tmp_path / "out").glob("part-*"):
        with open(part, encoding="utf-8", newline="") as file:
            raw |= {row["id"]: row["text"] for row in csv.DictReader(file)}
    # Python's reader knows no null.
    assert raw == {name: value or "" for name, value in values.items()}


def test_records_of_csv_are_counted_and_bytes_that_are_not_utf8_noted(spark: Any, tmp_path: Path) -> None:
    first = put(tmp_path / "a b%.csv", b"id,text\n1,caf\xe9\n2,x\n3\n4,y,z\n5,\xe9,\xe9\n")
    second = put(tmp_path / "c.csv", "id,text\n6,café\n")
    found = files.read(spark, [first, second], None)
    assert [row["id"] for row in rows_of(found)] == ["1", "2", "6"]
    assert [(one.source, one.rows, one.is_note) for one in found.problems] == [(first, 3, False), (first, 0, True)]
    assert found.problems[1].reason.startswith("1 row with the character U+FFFD")
    only = files.read(spark, [put(tmp_path / "d.csv", b"id,text\n1,caf\xe9\n")], None)
    assert [one.is_note for one in only.problems] == [True]
    assert only.rows.columns == ["id", "text"]


#: Contents of CSV, and the problem of its records; the cases that Spark reads well come first.
CUT = [
    ("id,text\n1,a\n2,b\n", ""),
    ("id,text\r\n1,a\r\n2,b\r\n", ""),
    ('id,text\r\n1,"as in\nExcel\n\n""quoted"""\r\n2,b\r\n', ""),
    ("id,text\r\n1,a\r\n2,b\n", ""),
    ("id,text\r\n1,a\r\n2,b", ""),
    ("id,text\r\n\n1,a\r\n\n2,b\r\n\n", ""),
    ("id,text\r1,a\r2,b\r", ""),
    ("id,text\r1,a\r2,b\n", ""),
    ('id,text\n1,"a\r\nb"\n2,c\n', ""),
    ("id,text\n1,a\n2,b\r\n", records.MIXED),
    ("id,text\n1,a\n2,b\r\n3,c\n", records.MIXED),
    ("id,text\r\n1,a\r\n2,b\n3,c\r\n", records.MIXED),
    ("id,text\r1,a\r2,b\n3,c\n", records.MIXED),
    ('"te\nxt",id\r\na,1\r\n', records.MIXED),
    ("\nid,text\r\n1,a\r\n", records.MIXED),
    ('id,text\n1,a\n2,"b\n3,c\n', records.OPEN),
    ('id,text\n1,5" disks\n', records.OPEN),
]


def flagged(content: bytes) -> list[tuple[bool, bool, bool, bool]]:
    """Return what ``tally`` takes of each line."""
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    return [(one.count(b'"') % 2 == 1, one[-1:] == b"\r", b"\r" in one[:-1], not one) for one in lines]


def naive_problem(content: bytes) -> str:
    """Return the problem of a file, from its characters one by one."""
    cut = re.search(rb"\r\n|\r(?!\n)|\n", content)
    usual, is_open, ends, start = cut[0] if cut else b"", False, list[bytes](), 0
    for place, byte in enumerate(content):
        is_open ^= byte == ord('"')
        if byte == ord("\n") and not is_open and place > start:
            is_last = not content[place:].strip(b"\n")
            end = b"\r\n" if content[place - 1] == ord("\r") else b"\n"
            ends += [] if is_last and (usual != b"\n" or end == b"\n") else [end]
        start = place + 1 if byte == ord("\n") else start
    is_cut = usual == b"\n" and not is_open and content.endswith(b"\r")
    if is_cut or any(one != usual for one in ends):
        return records.MIXED
    return records.OPEN if is_open else ""


def judged(named: dict[str, bytes], chance: random.Random) -> dict[str, tuple[str, int]]:
    """Return problem and line of files whose lines are cut into blocks and batches by chance."""
    rows = []
    for name, content in named.items():
        start = 0
        for flags in flagged(content):
            start += chance.random() < 0.3
            rows.append((name, start, *flags))
    names = ("file", "start", "is_odd", "ends_cr", "has_cr", "is_empty")
    table = pa.table({name: [row[number] for row in rows] for number, name in enumerate(names)})
    cuts = sorted({0, len(rows), *chance.choices(range(len(rows)), k=len(rows) // 3)})
    batches = (table.slice(a, b - a).combine_chunks().to_batches()[0] for a, b in itertools.pairwise(cuts))
    blocks = list(records.tally_batches(batches))
    found = [row for batch in records.judge_batches(iter(blocks)) for row in batch.to_pylist()]
    return {row["file"]: (row["problem"], row["line"]) for row in found}


def test_records_of_csv_are_judged_alike_wherever_their_lines_are_cut() -> None:
    chance = random.Random(7)
    contents = [content.encode() for content, _problem in CUT]
    contents += [bytes(chance.choices(b'a"\r\n', k=chance.randrange(1, 12))) for _ in range(1500)]
    named = {f"{number:04}": content for number, content in enumerate(contents)}
    found = judged(named, chance)
    for name, content in named.items():
        problem, line = found.get(name, ("", 0))
        assert problem == naive_problem(content), content
        if problem == records.OPEN:
            assert line == max(number for number, flags in enumerate(flagged(content), 1) if flags[0]), content
    assert {content: found.get(f"{number:04}", ("",))[0] for number, (content, _) in enumerate(CUT)} == dict(CUT)


def test_files_of_csv_are_judged_in_blocks_and_packed(spark: Any, tmp_path: Path) -> None:
    for number, (content, _problem) in enumerate(CUT):
        put(tmp_path / f"a {number:02}.csv", content)
        put(tmp_path / f"b {number:02}.csv.gz", gzip.compress(content.encode()))
    try:
        spark.conf.set("spark.sql.files.maxPartitionBytes", 9)
        found = records.ill_cut(spark, [str(tmp_path)]).collect()
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    said = {os.path.basename(records.readable(row["file"])): row["problem"] for row in found}
    names = {f"a {number:02}.csv": problem for number, (_content, problem) in enumerate(CUT) if problem}
    assert said == {**names, **{f"b{name[1:]}.gz": problem for name, problem in names.items()}}


def test_quotes_that_stay_open_are_listed_and_several_line_ends_refused(spark: Any, tmp_path: Path) -> None:
    path = put(tmp_path / "a b.csv", b'id,text\n1,caf\xe9\n2,"b\n3,c\n')
    found = files.read(spark, [path, put(tmp_path / "x.csv", 'id,text\r\n7,"x\ny"\r\n')], None)
    assert [row["id"] for row in rows_of(found)] == ["1", "2", "7"]
    assert rows_of(found)[2]["text"] == "x\ny"
    assert [(one.source, one.is_note) for one in found.problems] == [(path, False), (path, True)]
    assert "a quote is never closed" in found.problems[0].reason
    assert "check line 3" in found.problems[0].reason
    mixed = put(tmp_path / "mixed.csv", "id,text\r\n1,a\r\n2,b\n3,c\r\n")
    with pytest.raises(ParameterError, match=r"mixed\.csv` do not all end .* would lose or change rows: write"):
        files.read(spark, [path, mixed], None)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", ""), ("a.csv", "\n\n"), ("a.jsonl", ""), ("a.jsonl", "\n"), ("a.jsonl.gz", gzip.compress(b""))],
)
def test_an_input_without_rows_has_no_rows(spark: Any, tmp_path: Path, name: str, content: str | bytes) -> None:
    path = put(tmp_path / name, content)
    found = files.read(spark, [path], None, "body", "name")
    assert (found.rows.dtypes, found.problems) == ([("name", "string"), ("body", "string")], [])
    assert rows_of(found) == []
    assert files.read(spark, [path], None).rows.columns == [], "as a ledger without rows"


@pytest.mark.parametrize("format", [None, "jsonl", "csv", "text"])
def test_an_empty_folder_has_no_rows_and_a_note(spark: Any, tmp_path: Path, format: str | None) -> None:
    found = files.read(spark, [str(tmp_path)], format, "text")
    assert (found.rows.columns, rows_of(found)) == (["id", "text"], [])
    assert [str(one) for one in found.problems] == [f"{tmp_path}: there are no files that Spark reads"]
    assert found.problems[0].is_note
    with las.dedup(found.rows) as answer:
        assert answer.summary["rows"] == 0


def test_parquet_files_with_different_columns_are_read_with_all(spark: Any, tmp_path: Path) -> None:
    path = parquet(tmp_path, a={"id": [1], "text": ["x"]}, b={"id": [2], "text": ["y"], "extra": ["precious"]})
    assert rows_of(files.read(spark, [path], None)) == [
        {"id": 1, "text": "x", "extra": None},
        {"id": 2, "text": "y", "extra": "precious"},
    ]


def test_folders_of_partitions_become_columns_beside_merged_ones(spark: Any, tmp_path: Path) -> None:
    parts = {"year=2024__a": {"id": [1], "text": ["x"]}, "year=2025__b": {"id": [2], "text": ["y"], "extra": [7]}}
    found = files.read(spark, [parquet(tmp_path, **parts)], None)
    assert found.problems == []
    assert [(row["year"], row["extra"]) for row in rows_of(found)] == [(2024, None), (2025, 7)]


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({"id": pa.array([1], pa.int32())}, {"id": pa.array([2], pa.int64())}, "`id` has type int in some and bigint"),
        ({"a": [1], "id": [1]}, {"a": [1], "id": ["x"]}, "`id` has type bigint in some and string in others"),
        ({"n": [{"x": 1, "y": 1}]}, {"n": [{"z": "1", "y": "1"}]}, "`n.y` has type bigint in some and string"),
    ],
)
def test_columns_of_several_types_are_refused_by_name(
    spark: Any, tmp_path: Path, one: dict[str, Any], other: dict[str, Any], said: str
) -> None:
    with pytest.raises(ParameterError) as told:
        files.read(spark, [parquet(tmp_path, a=one, b=other)], None)
    assert said in str(told.value)
    assert "write it with one type" in str(told.value)


def test_merging_columns_reads_no_rows(spark: Any, tmp_path: Path) -> None:
    """The rows of one file are destroyed: only the end of the file, where its columns are listed, is whole."""
    path = parquet(tmp_path, a={"id": [1], "text": ["x"]}, b={"id": [2], "extra": ["y" * 1000]})
    data = bytearray((tmp_path / "b.parquet").read_bytes())
    data[4:900] = bytes(896)
    (tmp_path / "b.parquet").write_bytes(data)
    found = files.read(spark, [path], None)
    assert sorted(found.rows.columns) == ["extra", "id", "text"]
    with pytest.raises(Exception, match=r"b\.parquet"):
        found.rows.collect()


def test_lines_of_json_that_are_no_objects_are_counted(spark: Any, tmp_path: Path) -> None:
    lines = ["[1,2]", '"abc"', "12", "", "  ", "true", "{broken"]
    path = put(tmp_path / "a b%20[1].jsonl", LINE + "\n".join(lines) + '\n{"id":2,"_corrupt_record":"mine"}\n')
    found = files.read(spark, [path], None)
    assert [row["id"] for row in rows_of(found)] == [1, 2]
    assert rows_of(found)[1]["_corrupt_record"] == "mine", "a column of the input with the name that Spark uses"
    assert [(one.source, one.rows) for one in found.problems] == [(path, 5)]
    assert "is not a JSON object" in found.problems[0].reason


def test_lines_of_json_in_single_quotes_are_left_out(spark: Any, tmp_path: Path) -> None:
    found = files.read(spark, [put(tmp_path / "a.jsonl", LINE + "{'id':2,'text':'b'}\n")], None)
    assert [row["id"] for row in rows_of(found)] == [1]
    assert [one.rows for one in found.problems] == [1]


def test_lines_that_are_null_or_an_empty_array(spark: Any, tmp_path: Path) -> None:
    good = files.read(spark, [put(tmp_path / "a.jsonl", LINE + "null\n[]\n")], None)
    assert (sorted(str(row["id"]) for row in good.rows.collect()), good.problems) == (["1", "None"], [])
    mixed = files.read(spark, [put(tmp_path / "b.jsonl", LINE + "null\n[]\n12\n")], None)
    assert ([row["id"] for row in rows_of(mixed)], [one.rows for one in mixed.problems]) == ([1], [2])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([LINE, '{"id":2,"text":"b","text":"c"}\n'], 'key `text` twice, such as in line `{"id":2,"text":"b"'),
        ([LINE, '{"id":2,"m":{"a.b*":1,"a.b*":2}}\n'], "key `a.b*` twice"),
        ([LINE, '{"id":2,"Text":"b"}\n'], "is spelled `Text` and `text`, which are one column to Spark"),
    ],
)
def test_keys_that_spark_cannot_tell_apart_are_refused(spark: Any, tmp_path: Path, lines: list[str], said: str) -> None:
    path = put(tmp_path / "a.jsonl", "".join(lines))
    with pytest.raises(ParameterError) as told:
        files.read(spark, [path], None)
    assert said in str(told.value)
    if "spelled" in said:
        try:
            spark.conf.set("spark.sql.caseSensitive", "true")
            found = rows_of(files.read(spark, [path], None))
        finally:
            spark.conf.unset("spark.sql.caseSensitive")
        assert found == [{"id": 1, "text": "a b", "Text": None}, {"id": 2, "text": None, "Text": "b"}]


def test_lines_of_json_in_other_encodings_are_counted(spark: Any, tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", LINE.encode() + '{"id":2,"text":"café"}\n'.encode("latin-1"))
    found = files.read(spark, [path], None)
    assert [row["id"] for row in rows_of(found)] == [1]
    assert [(one.source, one.rows) for one in found.problems] == [(path, 1)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mark.jsonl", b"\xef\xbb\xbf" + LINE.encode() * 2),
        ("crlf.jsonl", LINE.replace("\n", "\r\n") * 2 + "\r\n"),
        ("blank.jsonl", f"\n  \n{LINE}\t\n{LINE}\n"),
        ("packed.jsonl.gz", gzip.compress(LINE.encode() * 2)),
        ("a{x,y}?*\\.jsonl", LINE * 2),
        ("folder [1]/rows%41+#.jsonl", LINE * 2),
    ],
)
def test_json_lines_are_read_whatever_their_ends_and_names(
    spark: Any, tmp_path: Path, name: str, content: str | bytes
) -> None:
    found = files.read(spark, [put(tmp_path / name, content)], None)
    assert (rows_of(found), found.problems) == ([{"id": 1, "text": "a b"}] * 2, [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[\n1\n]\n", "no line of the inputs is a JSON object"),
        (gzip.compress(LINE.encode()), "no line of the inputs is a JSON object"),
        (LINE.strip() * 2, "several JSON values"),
    ],
)
def test_files_that_are_no_json_lines_are_refused(spark: Any, tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        files.read(spark, [put(tmp_path / "a.jsonl", content)], None)
    put(tmp_path / "divided" / "year=2024" / "a.jsonl", content)
    with pytest.raises(ParameterError, match=said):
        files.read(spark, [f"{tmp_path}/divided"], "jsonl")


def test_lines_with_something_behind_their_object_are_listed(spark: Any, tmp_path: Path) -> None:
    tails = [" garbage", "}", ",", "]", ' "id": 4, "text": "lost"}', ' {"id": 5, "text": "lost"}', " // comment"]
    whole = LINE * 30
    put(tmp_path / "rows" / "a.jsonl", whole + "".join(f"{LINE.strip()}{tail}\n" for tail in tails) + whole)
    put(tmp_path / "rows" / "b.jsonl", whole + '{"id":2,"text":"} {\\ud83d [] "}  \t\r\n{}\n[]\nnull\n' + whole)
    put(tmp_path / "rows" / "c.jsonl.gz", gzip.compress((whole + "[] x\nnull x\n").encode()))
    found = files.read(spark, [str(tmp_path / "rows")], None)
    assert [(Path(one.source).name, one.is_note, one.reason.split(" Spark reads ")) for one in found.problems] == [
        ("a.jsonl", False, [f"of 7 lines, such as one that ends in `{LINE.strip()}{tails[4]}`,", ANEW]),
        ("c.jsonl.gz", False, ["of 2 lines, such as one that ends in `[] x`,", ANEW]),
    ]
    assert found.rows.where("text = 'a b'").count() == 5 * 30 + len(tails)


def test_numbers_that_are_no_json_are_numbers_to_spark(spark: Any, tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", '{"id":1,"text":"a","score":NaN}\n{"id":2,"text":"b","score":Infinity}\n' + LINE)
    found = files.read(spark, [path], None)
    assert found.problems == []
    assert {row["text"]: str(row["score"]) for row in rows_of(found)} == {"a": "nan", "b": "inf", "a b": "None"}


def test_a_file_that_is_cut_short_is_told_with_the_reason(spark: Any, tmp_path: Path) -> None:
    packed = gzip.compress("".join(f'{{"id":{at},"text":"{at * at}"}}\n' for at in range(5000)).encode())
    path = put(tmp_path / "cut.jsonl.gz", packed[: len(packed) // 2])
    with pytest.raises(Exception, match="FAILED_READ_FILE") as raised:
        files.read(spark, [path], None)
    kind, said = sessions._condition(raised.value)
    assert kind == "FAILED_READ_FILE"
    assert said == f"Encountered error while reading file file://{path} (Unexpected end of input stream)"


def test_braces_inside_of_a_text_are_no_second_value(spark: Any, tmp_path: Path) -> None:
    text = 'if (x) {} {"y"} '
    found = files.read(spark, [put(tmp_path / "a.jsonl", json.dumps({"id": 1, "text": text}))], None)
    assert rows_of(found) == [{"id": 1, "text": text}]


def test_a_file_of_text_has_its_path_as_id(spark: Any, tmp_path: Path) -> None:
    names = {"a b+c%41#ä.txt": b"\xef\xbb\xbfone\r\n", "b[1].txt": b"caf\xe9"}
    paths = [put(tmp_path / name, content) for name, content in names.items()]
    found = files.read(spark, paths, None)
    assert rows_of(found) == [{"id": paths[0], "text": "one\r\n"}, {"id": paths[1], "text": "caf\ufffd"}]
    assert found.rows.selectExpr("every(is_valid_utf8(text))").head()[0]


@pytest.mark.parametrize("below", ["old/b.jsonl", "year=2024/b.jsonl"])
def test_files_in_folders_that_spark_does_not_read_are_told(spark: Any, tmp_path: Path, below: str) -> None:
    put(tmp_path / "a.jsonl", LINE)
    put(tmp_path / below, LINE)
    found = files.read(spark, [str(tmp_path)], "jsonl")
    assert len(rows_of(found)) == 1
    assert [one.reason.partition(":")[0] for one in found.problems] == ["1 file below the inputs left out"]
    assert files.read(spark, [f"{tmp_path}/a.jsonl", f"{tmp_path / below}"], None).problems == []


def test_an_output_with_special_characters_is_found_and_read(spark: Any, tmp_path: Path) -> None:
    out = f"{tmp_path}/out [1]"
    files.check_new(spark, [out])
    rows = files.read(spark, [put(tmp_path / "a.jsonl", LINE)], None).rows
    files.write(las.simhash(rows), out, "jsonl", overwrite=False)
    with pytest.raises(FileExistsError, match="exists already"):
        files.check_new(spark, [out])
    assert [row["id"] for row in rows_of(files.read(spark, [out], "jsonl"))] == [1]


def test_outputs_have_the_format_of_their_suffix(spark: Any, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, "a"), (2, None)], "id bigint, text string")
    for name, kind in (("a.csv", "csv"), ("b.jsonl.gz", "jsonl"), ("c.parquet", "parquet"), ("d", "jsonl")):
        out = str(tmp_path / name)
        files.write(rows, out, "jsonl", overwrite=False)
        found = files.read(spark, [out], None)
        assert found.format == kind
        assert sorted(tuple(row) for row in found.rows.select("id", "text").collect()) in (
            [(1, "a"), (2, None)],
            [("1", "a"), ("2", None)],
        )
    assert list((tmp_path / "b.jsonl.gz").glob("*.gz"))
    for name in ("x.txt", "x.jsonl.zst", "x.parquet.gz", "x.tsv"):
        with pytest.raises(ParameterError, match="has a suffix that engine spark does not write"):
            files.check_places(["in"], [name], None)


def test_files_of_one_suffix_in_a_folder_tell_its_format(spark: Any, tmp_path: Path) -> None:
    put(tmp_path / "one" / "a.jsonl", LINE)
    put(tmp_path / "one" / "README", "not a corpus")
    put(tmp_path / "two" / "a.jsonl", LINE)
    put(tmp_path / "two" / "b.csv", "id,text\n1,a\n")
    assert files.read(spark, [str(tmp_path / "one")], None).format == "jsonl"
    with pytest.raises(ParameterError, match=r"hold files of several formats \(csv, jsonl\): name one with --format"):
        files.read(spark, [str(tmp_path / "two")], None)


def test_empty_files_of_text_are_told(spark: Any, tmp_path: Path) -> None:
    put(tmp_path / "in" / "a b%.txt", "one two")
    put(tmp_path / "in" / "empty.txt", "")
    found = files.read(spark, [str(tmp_path / "in")], None)
    assert [row["id"] for row in found.rows.collect()] == [str(tmp_path / "in" / "a b%.txt")]
    assert [(one.source, one.rows) for one in found.problems] == [(str(tmp_path / "in" / "empty.txt"), 1)]


def test_places_that_cannot_be_written_are_refused_and_others_left_as_they_were(spark: Any, tmp_path: Path) -> None:
    file = put(tmp_path / "file", "x")
    there = put(tmp_path / "out" / "part-0", "x")
    writable = [f"{tmp_path}/new/a/b", f"file://{tmp_path}/new", f"{tmp_path}/out", "hdfs://none/x", "table:x"]
    files.check_writable(spark, writable)
    assert sorted(os.listdir(tmp_path)) == ["file", "out"]
    assert os.listdir(tmp_path / "out") == [os.path.basename(there)]
    for out, said in ((f"{file}/out", "Not a directory"), (f"file:{tmp_path}/{'n' * 300}/x", "File name too long")):
        with pytest.raises(WriteError) as told:
            files.check_writable(spark, [out])
        assert f"`{out}` cannot be written: {said}" in str(told.value)
    assert sorted(os.listdir(tmp_path)) == ["file", "out"]


def test_an_output_that_holds_the_files_of_a_table_is_not_replaced(spark: Any, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, "a")], "id bigint, text string")
    rows.write.option("path", str(tmp_path / "stored")).saveAsTable("lookalike_stored")
    (tmp_path / "above").symlink_to(tmp_path)
    rows.write.option("path", str(tmp_path / "above" / "linked")).saveAsTable("lookalike_linked")
    try:
        linked = files.read(spark, ["table:lookalike_linked"], None).rows
        for out in (f"{tmp_path}/above/linked", f"{tmp_path}/linked"):
            with pytest.raises(ParameterError, match="cannot be replaced, an input is read from it"):
                files.check_overwritten(spark, [linked], [out])
        table = files.read(spark, ["table:lookalike_stored"], None).rows
        for out in (str(tmp_path / "stored"), str(tmp_path), "table:lookalike_stored"):
            with pytest.raises(ParameterError, match="cannot be replaced, an input is read from it"):
                files.check_overwritten(spark, [table], [out])
        (tmp_path / "link").symlink_to(tmp_path / "stored")
        for out in (f"{tmp_path}/link", f"file:{tmp_path}/link"):
            with pytest.raises(ParameterError, match="cannot be replaced, an input is read from it"):
                files.check_overwritten(spark, [table], [out])
        files.check_overwritten(spark, [table], [str(tmp_path / "other"), "table:none"])
    finally:
        spark.sql("drop table lookalike_stored")
        spark.sql("drop table lookalike_linked")
