"""The report as a folder: what is in it, that it is whole or not there, and that nothing of a stranger's gets loose."""

from __future__ import annotations

import ast
import csv
import json
import re
import subprocess
import sys
import zlib
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lookalike import ParameterError, params
from lookalike.comparison.result import Entry, File, Remark, Report
from lookalike.rendering import comparison_tables
from lookalike.rendering.html.folder import Extent, Written, write
from lookalike.rendering.html.frame import TEMPLATES, data_block, read_as, thresholds
from lookalike.rendering.html.panes import pane
from lookalike.rendering.terminal import comparison
from lookalike.rendering.wording import decimal, percent
from support import reports
from support.reports import Size, school

SMALL = Size(entries=8, methods=2, pairs=5, passages=2)
HOSTILE = (
    "<script>top.ran=1</script>",
    "</script><script>top.ran=1</script>",
    '"><img src=x onerror="top.ran=1">',
    "'><svg onload=top.ran=1>",
    "{{ 7*7 }}{% raw %}",
    "javascript:top.ran=1",
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe",
    "line\nfeed\ttab\x1b[31m\x00",
    "\u2028\u2029</title>",
    "bytes\udcff\udc80",
    "../../etc/passwd",
)


def put(report: Report, out: Path, **options) -> Written:
    sizes = {name: options.pop(name) for name in ("top", "max_passages", "max_size") if name in options}
    return write(report, out, Extent.new(**sizes), marks=reports.coloured(report), **options)


def every_file(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def hostile() -> Report:
    """A report in which every field that a stranger can fill is an attack."""
    report = school(SMALL)
    entries = tuple(_hostile(entry, HOSTILE[i % len(HOSTILE)]) for i, entry in enumerate(report.entries))
    remarks = tuple(Remark(attack, attack) for attack in HOSTILE)
    parameters = {**report.parameters, "template": list(HOSTILE), HOSTILE[2]: HOSTILE[0], "title": HOSTILE[1]}
    parameters["thresholds"] = {attack: [i, 38] for i, attack in enumerate(HOSTILE)}
    return replace(report, entries=entries, parameters=parameters, undefined=remarks, skipped=remarks, warnings=remarks)


def _hostile(entry: Entry, attack: str) -> Entry:
    text = "\n".join(HOSTILE) + entry.files[0].text[sum(map(len, HOSTILE)) + len(HOSTILE) - 1 :]
    file = replace(entry.files[0], name=attack, language=attack, format=attack, notes=(attack,), text=text)
    return replace(entry, name=attack + entry.name, files=(file,), person=attack, label=attack, time=attack)


def test_a_report_holds_the_files_that_are_promised(tmp_path: Path):
    report = school(SMALL)
    written = put(report, tmp_path / "out")
    pages = [f"pairs/{i:03}.html" for i in range(1, 6)]
    files = every_file(tmp_path / "out")
    tables = ["clusters.csv", "pairs.csv", "passages.csv", "sections.csv"]
    assert sorted(files) == sorted([*tables, *pages, "report.html", "report.json"])
    assert (written.pages, written.left_out, written.secrets) == (5, (), ())
    assert written.bytes == sum(map(len, files.values()))
    assert written.overview == tmp_path / "out" / "report.html"


def test_the_same_report_gives_the_same_bytes(tmp_path: Path):
    put(school(SMALL), tmp_path / "a")
    put(school(SMALL), tmp_path / "other name")
    assert every_file(tmp_path / "a") == every_file(tmp_path / "other name")


def test_tables_are_read_back_as_they_were_found(tmp_path: Path):
    report = school(SMALL)
    put(report, tmp_path / "out")
    with (tmp_path / "out" / "pairs.csv").open(newline="", encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))
    with (tmp_path / "out" / "passages.csv").open(newline="", encoding="utf-8") as file:
        passages = list(csv.DictReader(file))
    assert [(row["left"], row["right"], float(row["score"])) for row in pairs] == [
        (report.entries[pair.left].name, report.entries[pair.right].name, pair.score) for pair in report.pairs
    ]
    assert [(int(row["left_start_line"]), int(row["right_end_line"]), int(row["tokens"])) for row in passages] == [
        (passage.left.start_line, passage.right.end_line, passage.tokens)
        for pair in report.pairs
        for passage in pair.passages
    ]
    clusters = (tmp_path / "out" / "clusters.csv").read_text("utf-8").split()
    assert clusters[0] == "name,cluster,representative"
    assert len(clusters) == 1 + sum(len(cluster.members) for cluster in report.clusters)


