"""Files that commands read from and write to with `--engine spark`: what is refused, what comes back, what is told."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike.spark as las
from lookalike.errors import ParameterError
from lookalike.spark import files

LINE = '{"id":1,"text":"a b"}\n'
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


def test_a_csv_file_without_a_header_line_has_no_columns(spark: Any, tmp_path: Path) -> None:
    assert files.read(spark, [put(tmp_path / "a.csv", "")], None).rows.columns == []


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


def test_an_output_that_holds_the_files_of_a_table_is_not_replaced(spark: Any, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, "a")], "id bigint, text string")
    rows.write.option("path", str(tmp_path / "stored")).saveAsTable("lookalike_stored")
    try:
        table = files.read(spark, ["table:lookalike_stored"], None).rows
        for out in (str(tmp_path / "stored"), str(tmp_path), "table:lookalike_stored"):
            with pytest.raises(ParameterError, match="cannot be replaced, an input is read from it"):
                files.check_overwritten(spark, [table], [out])
        files.check_overwritten(spark, [table], [str(tmp_path / "other"), "table:none"])
    finally:
        spark.sql("drop table lookalike_stored")
