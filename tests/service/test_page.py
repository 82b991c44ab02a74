"""The page of the service in Chromium: every control, names and contents that try to run, and other sites."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import lookalike as la
from lookalike import params
from lookalike.frontends import LANGUAGES
from support.browser import CHROMIUM, PATIENCE_MS, assert_becomes, browser, widest
from support.comparisons import ALL, Gate, has_ended
from support.pages import Answer, served
from support.servers import Server, serving
from support.submissions import statements, wrapped

MATERIAL = Path(la.__file__).parent / "demo" / "material"
ATTACK = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>'
#: Names of files that are markup, and one that turns the direction of what follows.
EVIL = "<img src=x onerror=document.title=`owned`>\u202e.txt"

__all__ = ["browser"]
assert CHROMIUM


def notices() -> list[tuple[str, str]]:
    rows = [json.loads(line) for line in (MATERIAL / "notices.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row["id"], row["text"]) for row in rows]


LONG = " ".join(text for _, text in notices()[:12])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("page")
    with la.Index.create(folder / "years", kind="class") as index:
        index.add(str(MATERIAL / "class"), template=[MATERIAL / "starter"], label="2025")
    with la.Index.create(folder / "news", kind="corpus") as index:
        index.add([*notices(), ("long/one", LONG), (ATTACK, f"{LONG} {ATTACK}")])
    with la.Index.create(folder / "bare", kind="corpus", no_texts=True) as index:
        index.add(notices()[:3])
    with serving(folder / "years", folder / "news", folder / "bare", data=folder / "data") as running:
        yield running


class Visit:
    """A tab on the page, with everything noted that must not happen in it."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address = address
        self.context = browser.new_context(reduced_motion="reduce", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.faults: list[str] = []
        #: Words of faults that a test provokes.
        self.provoked: tuple[str, ...] = ()
        self.page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.context.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "about:")):
            self.faults.append(f"request: {request.url}")

    def open(self, part: str = "") -> Any:
        self.page.goto(f"{self.address}/#{part}")
        return self.page

    def close(self) -> None:
        assert self.page.title() == "lookalike", "a document ran"
        self.context.close()
        assert not [one for one in self.faults if not any(words in one for words in self.provoked)]


@pytest.fixture
def visit(browser: Any, server: Server) -> Iterator[Visit]:
    made = Visit(browser, server.address)
    yield made
    made.close()


def refusal(page: Any, selector: str) -> str:
    """Wait until an outcome says that something is wrong, and return what it says."""
    page.wait_for_selector(f"{selector} > .fault")
    return str(page.inner_text(selector))


def ask(page: Any, index: str, text: str) -> None:
    page.wait_for_selector(f"#ask option[value={index}]", state="attached")
    page.select_option("#ask [name=index]", index)
    page.fill("#ask [name=text]", text)
    page.click("#ask [name=go]")
    page.wait_for_selector("#ask .card")