def test_json_holds_everything_but_the_texts():
    report = school(SMALL)
    data = json.loads(
        comparison_tables.report_json(report, {(report.pairs[0].left, report.pairs[0].right): "pairs/001.html"})
    )
    assert (data["kind"], data["schema_version"], data["version"]) == ("lookalike report", 1, report.version)
    assert data["parameters"] == report.parameters
    assert [entry["digest"] for entry in data["entries"]] == [entry.digest for entry in report.entries]
    assert [pair["page"] for pair in data["pairs"]] == ["pairs/001.html", None, None, None, None]
    first = dict(zip(data["passage_fields"], data["pairs"][0]["passages"][0], strict=True))
    passage = report.pairs[0].passages[0]
    assert (first["left_start"], first["right_end"], first["exact"], first["sort"]) == (
        passage.left.start,
        passage.right.end,
        passage.exact,
        "run",
    )
    assert "System.out" not in json.dumps(data)


def test_names_of_any_bytes_come_through(tmp_path: Path):
    report = hostile()
    put(report, tmp_path / "out")
    data = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [entry["name"] for entry in data["entries"]] == [entry.name for entry in report.entries]
    for name, content in every_file(tmp_path / "out").items():
        assert content.decode("utf-8"), name


def test_no_cell_is_a_formula(tmp_path: Path):
    put(hostile(), tmp_path / "out")
    for name in ("pairs.csv", "passages.csv", "sections.csv", "clusters.csv"):
        with (tmp_path / "out" / name).open(newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if re.match(r"[=+\-@\t\r\0]", cell)], name
    assert comparison_tables.cell("=1+1") == "'=1+1"
    assert comparison_tables.cell('a"b,c') == '"a""b,c"'


class Elements(HTMLParser):
    """The elements of a page and the names of all attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}


def test_no_markup_of_a_stranger_is_an_element(tmp_path: Path):
    put(hostile(), tmp_path / "hostile")
    put(school(SMALL), tmp_path / "good")
    for name, content in every_file(tmp_path / "hostile").items():
        if name.endswith(".html"):
            page = content.decode()
            found, usual = Elements(page), Elements((tmp_path / "good" / name).read_text("utf-8"))
            assert set(found.names) <= {*usual.names, "p", "i", "ul"}, name
            assert found.names.count("script") == usual.names.count("script"), name
            assert not [one for one in found.attributes if one.startswith("on") or one in ("style", "src")], name
            assert not re.search("[\u202a-\u202e\u2066-\u2069\u2028\u2029\x00-\x08\x0b-\x1f]", page), name


def test_no_page_names_another_host(tmp_path: Path):
    put(school(SMALL), tmp_path / "out")
    for name, content in every_file(tmp_path / "out").items():
        hosts = set(re.findall(rb"[a-z]+://[^\s\"'<]+", content))
        assert hosts <= {b"http://www.w3.org/2000/svg", b"http://www.w3.org/1999/xhtml"}, name
        assert str(tmp_path).encode() not in content


@pytest.mark.parametrize("name", ["report.html", "pairs/001.html"])
def test_the_policy_allows_exactly_our_style_and_script(tmp_path: Path, name: str):
    put(school(SMALL), tmp_path / "out")
    page = (tmp_path / "out" / name).read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        inlined = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        hash_ = b64encode(sha256(inlined[0].encode()).digest()).decode()
        assert len(inlined) == 1
        assert f"{directive} &#39;sha256-{hash_}&#39;;" in policy[1]
        assert len(inlined[0]) < 45_000
    assert "default-src &#39;none&#39;" in policy[1]


def test_data_for_scripts_cannot_end_the_element():
    block = data_block(list(HOSTILE))
    assert not set("<>&\u2028\u2029") & set(block)
    assert json.loads(block) == list(HOSTILE)


def test_an_existing_folder_is_not_touched(tmp_path: Path):
    put(school(SMALL), tmp_path / "out")
    before = every_file(tmp_path / "out")
    with pytest.raises(ParameterError, match="exists: use another folder, or overwrite=True to replace it"):
        put(school(SMALL, seed=2), tmp_path / "out")
    assert every_file(tmp_path / "out") == before


def test_overwrite_replaces_a_report_and_leaves_nothing_of_it(tmp_path: Path):
    put(school(SMALL), tmp_path / "out")
    put(reports.nothing_found(), tmp_path / "out", overwrite=True)
    put(reports.nothing_found(), tmp_path / "new")
    assert every_file(tmp_path / "out") == every_file(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "out"]


@pytest.mark.parametrize("content", [None, "{}", '{"schema_version": 1}'])
def test_overwrite_never_replaces_what_is_no_report(tmp_path: Path, content: str | None):
    out = tmp_path / "thesis"
    out.mkdir()
    (out / ("report.json" if content else "chapter.tex")).write_text(content or "years of work")
    before = every_file(out)
    with pytest.raises(ParameterError, match="is not a report of lookalike: use another folder"):
        put(school(SMALL), out, overwrite=True)
    assert every_file(out) == before


def test_a_link_is_not_followed_to_be_replaced(tmp_path: Path):
    put(school(SMALL), tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ParameterError, match="is not a report of lookalike"):
        put(school(SMALL), tmp_path / "link", overwrite=True)


def test_an_empty_folder_is_filled(tmp_path: Path):
    (tmp_path / "out").mkdir()
    assert put(school(SMALL), tmp_path / "out").pages == 5


@pytest.mark.parametrize("fault", [KeyboardInterrupt, OSError("no space left on device")])
@pytest.mark.parametrize("after", [0, 1, 7])
def test_an_interrupt_leaves_nothing(tmp_path: Path, fault: BaseException, after: int):
    report, calls = school(SMALL), []

    def marks(entry: int, file: int) -> bytes:
        calls.append(entry)
        if len(calls) > after:
            raise fault
        return b""

    with pytest.raises((KeyboardInterrupt, OSError)):
        write(report, tmp_path / "out", marks=marks)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_while_replacing_keeps_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    put(school(SMALL), tmp_path / "out")
    before, rename = every_file(tmp_path / "out"), Path.rename

    def interrupted(self: Path, target: Path) -> Path:
        if self.name == "report":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put(school(SMALL, seed=2), tmp_path / "out", overwrite=True)
    assert every_file(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_as_many_pages_as_asked_and_one_that_opens_the_rest(tmp_path: Path):
    written = put(school(SMALL), tmp_path / "out", top=3)
    assert (written.pages, written.left_out) == (3, ())
    files = sorted(path.name for path in (tmp_path / "out" / "pairs").iterdir())
    assert files == ["001.html", "002.html", "003.html", "more.html"]
    data = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [pair["page"] for pair in data["pairs"]] == [
        *(f"pairs/00{i}.html" for i in (1, 2, 3)),
        *(f"pairs/more.html#{i}" for i in (4, 5)),
    ]
    assert put(school(SMALL), tmp_path / "all", top=0).pages == 5
    assert not (tmp_path / "all" / "pairs" / "more.html").exists()


def test_the_page_of_the_rest_has_each_text_once(tmp_path: Path):
    report = school(Size(entries=6, methods=4, pairs=15, passages=1))
    put(report, tmp_path / "out", top=1)
    page = (tmp_path / "out" / "pairs" / "more.html").read_text("utf-8")
    packed = json.loads(page.split('id="packed">')[1].split("</script>")[0])
    assert sorted(packed["texts"]) == [f"{i}.0" for i in range(6)]
    assert packed["first"] == 2
    assert len(packed["pairs"]) == 1
    for key, text in packed["texts"].items():
        painted = zlib.decompress(b64decode(text)).decode()
        file = report.entries[int(key[0])].files[0]
        assert painted == pane(file.text, reports.marks(file.text), [])


def test_every_listed_pair_of_every_list_has_a_page(tmp_path: Path):
    report = school(SMALL)
    apart = replace(report, pairs=report.pairs[:2], contained=report.pairs[1:4], little=report.pairs[4:], pair_count=2)
    put(replace(apart, contained_count=3, little_count=1), tmp_path / "out", top=2)
    data = json.loads((tmp_path / "out" / "report.json").read_bytes())
    pages = [[pair["page"] for pair in data[name]] for name in ("pairs", "contained", "little")]
    assert pages == [
        ["pairs/001.html", "pairs/002.html"],
        ["pairs/002.html", "pairs/more.html#3", "pairs/more.html#4"],
        ["pairs/more.html#5"],
    ]


def test_pages_stop_when_the_folder_is_full(tmp_path: Path):
    written = put(school(SMALL), tmp_path / "out", max_size=110_000)
    last = tmp_path / "out" / "pairs" / f"{written.pages:03}.html"
    assert 0 < written.pages < 5
    assert written.left_out == (
        f"pair pages: the first {written.pages} of 5 pairs can be opened, at most 110,000 bytes; "
        "--max-size 0 writes all",
    )
    assert written.left_out[0] in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert 'rel="next"' not in last.read_text("utf-8")
    assert sorted(path.name for path in last.parent.iterdir())[-1] == last.name


def test_the_page_of_the_rest_is_cut_where_the_folder_is_full(tmp_path: Path):
    report = school(Size(entries=40, methods=4, pairs=60, passages=2))
    whole = put(report, tmp_path / "whole", top=1)
    size = sum(path.stat().st_size for path in (tmp_path / "whole" / "pairs").iterdir())
    written = put(report, tmp_path / "out", top=1, max_size=size - 1)
    data = json.loads((tmp_path / "out" / "report.json").read_bytes())
    opened = sum(pair["page"] is not None for pair in data["pairs"])
    assert whole.left_out == ()
    assert 1 < opened < 60
    assert written.left_out[0].startswith(f"pair pages: the first {opened} of 60 pairs can be opened")
    assert sum(path.stat().st_size for path in (tmp_path / "out" / "pairs").iterdir()) < size


@pytest.mark.parametrize(
    ("pages_that_fit", "spare", "expected"), [(5, 0, 5), (5, -1, 5), (4, 1, 5), (4, 0, 4), (4, -1, 4), (1, 0, 1)]
)
def test_the_page_that_fills_the_folder_is_the_last_and_the_last_is_never_left_out(
    tmp_path: Path, pages_that_fit: int, spare: int, expected: int
):
    put(school(SMALL), tmp_path / "all")
    sizes = [path.stat().st_size for path in sorted((tmp_path / "all" / "pairs").iterdir())]
    assert len(sizes) == 5
    written = put(school(SMALL), tmp_path / "out", max_size=sum(sizes[:pages_that_fit]) + spare)
    assert (written.pages, len(written.left_out)) == (expected, int(expected < 5))
    assert len(list((tmp_path / "out" / "pairs").iterdir())) == expected


def test_all_pages_means_all_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(params, "PAGE_BYTES", 110_000)
    assert put(school(SMALL), tmp_path / "some").pages < 5
    assert put(school(SMALL), tmp_path / "all", top=0).left_out == ()
    assert put(school(SMALL), tmp_path / "limited", top=0, max_size=110_000).pages < 5
    assert put(school(SMALL), tmp_path / "any", max_size=0).pages == 5


def test_passages_beyond_the_cap_are_told(tmp_path: Path):
    written = put(school(SMALL), tmp_path / "out", max_passages=5)
    assert put(school(SMALL), tmp_path / "all", max_passages=0).left_out == ()
    data = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [pair["passages"] is None for pair in data["pairs"]] == [False, False, True, True, True]
    assert [pair["passage_count"] for pair in data["pairs"]] == [2] * 5
    assert len((tmp_path / "out" / "passages.csv").read_bytes().split(b"\r\n")) == 1 + 4 + 1
    assert written.left_out == (
        "passages: the tables have those of the first 2 of 5 pairs, at most 5 passages; --max-passages 0 writes all",
    )


def test_pairs_beyond_the_table_are_counted(tmp_path: Path):
    report = replace(school(SMALL), pair_count=12_345)
    assert put(report, tmp_path / "out").left_out == (
        "pairs: the best 5 of 12,345 are listed; --max-pairs 0 lists all",
    )


def test_ten_thousand_pairs_make_a_small_overview(tmp_path: Path):
    put(reports.many_pairs(10_000), tmp_path / "out", top=1)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert len(page) < 1_500_000
    assert page.count("<tr>") < 120
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert len(data["pairs"]) == 10_000


def test_a_thousand_submissions_stay_below_fifty_megabytes(tmp_path: Path):
    written = put(school(Size(entries=1000, methods=5, pairs=2000, passages=4)), tmp_path / "out")
    assert (written.pages, written.left_out) == (250, ())
    assert written.bytes < 50_000_000


def test_nothing_found_says_what_was_done(tmp_path: Path):
    put(reports.nothing_found(12), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "No pair reaches the cut-off of 0.30" in page
    assert "23 tokens shown (k), 38 always found (t) for java" in page
    assert "12 submissions" in page
    assert "core.bin" in page


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (File("a", "java", "", 0), "java"),
        (File("a", "text", "", 0), "text"),
        (File("a", "text", "", 0, format="pdf"), "PDF"),
        (File("a", "text", "", 0, format="docx"), "Word"),
        (File("a", "text+python", "", 0, format="notebook"), "notebook, python"),
    ],
)
def test_a_file_is_named_by_what_it_was_read_from(file: File, said: str):
    assert read_as(file) == said


def test_the_title_stands_on_every_page(tmp_path: Path):
    report = school(SMALL)
    titled = replace(report, parameters={**report.parameters, "title": "Homework <4>"})
    put(titled, tmp_path / "out")
    overview = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<h1>Homework &lt;4&gt;</h1>" in overview
    assert "<title>Homework &lt;4&gt; &ndash; lookalike</title>" in overview
    for page in (tmp_path / "out" / "pairs").iterdir():
        assert page.read_text("utf-8").count("Homework &lt;4&gt;") == 2
    put(report, tmp_path / "untitled")
    assert "<h1>Comparison of 8 submissions</h1>" in (tmp_path / "untitled" / "report.html").read_text("utf-8")


def test_languages_with_the_same_thresholds_are_told_together():
    report = school(SMALL)
    met = {"c": [8, 12], "java": [8, 12], "text": [20, 30]}
    told = thresholds(replace(report, parameters={**report.parameters, "thresholds": met}))
    assert told == (
        "8 tokens shown (k), 12 always found (t) for c and java; 20 letters shown (k), 30 always found (t) for text"
    )


def test_a_page_says_when_each_was_handed_in(tmp_path: Path):
    report = school(SMALL)
    put(report, tmp_path / "out")
    page = (tmp_path / "out" / "pairs" / "001.html").read_text("utf-8")
    for end in (report.pairs[0].left, report.pairs[0].right):
        entry = report.entries[end]
        assert entry.time
        assert f"handed in {entry.time.replace('T', ' ')}; {entry.label}</b>" in page


def test_what_a_renamed_token_counts_is_told_as_it_is():
    """The number stands in the core; a page that names another would be wrong."""
    core = (Path(__file__).parents[2] / "crates" / "core" / "src" / "matching" / "score.rs").read_text("utf-8")
    renamed = re.search(r"const RENAMED: u64 = (\d+);", core)
    assert renamed
    assert f"counts {int(renamed[1]) // 10}&nbsp;%" in (TEMPLATES / "score.html").read_text("utf-8")


def test_columns_stand_under_each_other_whatever_the_script(capsys: pytest.CaptureFixture[str]):
    report = school(SMALL)
    names = ("王小明", "Zoe\u0308", "a" * 90, "plain")
    entries = tuple(replace(entry, name=names[i % 4]) for i, entry in enumerate(report.entries))
    comparison.print_table(replace(report, entries=entries))
    rows = [line for line in capsys.readouterr().out.splitlines() if re.match(r" ?0\.\d\d |score", line.strip())]
    shown = [row.replace("王小明", "xxxxxx").replace("\u0308", "") for row in rows]
    assert len(rows) == 1 + len(report.pairs)
    assert {len(row) for row in shown} == {len(shown[0])}
    assert max(map(len, shown)) > 90


def test_a_plain_comparison_loads_only_what_it_needs(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("def area(width, height):\n    return width * height\n" * 3)
    code = (
        "import sys\nfrom lookalike.cli.main import main\nsys.argv[1:] = ['compare', '.', '--out', 'out']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = set(ast.literal_eval(done.stderr))
    assert "lookalike.rendering.html.pair_page" in loaded
    unneeded = {"rich", "logging", "numpy", "pygments", "pypdfium2", "selectolax", "xml", "zipfile"}
    assert not loaded & {*unneeded, "lookalike.rendering.anonymous", "lookalike.frontends.syntax"}


def test_only_nothing_is_none_and_only_all_of_it_is_a_hundred_per_cent():
    assert [percent(share) for share in (0, 0.004, 0.5, 0.9999, 1)] == ["0 %", "1 %", "50 %", "99 %", "100 %"]
    assert [decimal(score) for score in (0, 0.004, 0.125, 0.9999, 1)] == ["0.00", "0.01", "0.13", "0.99", "1.00"]


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_ink_is_legible_on_every_ground(scheme: int):
    blocks = re.findall(r":root \{(.*?)\}", (TEMPLATES / "look.css").read_text("utf-8"), re.DOTALL)
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", blocks[scheme]))
    passages = [colours[f"c{i}"] for i in range(8)]
    grounds = {"ink": passages, "keyword": passages, "literal": passages, "comment": passages, "odd": passages}
    plain = [colours["ground"], colours["card"]]
    pairs = [(name, ground) for name, own in grounds.items() for ground in own + plain]
    pairs += [(name, ground) for name in ("soft", "link", "grey") for ground in plain]
    pairs += [("link", colours["warm"]), ("ink", colours["warm"])]
    pairs += [(f"i{i}", colours["card"]) for i in range(8)]
    for name, ground in pairs:
        light, dark = sorted((luminance(colours[name]), luminance(ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{name} {colours[name]} on {ground}"


def test_pages_have_no_backquotes(tmp_path: Path):
    """Messages quote values in backquotes; pages show quotation marks instead."""
    report = school(SMALL)
    remarks = (Remark("a.py", "not included by `*.py`, `*.c`: 3 files not read"), Remark("b.py", "odd ` one"))
    files = tuple(replace(file, notes=("degraded: `x` is unknown",)) for file in report.entries[0].files)
    entries = (replace(report.entries[0], files=files), *report.entries[1:])
    changed = replace(report, entries=entries, skipped=remarks, understood="each folder in `class` is a submission")
    put(changed, tmp_path / "out", top=1)
    pages = [(tmp_path / "out" / name).read_text("utf-8") for name in ("report.html", "pairs/001.html")]
    shown = [page.split("<script>")[0] for page in pages]
    assert "not included by “*.py”, “*.c”: 3 files not read" in shown[0]
    assert "each folder in “class” is a submission" in shown[0]
    assert shown[0].count("`") == 1
    assert "`" not in shown[1]
    assert all("degraded: “x” is unknown" in page.replace("\\u201c", "“").replace("\\u201d", "”") for page in shown)