def test_a_zip_archive_becomes_a_report(visit: Visit, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for path in sorted((MATERIAL / "class").rglob("*.py")):
            archive.write(path, path.relative_to(MATERIAL / "class"))
    page = visit.open()
    page.set_input_files("#compare [name=files]", tmp_path / "class.zip")
    assert "1 file" in page.inner_text("#compare .chosen")
    page.fill("#compare [name=title]", f"Loans {ATTACK}")
    page.click("#compare summary")
    page.select_option("#compare [name=language]", "python")
    page.fill("#compare [name=max_sharing]", "5")
    page.check("#compare [name=comments]")
    page.check("#compare [name=anonymise]")
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    with visit.context.expect_page() as opened:
        page.click("#compare a.open")
    report = opened.value
    report.wait_for_selector("#table tr[data-i]")
    assert "Loans <img" in report.title()
    assert report.evaluate("window.opener") is None
    report.close()


def test_files_starter_code_and_an_archive_are_compared(visit: Visit, tmp_path: Path):
    for name, source in (("diaz", "weber"), ("eve", "petrova")):
        (tmp_path / "hw" / name).mkdir(parents=True)
        (tmp_path / "hw" / name / "loans.py").write_bytes((MATERIAL / "class" / source / "loans.py").read_bytes())
    page = visit.open("compare")
    page.set_input_files("#compare [name=folder]", tmp_path / "hw")
    assert "2 files" in page.inner_text("#compare .chosen")
    page.set_input_files("#compare [name=templates]", MATERIAL / "starter" / "python" / "loans.py")
    page.check("#compare fieldset input[value=years]")
    page.click("#compare summary")
    page.fill("#compare [name=min_score]", "0.3")
    page.select_option("#compare [name=layout]", "dirs")
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    with visit.context.expect_page() as opened:
        page.click("#compare a.open")
    opened.value.wait_for_selector("#table tr[data-i]")
    assert "2025/Lukas Weber" in opened.value.inner_text("#table")
    opened.value.close()
    page.click("#compare [name=clear]")
    assert page.inner_text("#compare .chosen") == "Nothing is chosen yet."


def test_a_folder_is_a_class_and_the_folders_in_it_are_submissions(visit: Visit):
    page = visit.open()
    page.set_input_files("#compare [name=folder]", MATERIAL / "class")
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    assert "16 submissions; 10 pairs" in page.inner_text("#compare .outcome")


def test_cancel_stops_a_comparison_and_deletes_it(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gate = Gate(tmp_path, monkeypatch)
    with serving(data=tmp_path / "data") as server:
        visit = Visit(browser, server.address)
        page = visit.open("compare")
        page.evaluate(DROP, ["#compare .drop", [["a.txt", LONG], ["b.txt", LONG]]])
        page.wait_for_selector("#compare .choices li")
        page.click("#compare [name=go]")
        child = gate.reached()
        page.click("#compare .outcome >> text=Cancel")
        page.wait_for_selector("#compare .outcome:has-text('was cancelled')")
        assert has_ended(child)
        assert server.ask("GET", ALL).json["comparisons"] == []
        assert not list((tmp_path / "data" / "jobs").iterdir())
        # The same files can be compared at once, without choosing them again.
        gate.open()
        page.click("#compare [name=go]")
        page.wait_for_selector("#compare a.open")
        visit.close()


DROP = """([selector, files]) => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  const zone = document.querySelector(selector);
  zone.dispatchEvent(new DragEvent("dragover", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  if (!zone.classList.contains("over")) throw new Error("the zone does not light up");
  zone.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def test_dropped_files_with_evil_names_are_compared(visit: Visit):
    page = visit.open("compare")
    page.evaluate(DROP, ["#compare .drop", [[EVIL, LONG], [f"b{EVIL}", LONG + ATTACK]]])
    assert_becomes(page, "() => document.querySelector('#compare .chosen').textContent.startsWith('2 files')")
    assert "\u202e" not in page.inner_text("#compare .chosen")
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    page.click("nav >> text=State")
    page.wait_for_selector("#state .jobs a")
    rows = page.locator("#state .jobs tbody tr")
    before = rows.count()
    rows.first.locator("button").click()
    assert_becomes(page, "(n) => document.querySelectorAll('#state .jobs tbody tr').length === n", before - 1)


#: A folder as browsers give one that is dropped: entries with callbacks, and a few of them at a time.
FOLDER = """async () => {
  const file = (fullPath) => ({ isFile: true, fullPath, file: (done) => done(new File(["x"], fullPath)) });
  const folder = (fullPath, some) => ({ isFile: false, fullPath, createReader: () => {
    const parts = some.map((one) => [one]);
    return { readEntries: (done) => done(parts.shift() || []) };
  } });
  const entries = [folder("/class", [folder("/class/ann", [file("/class/ann/a.py"), file("/class/ann/b.py")]),
    folder("/class/bob", [file("/class/bob/a.py")]), folder("/class/empty", [])])];
  const { arranged, choices, dropped } = await import("/static/files.js");
  const found = await dropped({ items: entries.map((entry) => ({ webkitGetAsEntry: () => entry })), files: [] });
  return arranged(choices(found)).sent.map(([, path]) => path);
}"""


def test_a_dropped_folder_is_walked(visit: Visit):
    assert visit.open().evaluate(FOLDER) == ["ann/a.py", "ann/b.py", "bob/a.py"]


#: Arranges choices: lists of paths that were chosen at once, each with what it is said to be.
ARRANGE = """async (given) => {
  const { arranged, choices } = await import("/static/files.js");
  const chosen = (paths) => choices(paths.map((path) => ({ path, file: path })));
  const all = given.flatMap(([kind, paths]) => chosen(paths).map((one) => ({ ...one, kind: kind || one.kind })));
  return arranged(all).sent.map(([role, path]) => `${role}/${path}`);
}"""


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ([[None, ["a.c", "a.c", "a (2).c", "a.c", "b"]]], ["a.c", "a (2).c", "a (2) (2).c", "a (3).c", "b"]),
        ([[None, ["a (2).c", "a.c", "a.c"]]], ["a (2).c", "a.c", "a (3).c"]),
        ([[None, ["h/ann/a.c", "h/ann/b.c"]], [None, ["h/ann/a.c"]]], ["ann/a.c", "ann/b.c", "ann (2)/a.c"]),
        ([[None, ["ann/a.c", "bob/a.c"]]], ["ann/a.c", "bob/a.c"]),
        ([[None, ["ann/a.c"]], [None, ["ann/a.c"]]], ["ann/a.c", "ann (2)/a.c"]),
        ([[None, ["h/a.c", "h/b.c"]]], ["a.c", "b.c"]),
        ([[None, ["h/ann/a.c"]], [None, ["ann"]], ["one", ["h/x/a.c"]]], ["ann/a.c", "ann (2)", "h/x/a.c"]),
    ],
)
def test_nothing_that_was_chosen_replaces_another(visit: Visit, given: list[Any], sent: list[str]):
    assert visit.open().evaluate(ARRANGE, given) == [f"submissions/{path}" for path in sent]


def test_years_and_starter_code_have_names_of_their_own(visit: Visit):
    given = [[None, ["h/ann/a.c"]], ["year", ["h/ann/a.c"]], ["year", ["h/ann/a.c"]], ["template", ["a.c", "a.c"]]]
    sent = ["submissions/ann/a.c", "years/h/ann/a.c", "years/h (2)/ann/a.c", "templates/a.c", "templates/a (2).c"]
    assert visit.open().evaluate(ARRANGE, given) == sent


def test_files_of_one_name_are_all_compared(visit: Visit):
    page = visit.open("compare")
    texts = [text for _, text in notices()[:3]]
    page.evaluate(DROP, ["#compare .drop", [["main.txt", LONG], ["main.txt", LONG + texts[0]]]])
    assert_becomes(page, "() => document.querySelectorAll('#compare .choices li').length === 1")
    page.evaluate(DROP, ["#compare .drop", [["main.txt", LONG + texts[1]]]])
    assert_becomes(page, "() => document.querySelector('#compare .chosen').textContent.startsWith('3 files')")
    assert "such as main (2).txt" in page.inner_text("#compare .numbered")
    page.evaluate(DROP, ["#compare .drop", [["wrong.txt", LONG]]])
    assert_becomes(page, "() => document.querySelectorAll('#compare .choices li').length === 3")
    page.click("#compare .choices li:has-text('wrong.txt') button")
    assert page.locator("#compare .choices li").count() == 2
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    assert "3 submissions; 3 pairs" in page.inner_text("#compare .outcome")


def test_two_classes_of_one_name_are_a_class_and_an_earlier_year(visit: Visit, tmp_path: Path):
    for year, people in (("2026", ("weber", "petrova")), ("2025", ("weber", "silva"))):
        for person in people:
            source = next((MATERIAL / "class" / person).glob("*.py"), None) or MATERIAL / "class" / "weber" / "loans.py"
            (tmp_path / year / "hw2" / person).mkdir(parents=True)
            (tmp_path / year / "hw2" / person / "loans.py").write_bytes(source.read_bytes())
    page = visit.open("compare")
    for year in ("2026", "2025"):
        page.set_input_files("#compare [name=folder]", tmp_path / year / "hw2")
    assert page.inner_text("#compare .chosen").startswith("4 files")
    assert "such as weber (2)" in page.inner_text("#compare .numbered")
    page.select_option("#compare .choices li:nth-child(2) select", "year")
    assert page.inner_text("#compare .numbered") == ""
    page.set_input_files("#compare [name=starter]", MATERIAL / "starter")
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    told = page.inner_text("#compare .outcome")
    assert "4 submissions" in told
    assert "Read as: each folder" in told


def zipped(path: Path, suffix: str, *people: str) -> Path:
    """Write a zip archive with a folder for each person, below a folder of the class."""
    with zipfile.ZipFile(path, "w") as archive:
        for person in people:
            for file in sorted((MATERIAL / "class" / person).glob(suffix)):
                archive.write(file, f"hw3/{person}/{file.name}")
    return path


@pytest.mark.parametrize("has_starter", [False, True])
@pytest.mark.parametrize("year", ["none", "folder", "archive", "index"])
def test_a_zip_archive_is_a_class_whatever_else_is_given(visit: Visit, tmp_path: Path, year: str, has_starter: bool):
    page = visit.open("compare")
    page.set_input_files("#compare [name=files]", zipped(tmp_path / "new.zip", "*.py", "okafor", "weber", "petrova"))
    count = 3
    if year == "folder":
        page.set_input_files("#compare [name=folder]", MATERIAL / "class")
        page.select_option("#compare .choices li:nth-child(2) select", "year")
        count = 19
    if year == "archive":
        page.set_input_files("#compare [name=files]", zipped(tmp_path / "old.zip", "*.java", "mensah", "raman"))
        page.select_option("#compare .choices li:nth-child(2) select", "year")
        count = 5
    if year == "index":
        page.check("#compare fieldset input[value=years]")
        count = 19
    if has_starter:
        page.set_input_files("#compare [name=templates]", MATERIAL / "starter" / "python" / "loans.py")
    chosen = "document.querySelector('#compare .choices select').value"
    assert page.evaluate(f"() => {chosen}") == "class"
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    assert f"{count} submissions;" in page.inner_text("#compare .outcome")


def test_two_archives_are_not_one_class(visit: Visit, tmp_path: Path):
    page = visit.open("compare")
    both = [zipped(tmp_path / f"{name}.zip", "*.py", name) for name in ("okafor", "weber")]
    page.set_input_files("#compare [name=files]", both)
    values = "() => [...document.querySelectorAll('#compare .choices select')].map((one) => one.value)"
    assert page.evaluate(values) == ["one", "one"]
    page.select_option("#compare .choices li:nth-child(1) select", "class")
    page.click("#compare [name=go]")
    assert "is compared by itself" in refusal(page, "#compare .outcome")
    page.select_option("#compare .choices li:nth-child(1) select", "one")
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    assert "2 submissions; 1 pair" in page.inner_text("#compare .outcome")


def test_what_was_read_as_what_and_what_was_skipped_is_told(visit: Visit):
    page = visit.open("compare")
    page.evaluate(
        DROP, ["#compare .drop", [["a.txt", LONG], ["b.txt", LONG], [EVIL, "short"], [f"d{EVIL}", "\0\1" * 99]]]
    )
    page.wait_for_selector("#compare .choices li")
    page.click("#compare [name=go]")
    page.wait_for_selector("#compare a.open")
    assert "Read as: each file" in page.inner_text("#compare .understood")
    told = page.inner_text("#compare .notes")
    assert "not compared: <img" in told
    assert "skipped: d<img" in told
    assert "\u202e" not in told


def test_names_are_shown_as_they_are_but_for_what_deceives(visit: Visit):
    shown = """async (text) => (await import("/static/dom.js")).visible(text)"""
    page = visit.open()
    for text in ("a 🐢 ż.txt", "日本語", "tab\there", "line\nbreak"):
        assert page.evaluate(shown, text) == text
    assert page.evaluate(shown, "a\u202eb\x00c") == "a\\u202eb\\u0000c"
    assert page.evaluate("""async () => (await import("/static/dom.js")).visible("\\ud800")""") == "\ufffd"


def test_the_page_knows_languages_and_defaults_of_the_package(visit: Visit):
    page = visit.open("ask")
    offered = page.evaluate("[...document.querySelector('#compare [name=language]').options].map((one) => one.value)")
    assert offered == ["", *sorted(name for name, one in LANGUAGES.items() if one.kind != "format")]
    assert page.input_value("#ask [name=top]") == str(params.ASKING["top"].default)
    assert str(params.CODE_CUT_OFF) in page.get_attribute("#compare [name=min_score]", "placeholder")


def test_what_is_wrong_is_told(visit: Visit):
    page = visit.open("compare")
    page.click("#compare [name=go]")
    assert "Choose submissions first" in refusal(page, "#compare .outcome")
    page.evaluate(DROP, ["#compare .drop", [["only.txt", LONG]]])
    page.wait_for_selector("#compare .choices li")
    page.click("#compare [name=go]")
    assert_becomes(page, "() => document.querySelector('#compare .outcome').textContent.includes('failed')")
    told = page.inner_text("#compare .outcome")
    assert "compare with an earlier year or an archive" in told
    assert "=…" not in told
    page.click("nav >> text=Ask the archive")
    page.click("#ask [name=go]")
    assert "Give a document first" in refusal(page, "#ask .outcome")
    page.click("nav >> text=Documents")
    page.fill("#documents [name=where]", "nothing")
    page.click("#documents [name=go]")
    page.wait_for_selector("#documents .fault")
    visit.provoked = ("status of 422",)


def test_a_document_is_shown_beside_one_of_the_archive(visit: Visit):
    page = visit.open("ask")
    ask(page, "news", f"{LONG} {ATTACK}")
    shown = page.inner_text("#ask [data-question=passages]")
    assert "long/one" in shown
    assert ATTACK in shown
    page.click("#ask [data-question=passages] tr:has-text('onerror') button")
    frame = page.frame_locator("#ask iframe")
    frame.locator("#l mark, #l [class*=c]").first.wait_for()
    assert ATTACK in frame.locator("body").inner_text()
    assert frame.locator("h1").inner_text().startswith("document")
    assert frame.locator("text=Overview").count() == 0
    # The frame is a stranger to this page: it can read neither the token nor the address.
    inside = next(one for one in page.frames if one != page.main_frame)
    assert inside.evaluate("origin") == "null"
    page.keyboard.press("Tab")
    page.click("#ask [name=back]")
    assert page.is_visible("#ask .card")
    assert page.evaluate("document.activeElement.textContent") == "Side by side"


def test_a_file_is_asked_about_by_keyboard_alone(visit: Visit):
    page = visit.open("ask")
    page.wait_for_selector("#ask option[value=years]", state="attached")
    page.focus("#ask [name=index]")
    page.keyboard.type("years")
    page.set_input_files("#ask [name=file]", MATERIAL / "class" / "weber" / "loans.py")
    assert page.input_value("#ask [name=name]") == "loans.py"
    page.focus("#ask [name=go]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask [data-question=identical] td")
    assert page.locator("#ask .unnamed").count() == 0
    page.fill("#ask [name=name]", "")
    page.focus("#ask [name=go]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask .unnamed:has-text('guessed from the content')")
    page.wait_for_selector("#ask [data-question=passages] tbody button")
    assert "2025/Lukas Weber" in page.inner_text("#ask [data-question=identical]")
    page.focus("#ask [data-question=passages] tbody button >> nth=0")
    page.keyboard.press("Enter")
    page.frame_locator("#ask iframe").locator("#l").wait_for()
    page.keyboard.press("Escape")
    assert page.is_hidden("#ask .pair")
    page.focus("#ask [name=clear]")
    page.keyboard.press("Enter")
    assert page.inner_text("#ask .outcome") == ""


def test_documents_are_browsed_found_added_and_removed(visit: Visit, server: Server):
    page = visit.open("documents")
    page.wait_for_selector("#documents option[value=news]", state="attached")
    page.select_option("#documents [name=index]", "news")
    page.wait_for_selector("#documents .list tr:has-text('n01')")
    assert page.locator("#documents .list tbody tr").count() == 50
    page.click("#documents [name=more]")
    assert_becomes(page, "() => document.querySelectorAll('#documents .list tbody tr').length === 62")
    page.fill("#documents .find [name=id]", ATTACK)
    page.click("#documents .find [name=go]")
    page.wait_for_selector("#documents .one pre")
    assert ATTACK in page.inner_text("#documents .one pre")
    page.click("#documents .add summary")
    page.fill("#documents .add [name=id]", "a/new one?#%")
    page.fill("#documents .add [name=text]", f"A quite new text about ferries. {ATTACK}")
    page.click("#documents .add [name=go]")
    page.wait_for_selector("#documents .add .outcome:has-text('was added')")
    page.fill("#documents .find [name=id]", "a/new one?#%")
    page.click("#documents .find [name=go]")
    page.wait_for_selector("#documents .one pre:has-text('ferries')")
    page.click("#documents .one >> text=Remove")
    assert page.inner_text("#documents .one button >> nth=1") == "Really remove?"
    page.fill("#documents .find [name=id]", "")
    page.click("#documents .one button >> nth=1")
    page.click("#documents .one button >> nth=1")
    assert_becomes(page, "() => document.querySelector('#documents .one').hidden")
    gone = server.ask("GET", "/v1/indexes/news/documents/a%2Fnew%20one%3F%23%25")
    assert gone.status == 404


def test_the_state_lists_archives_and_is_ready(visit: Visit):
    page = visit.open("state")
    page.wait_for_selector("#state .indexes tr:has-text('years')")
    assert page.is_hidden("[name=token]"), "this server asks for none"
    assert "class" in page.inner_text("#state .indexes")
    assert_becomes(page, "() => document.querySelector('#state .ready').textContent.includes('is ready')")
    page.click("#state [name=again]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 700, 380])
def test_nothing_is_wider_than_the_window(browser: Any, server: Server, width: int, scheme: str):
    visit = Visit(browser, server.address, viewport={"width": width, "height": 900}, color_scheme=scheme)
    for part in ("compare", "ask", "documents", "state"):
        page = visit.open(part)
        page.wait_for_selector(f"#{part}:not([hidden])")
        if part == "ask":
            ask(page, "news", LONG)
        assert widest(page) <= 0, part
    visit.close()


def test_every_control_has_a_name(visit: Visit):
    page = visit.open()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, textarea, button, iframe")].filter((one) =>
        !(one.labels?.[0]?.textContent.trim() || one.textContent.trim() || one.title || one.ariaLabel))
        .map((one) => one.outerHTML)"""
    )
    assert nameless == []


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server with tokens, and a token that may read and compare."""
    folder = tmp_path_factory.mktemp("guarded")
    with la.Index.create(folder / "news", kind="corpus") as index:
        index.add(notices())
    token = made_token(folder / "tokens.jsonl", "lms", "read,compare")
    with serving(folder / "news", data=folder / "data", token_file=folder / "tokens.jsonl") as running:
        yield running, token


def made_token(file: Path, name: str, scope: str) -> str:
    order = [sys.executable, "-m", "lookalike", "token", str(file), "--name", name, "--scope", scope]
    return subprocess.run(order, capture_output=True, text=True, check=True).stdout.split()[-1]


def test_a_token_stays_in_its_tab_and_out_of_addresses(browser: Any, guarded: tuple[Server, str]):
    server, token = guarded
    visit = Visit(browser, server.address)
    urls: list[str] = []
    visit.context.on("request", lambda request: urls.append(request.url))
    page = visit.open("ask")
    assert_becomes(page, "() => document.querySelector('#token-told').textContent === 'A token is needed.'")
    page.fill("[name=token]", "wrong")
    page.click("text=Use")
    assert_becomes(page, "() => document.querySelector('#token-told').textContent === 'The token is not valid.'")
    assert page.get_attribute("[name=token]", "placeholder") == ""
    page.click("nav >> text=Compare a class")
    page.evaluate(DROP, ["#compare .drop", [["a.txt", LONG]]])
    page.wait_for_selector("#compare .choices li")
    page.click("#compare [name=go]")
    assert refusal(page, "#compare .outcome") == "The token is not valid: give another at the top of this page."
    page.fill("[name=token]", token)
    page.keyboard.press("Enter")
    assert_becomes(page, "() => document.querySelector('#token-told').textContent.startsWith('The token is valid.')")
    assert page.inner_text("#token-told") == "The token is valid. It allows: read, compare."
    assert page.get_attribute("[name=token]", "placeholder") == "in use"
    assert page.inner_text("#compare .outcome") == ""
    page.click("nav >> text=Ask the archive")
    assert page.input_value("[name=token]") == ""
    ask(page, "news", LONG)
    assert not any(token in url for url in urls)
    assert token not in page.content()
    assert page.evaluate("localStorage.length + document.cookie.length") == 0
    # Without the scope to remove or to add, nothing can be, and that is told.
    page.click("nav >> text=Documents")
    page.wait_for_selector("#documents .list tr:has-text('n01')")
    button = page.locator("#documents .list tr:has-text('n01') >> text=Remove")
    assert button.is_disabled()
    assert "scope remove" in button.get_attribute("title")
    page.click("#documents .add summary")
    assert page.inner_text("#documents .add .refused") == "Your token does not allow this: it needs the scope add."
    page.click("[name=forget]")
    assert_becomes(page, "() => document.querySelector('#token-told').textContent === 'A token is needed.'")
    visit.provoked = ("status of 40",)
    visit.close()
    log = server.log_path.read_text(encoding="utf-8")
    assert token not in log


def test_a_token_for_comparisons_alone_is_told_that_it_reads_no_archive(browser: Any, tmp_path: Path):
    with la.Index.create(tmp_path / "news", kind="corpus") as index:
        index.add(notices()[:3])
    tokens = tmp_path / "tokens.jsonl"
    token = made_token(tokens, "moss", "compare")
    with serving(tmp_path / "news", data=tmp_path / "data", token_file=tokens) as server:
        visit = Visit(browser, server.address)
        page = visit.open("ask")
        page.fill("[name=token]", token)
        page.keyboard.press("Enter")
        assert_becomes(page, "() => document.querySelector('#token-told').textContent.includes('allows: compare.')")
        for part, title in (("ask", "Ask the archive"), ("documents", "Documents")):
            page.click(f"nav >> text={title}")
            page.wait_for_selector(f"#{part} .refused:has-text('it needs the scope read')")
            assert page.locator(f"#{part} [name=go]").first.is_disabled()
            assert page.is_hidden(f"#{part} .none")
        page.click("nav >> text=Compare a class")
        assert page.is_hidden("#compare .refused")
        # The first visit has no token yet. Nothing that this token may not ask is asked.
        visit.provoked = ("status of 401",)
        visit.close()


def test_a_token_that_may_only_add_adds_and_sees_why_it_does_nothing_else(browser: Any, tmp_path: Path):
    la.Index.create(tmp_path / "news", kind="corpus").close()
    tokens = tmp_path / "tokens.jsonl"
    token = made_token(tokens, "feed", "add")
    with serving(tmp_path / "news", data=tmp_path / "data", token_file=tokens) as server:
        visit = Visit(browser, server.address)
        page = visit.open("compare")
        page.fill("[name=token]", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("#compare .refused:has-text('it needs the scope compare')")
        assert page.evaluate("document.querySelector('#compare form').inert")
        page.click("nav >> text=Documents")
        page.wait_for_selector("#documents > .refused:has-text('it needs the scope read')")
        page.click("#documents .add summary")
        page.fill("#documents .add [name=id]", "one")
        page.fill("#documents .add [name=text]", LONG)
        page.click("#documents .add [name=go]")
        page.wait_for_selector("#documents .add .outcome:has-text('was added')")
        page.click("nav >> text=State")
        page.wait_for_selector("#state .fault:has-text('it needs the scope compare')")
        visit.provoked = ("status of 40",)
        visit.close()


def test_a_submission_is_added_with_label_and_language_and_replaced_on_a_second_press(visit: Visit, server: Server):
    page = visit.open("documents")
    page.wait_for_selector("#documents option[value=news]", state="attached")
    page.select_option("#documents [name=index]", "news")
    page.wait_for_selector("#documents .list tr:has-text('n01')")
    page.click("#documents .add summary")
    assert page.is_hidden("#documents .add [name=label]")
    page.select_option("#documents [name=index]", "years")
    page.wait_for_selector("#documents .list tr:has-text('Lukas Weber')")
    assert "read as python" in page.inner_text("#documents .list tr:has-text('Lukas Weber')")

    def add(text: str) -> None:
        page.fill("#documents .add [name=label]", "2024-hw3")
        page.fill("#documents .add [name=id]", "s159")
        page.fill("#documents .add [name=text]", text)
        page.click("#documents .add [name=go]")

    path = "/v1/indexes/years/documents/2024-hw3%2Fs159"
    code = wrapped(statements(1, "java", 12), "java")
    add(code)
    page.wait_for_selector("#documents .add .outcome:has-text('was added')")
    assert "no file extension, so it was read as text" in page.inner_text("#documents .add .outcome")
    page.fill("#documents .add [name=name]", "Main.java")
    add(code)
    page.wait_for_selector("#documents .add .outcome:has-text('already')")
    assert server.ask("GET", path).json["languages"] == ["text"], "nothing is replaced by the first press"
    assert page.inner_text("#documents .add [name=go]") == "Replace it"
    page.click("#documents .add [name=go]")
    page.wait_for_selector("#documents .add .outcome:has-text('was replaced')")
    assert "Main.java as java" in page.inner_text("#documents .add .outcome")
    found = server.ask("GET", path).json
    assert (found["languages"], found["label"]) == (["java"], "2024-hw3")
    page.fill("#documents .add [name=id]", " ")
    page.click("#documents .add [name=go]")
    assert refusal(page, "#documents .add .outcome").startswith("Give an id first")
    page.fill("#documents .find [name=id]", "2024-")
    page.click("#documents .find [name=go]")
    page.wait_for_selector("#documents .one h2:has-text('2024-hw3/s159')")
    page.fill("#documents .find [name=id]", "")
    page.fill("#documents [name=where]", "label=2024")
    page.click("#documents .find [name=go]")
    page.wait_for_selector("#documents .outcome:has-text('No document was found')")
    assert "values: 2024-hw3, 2025" in page.inner_text("#documents > .outcome")
    assert server.ask("DELETE", path).status == 204


def test_a_page_of_another_site_can_neither_read_nor_change(browser: Any, server: Server):
    before = server.ask("GET", "/v1/indexes/news").json["stats"]["documents"]
    target = server.address
    attack = f"""<body><form method=post action="{target}/v1/indexes/news/documents" enctype=text/plain>
    <input name='{{"id":"x","text":"' value='y"}}'></form>
    <iframe src="{target}/"></iframe><img src="{target}/v1/indexes/news/documents">
    <script src="{target}/static/main.js"></script>"""
    with served(lambda path, _ports: Answer(attack) if path == "/" else None) as (address,):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{address}/")
        tried = page.evaluate(
            """async (target) => {
              const tries = [
                fetch(`${target}/v1/indexes`), fetch(`${target}/v1/indexes`, { mode: "no-cors" }),
                fetch(`${target}/v1/indexes/news/documents/evil`, { method: "PUT", body: "an evil text" }),
                fetch(`${target}/v1/indexes/news/documents/n01`, { method: "DELETE" }),
                fetch(`${target}/v1/comparisons`, { method: "POST", mode: "no-cors" }),
              ];
              const found = await Promise.allSettled(tries);
              return found.map((one) => (one.value ? `${one.value.type} ${one.value.status}` : "refused"));
            }""",
            target,
        )
        assert set(tried) <= {"refused", "opaque 0"}
        framed = [one for one in page.frames if one != page.main_frame]
        assert all("lookalike" not in one.title() for one in framed), "the page cannot be framed"
        page.evaluate("document.forms[0].submit()")
        page.wait_for_url(f"{target}/**")
        assert "other-site" in page.content()
        context.close()
    assert server.ask("GET", "/v1/indexes/news").json["stats"]["documents"] == before
    assert server.ask("GET", "/v1/indexes/news/documents/n01").status == 200


def test_only_files_of_the_page_are_served(server: Server):
    for path in ("page.html", "..%2Froutes.py", "routes.py", "main.js%00", "", "look.css%2F.."):
        assert server.ask("GET", f"/static/{path}").status == 404, path
    for path in ("/", "/static/main.js", "/static/look.css"):
        found = server.ask("GET", path)
        assert found.status == 200
        policy = found.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy


def test_the_view_of_a_pair_needs_a_token_and_a_document(guarded: tuple[Server, str], server: Server):
    assert guarded[0].ask("POST", "/page/pairs/news/n01", "text").status == 401
    assert server.ask("POST", "/page/pairs/news/nothing", "text").code == "no-such-document"
    assert server.ask("POST", "/page/pairs/nothing/n01", "text").status == 404
    assert server.ask("POST", "/page/pairs/news/n01", "quite another text").code == "no-passage"
    assert server.ask("POST", "/page/pairs/bare/n01", notices()[0][1]).code == "no-text"


def test_the_view_of_a_pair_leaves_starter_code_out(server: Server):
    copied = (MATERIAL / "class" / "chen" / "loans.py").read_text()
    asked = server.ask("POST", "/v1/indexes/years/query?name=loans.py&question=passages&top=1", copied).json
    (match,) = asked["answers"][0]["matches"]
    path = f"/page/pairs/years/{quote(match['id'])}?name=loans.py"
    shown = server.ask("POST", path, copied).body.decode()
    lengths = re.findall(r"(\d+) tokens, \d+ bits", shown)
    assert lengths == [str(one["tokens"]) for one in match["passages"]]
    starter = (MATERIAL / "starter" / "python" / "loans.py").read_text()
    assert server.ask("POST", path, starter).code == "no-passage"
