"""Front ends: what is read of each format, how languages are told, and what hostile documents come to."""

from __future__ import annotations

import ast
import doctest
import io
import json
import subprocess
import sys
import zipfile

import pytest

from lookalike import _types, frontends
from lookalike.errors import FrontendError, ParameterError
from lookalike.frontends import Readable, docx, html, pdf, readable

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def parts(read: Readable) -> list[tuple[str, str]]:
    """Language and text of each part."""
    assert isinstance(read.text, str)
    read.text.encode()
    ends = [0, *(part.end for part in read.parts)]
    assert all(end <= part.start < part.end for end, part in zip(ends, read.parts, strict=False))
    return [(part.language, read.text[part.start : part.end]) for part in read.parts]


def refused(name: str, data: bytes, language: str = "auto") -> str:
    with pytest.raises(FrontendError) as caught:
        frontends.read(name, data, language)
    return str(caught.value)


# --- documents made by hand ---


def make_pdf(*pages: str | bytes, trailer: bytes = b"") -> bytes:
    """Write a PDF with one text, or one stream of drawing commands, a page."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        font,
    ]
    for number, page in enumerate(pages):
        drawn = (
            page
            if isinstance(page, bytes)
            else b"BT /F1 12 Tf 72 700 Td 14 TL %s ET"
            % b" T* ".join(b"(%s) Tj" % line.encode("latin-1") for line in page.split("\n"))
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R %s>>\n" % (size, table, size, trailer)
    return out + head + b"startxref\n%d\n%%%%EOF\n" % len(out)


def make_docx(body: str, prolog: str = "", **stories: str) -> bytes:
    """Write a Word document; each story is a member of that name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        for name, content in {"document": body, **stories}.items():
            xml = f'<?xml version="1.0"?>{prolog}<w:{name} xmlns:w="{W}" xmlns:mc="urn:mc">{content}</w:{name}>'
            archive.writestr(f"word/{name}.xml", xml)
    return packed.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def make_notebook(*cells: dict[str, object], **metadata: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}).encode()


def cell(kind: str, source: object) -> dict[str, object]:
    return {"cell_type": kind, "source": source, "metadata": {}, "outputs": [{"text": "an output"}]}


# --- text and code ---


@pytest.mark.parametrize(("name", "language"), [("essay.txt", "text"), ("a.py", "python"), ("notes.md", "text")])
def test_plain_text_and_code_are_their_own_bytes(name: str, language: str):
    data = "Grüße\r\n\tx = 1\n".encode()
    read = frontends.read(name, data)
    assert read.text == data
    assert [(part.language, part.start, part.end, part.lexed) for part in read.parts] == [
        (language, 0, len(data), None)
    ]


def test_the_language_asked_for_wins_over_name_and_content():
    assert frontends.read("a.py", b"x = 1", "java").parts[0].language == "java"
    assert frontends.read("a.py", b"x = 1", "ascii").parts[0].language == "text"


def test_a_pdf_is_read_as_one_whatever_language_is_asked_for():
    assert parts(frontends.read("essay.txt", make_pdf("some words"), "text")) == [("text", "some words")]


def test_an_unknown_language_is_a_usage_error():
    with pytest.raises(ParameterError, match="`klingon` is not known"):
        frontends.read("a", b"x", "klingon")


MOSS = """c cc java ml pascal ada lisp scheme haskell fortran ascii vhdl verilog perl matlab python mips prolog spice vb
csharp modula2 a8086 javascript plsql"""


@pytest.mark.parametrize("name", MOSS.split())
def test_every_name_of_moss_is_accepted(name: str):
    assert frontends.resolve(name) in frontends.LANGUAGES


def test_no_name_or_suffix_stands_for_two_languages():
    languages = frontends.LANGUAGES.values()
    for fields in (lambda each: (each.name, *each.aliases), lambda each: each.suffixes, lambda each: each.names):
        every = [name for language in languages for name in fields(language)]
        assert len(every) == len(set(every))


# --- detection ---


@pytest.mark.parametrize(
    ("name", "data", "language"),
    [
        ("a.C", b"int x;", "c"),
        ("dir\\b.JAVA", b"class A {}", "java"),
        ("x.h", b"#include <stdio.h>\nint f(void);\n", "c"),
        ("x.h", b"#pragma once\nnamespace a { class B; }\n", "cpp"),
        ("x.h", b"namespace a {\n", "cpp"),
        ("x.m", b"function y = f(x)\n% f\ny = x';\n", "matlab"),
        ("x.m", b"#import <Foundation/Foundation.h>\n@interface A\n@end\n", "objectivec"),
        ("x.pl", b"use strict;\nmy $x = 1;\n", "perl"),
        ("x.pl", b"parent(a, b).\nq(X) :- parent(X, Y).\n", "prolog"),
        ("x.v", b"module m(input a);\nendmodule\n", "verilog"),
        ("x.v", b"Require Import List.\nTheorem t : True.\n", "coq"),
        ("x.cls", b"\\NeedsTeXFormat{LaTeX2e}\n\\ProvidesClass{x}\n", "text"),
        ("x.cls", b"VERSION 1.0 CLASS\nPublic Sub A()\nEnd Sub\n", "vb"),
        ("x.cls", b"public class A {\n  private Integer x;\n}\n", "java"),
        ("x.inc", b"<?php\n$x = 1;\n", "php"),
        ("x.asm", b"main: li $t0, 5\n syscall\n", "mips"),
        ("x.asm", b"mov eax, 5\n", "asm"),
        ("x.ts", b"let x: number = 1\n", "typescript"),
        ("Makefile", b"all:\n\tcc x.c\n", "text"),
        ("CMakeLists.txt", b"project(x)\n", "text"),
        ("Dockerfile", b"FROM scratch\n", "text"),
        ("Rakefile", b"task :x\n", "ruby"),
        ("data.csv", b"a,b\n", "text"),
        ("run", b"#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("run", b"#! /bin/sh -e\nls\n", "bash"),
        ("run", b"#!/usr/bin/env -S perl -w\n", "perl"),
        ("page", b"\n<!DOCTYPE html><p>x", "html"),
        ("page", "<html><p>x".encode("utf-16"), "html"),
        ("feed", b"<?xml version='1.0'?><a/>", "text"),
        ("index", b"<?php echo 1; ?>", "php"),
        ("book", make_notebook(cell("code", "x")), "notebook"),
        ("essay", b"It was a dark night; the rain fell.\nfor a while.\n", "text"),
        ("main", b"#include <stdio.h>\nint main(void) {\n  return 0;\n}\n", "c"),
        ("main", b"#include <iostream>\nusing namespace std;\nint main() {\n}\n", "cpp"),
        ("main.unknown", b"import os\n\ndef f(x):\n    return x\n", "python"),
        ("Main", b"import java.util.*;\npublic class Main {\n  public static void main(String[] a) {}\n}\n", "java"),
        ("empty", b"", "text"),
        ("essay.txt", make_pdf("x"), "pdf"),
        ("essay.zip", make_docx(paragraph("x")), "docx"),
        ("essay.pdf", b"no PDF at all, but words", "text"),
        ("essay.docx", b"<html>saved by a browser</html>", "html"),
        ("x.py", "x = 1\n".encode("utf-16"), "python"),
        ("x.py", "x = 1\n".encode("utf-16-le"), "python"),
        ("x.py", b"\x00\x01\x02\x03" * 100, "binary"),
        ("zeros.txt", bytes(1000), "binary"),
        ("x.java", b"\xca\xfe\xba\xbe\x00\x00\x00\x34", "binary"),
        ("x.txt", b"\x89PNG\r\n\x1a\n", "binary"),
    ],
)
def test_the_language_is_told_from_name_and_content(name: str, data: bytes, language: str):
    assert frontends.detect(name, data) == language


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00", "binary, not text: a PNG image"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "binary, not text: an old Office file: save it as .docx or PDF"),
        (bytes(100), "binary, not text: more than one byte in ten is a control character"),
    ],
)
@pytest.mark.parametrize("language", ["auto", "text", "java", "pascal", "html"])
def test_a_binary_file_is_refused_by_what_it_is(data: bytes, reason: str, language: str):
    assert refused("x", data, language) == reason


# --- HTML ---


def test_html_shows_what_a_browser_shows():
    page = b"""<!doctype html><html><head><title>T</title><style>p{}</style></head><body>
      <h1>One &amp; only</h1><script>alert("no")</script><!-- no -->
      <p>first <b>bold</b>
      line<br>second</p><noscript>no</noscript><template><p>no</template>
      <ul><li>a<li>b</ul><table><tr><td>1<td>2</table><pre> kept\n  as is</pre></body></html>"""
    read = frontends.read("a.html", page)
    assert parts(read) == [("text", "One & only\nfirst bold line\nsecond\na\nb\n1\t2\n kept\n  as is")]
    assert read.notes == ()


@pytest.mark.parametrize(
    "hiding",
    ["hidden", 'style="display: NONE"', 'style="visibility:hidden"', 'style="color:#fff"', 'style="font-size:0"',
     'style="opacity: 0.0"'],
)  # fmt: skip
def test_hidden_text_of_html_is_left_out_and_counted(hiding: str):
    read = frontends.read("a.html", f"<p>seen <span {hiding}>un<b>seen</b></span> text".encode())
    assert parts(read) == [("text", "seen text")]
    assert read.notes == ("hidden text: 6 characters left out",)


@pytest.mark.parametrize(
    "style", ["opacity:0.5", "opacity:inherit", "color:#fff;background:#000", "background-color:white"]
)
def test_visible_styles_hide_nothing(style: str):
    assert parts(frontends.read("a.html", f'<p style="{style}">seen'.encode())) == [("text", "seen")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-16-le", "utf-8"])
def test_html_is_decoded_by_its_mark(encoding: str):
    assert parts(frontends.read("a.html", "<p>Grüße — \U0001f600</p>".encode(encoding))) == [
        ("text", "Grüße — \U0001f600")
    ]


def test_html_is_decoded_by_what_it_declares():
    page = '<meta charset="windows-1251"><p>Привет'.encode("windows-1251")
    assert parts(frontends.read("a.html", page)) == [("text", "Привет")]


@pytest.mark.parametrize("tags", ["<div>", "<b>", "<table>", "<font>", "<div></i>", "<svg><td>", "<rt>", "<ul><li>"])
def test_deep_html_is_cut_at_its_tags_and_noted(tags: str):
    read = frontends.read("a.html", tags.encode() * 100_000 + b"words &amp; more<script>if (a<b) no()</script> end")
    assert parts(read) == [("text", "words & more\nend")]
    assert read.notes[0].startswith("nest")


@pytest.mark.parametrize("between", [" ", "/", "='' ", "=''"])
def test_an_element_of_many_attributes_is_cut_out_and_noted(between: str):
    tag = "<a " + "".join(f"x{i}{between}" for i in range(40_000)) + ">"
    read = frontends.read("a.html", f"{tag}words".encode())
    assert parts(read) == [("text", "words")]
    assert read.notes == ("more than 2,000 attributes on one element; tags were cut out",)


def test_a_picture_inside_a_page_is_one_attribute():
    picture = "<img src='data:image/png;base64," + "ab/+" * 50_000 + "'>"
    assert frontends.read("a.html", f"{picture}words".encode()).notes == ()


def test_unclosed_paragraphs_and_cells_are_not_deep():
    drawing = b"<svg>" + b"<path d='M0'/>" * 3000 + b"</svg>"
    read = frontends.read("a.html", b"<table>" + b"<tr><td>x" * 3000 + b"</table>" + b"<p>y<br>" * 3000 + drawing)
    assert read.notes == ()


@pytest.mark.parametrize("charset", ["punycode", "unicode_escape", "rot13", "klingon", "utf-7"])
def test_a_charset_that_is_none_of_the_web_is_not_obeyed(charset: str):
    read = frontends.read("a.html", f'<meta charset="{charset}"><p>Gr'.encode() + b"\xfc\xdfe \\ud800")
    assert parts(read) == [("text", "Grüße \\ud800")]


def test_entities_for_surrogates_become_replacements():
    assert parts(frontends.read("a.html", b"<p>a&#xD800;b")) == [("text", "a\ufffdb")]


def test_a_page_without_text_is_refused():
    assert refused("a.html", b"<script>draw()</script>").startswith(NO_TEXT)


NO_TEXT = "the page shows no text"


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        # The last "<" begins a tag that never ends.
        ("<", "<" * 4999),
        ("<!--", NO_TEXT),
        ("<a '", NO_TEXT),
        ("</", NO_TEXT),
        ('<a b="', NO_TEXT),
        ("<script>", NO_TEXT),
        ("&", "&" * 5000 + "words"),
        ("<b><p>", "words"),
        ("<a>x</p>", "x\n" * 5000 + "words"),
        ("<b></i>", "words"),
    ],
)
def test_broken_html_ends(piece: str, shown: str):
    data = piece.encode() * 5000 + b"words"
    if shown == NO_TEXT:
        assert refused("a.html", data).startswith(NO_TEXT)
    else:
        assert parts(frontends.read("a.html", data)) == [("text", shown)]


# --- PDF ---


def test_pages_are_marked_outside_the_parts():
    read = frontends.read("a.pdf", make_pdf("first page\nsecond line", "next page"))
    assert read.text == "— page 1 —\nfirst page\nsecond line\n— page 2 —\nnext page\n"
    assert parts(read) == [("text", "first page\nsecond line"), ("text", "next page")]
    assert read.notes == ()


def test_pages_without_text_are_counted():
    assert frontends.read("a.pdf", make_pdf("words", b"", b"")).notes == ("2 of 3 pages hold no text (scanned?)",)
    assert refused("a.pdf", make_pdf(b"", b"")).startswith("none of its 2 pages holds text")


def test_pages_beyond_the_cap_are_noted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pdf, "MAX_PAGES", 2)
    read = pdf.read(make_pdf("one", "two", "three"), "pdf", False)
    assert [text for _, text in parts(read)] == ["one", "two"]
    assert read.notes == ("only the first 2 of 3 pages were read",)


def test_a_locked_pdf_says_so():
    locked = b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -1 >> /ID [<00><00>] " % (
        b"00" * 32,
        b"00" * 32,
    )
    assert refused("a.pdf", make_pdf("secret", trailer=locked)) == "locked by a password: save it without one"


@pytest.mark.parametrize("share", [0, 10, 30, 50, 70, 90, 99])
def test_a_cut_pdf_is_read_or_refused(share: int):
    whole = make_pdf("some words", "more words")
    data = whole[: max(9, len(whole) * share // 100)]
    try:
        read = frontends.read("a.pdf", data)
    except FrontendError:
        return
    assert parts(read)


# --- Word ---


def test_all_stories_of_a_document_are_read():
    row = f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
    body = f"<w:body>{paragraph('One &amp; two')}<w:tbl>{row}{row}</w:tbl>{paragraph('end')}</w:body>"
    read = frontends.read("a.docx", make_docx(body, footnotes=paragraph("a note"), header1=paragraph("top")))
    assert parts(read) == [("text", "One & two\na\tb\t\na\tb\t\nend\n"), ("text", "a note\n"), ("text", "top\n")]
    assert str(read.text).startswith("— body —\nOne & two\n")
    assert "— footnotes —\na note" in str(read.text)


def test_deleted_text_field_codes_and_second_copies_are_not_shown():
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = f"""<w:p>{run.format("kept")}<w:del>{run.format("gone")}</w:del><w:ins>{run.format(" new")}</w:ins>
      <w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t></w:r>
      <mc:Fallback>{run.format("twice")}</mc:Fallback></w:p>"""
    assert parts(frontends.read("a.docx", make_docx(body))) == [("text", "kept new\tx\ny\n")]


@pytest.mark.parametrize("hiding", ["<w:vanish/>", '<w:color w:val="FFFFFF"/>'])
def test_hidden_text_of_a_document_is_left_out_and_counted(hiding: str):
    read = frontends.read("a.docx", make_docx(paragraph("seen") + paragraph("unseen", hiding) + paragraph("end")))
    assert parts(read) == [("text", "seen\n\nend\n")]
    assert read.notes == ("hidden text: 6 characters left out",)


def test_white_text_on_a_ground_is_seen():
    shaded = paragraph("seen", '<w:color w:val="FFFFFF"/><w:shd w:fill="000000"/>')
    white = paragraph("head", '<w:color w:val="FFFFFF"/>')
    in_table = f"<w:tbl><w:tr><w:tc>{white}</w:tc></w:tr></w:tbl>"
    assert parts(frontends.read("a.docx", make_docx(shaded + in_table))) == [("text", "seen\nhead\t\n")]


def test_an_entity_bomb_is_refused():
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    bomb = make_docx(paragraph("&l9;"), prolog=f'<!DOCTYPE x [<!ENTITY l0 "ha">{entities}]>')
    assert "entity bomb" in refused("a.docx", bomb)


def test_an_archive_bomb_is_refused_while_it_inflates():
    assert "archive bomb" in refused("a.docx", make_docx(paragraph("a" * (docx.MAX_RATIO << 15))))


def test_huge_spans_and_deep_tables_cost_nothing():
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr>{paragraph("x")}</w:tc>'
    deep = "<w:tbl><w:tr><w:tc>" * 20_000 + paragraph("y") + "</w:tc></w:tr></w:tbl>" * 20_000
    read = frontends.read("a.docx", make_docx(wide + deep))
    assert [text.split() for _, text in parts(read)] == [["x", "y"]]


@pytest.mark.parametrize("cut", [100, 200, 300])
def test_a_cut_document_is_refused(cut: int):
    data = make_docx(paragraph("words"))
    assert "Word document" in refused("a.docx", data[: len(data) - cut], "docx")


def test_a_document_of_broken_xml_or_without_text_is_refused():
    assert "Word document" in refused("a.docx", make_docx("<w:p><w:r>"))
    assert "holds no text" in refused("a.docx", make_docx("<w:p/>"))


# --- notebooks ---


def test_code_and_markdown_cells_are_parts_and_outputs_are_dropped():
    notebook = make_notebook(
        cell("markdown", ["# Title\n", "words"]), cell("code", "x = 1\nprint(x)"), cell("raw", "r")
    )
    read = frontends.read("a.ipynb", notebook)
    assert read.text == "— cell 1 —\n# Title\nwords\n— cell 2, code —\nx = 1\nprint(x)\n— cell 3 —\nr\n"
    assert parts(read) == [("text", "# Title\nwords"), ("python", "x = 1\nprint(x)"), ("text", "r")]


def test_worksheets_of_format_3_are_read():
    cells = [{"cell_type": "code", "input": ["x <- 1"], "language": "R"}, {"cell_type": "heading", "source": "H"}]
    read = frontends.read("a.ipynb", json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode())
    assert parts(read) == [("r", "x <- 1"), ("text", "H")]


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"language": "julia", "name": "julia-1.10"}}, "julia"),
        ({"language_info": {"name": "R"}}, "r"),
        ({"kernelspec": {"name": "python3"}}, "python"),
        ({"kernelspec": {"name": "klingon"}}, "text"),
        ({"kernelspec": None, "language_info": 5}, "python"),
    ],
)
def test_the_kernel_says_the_language(metadata: dict[str, object], language: str):
    read = frontends.read("a.ipynb", make_notebook(cell("code", "x"), **metadata))
    assert [part.language for part in read.parts] == [language]


def test_tokens_of_a_lexed_cell_lie_in_the_whole_text():
    notebook = make_notebook(cell("markdown", "words"), cell("code", "total = 1"), language_info={"name": "julia"})
    read = frontends.read("a.ipynb", notebook, "python")
    packed = memoryview(read.parts[1].lexed or b"").cast("I").tolist()
    assert [str(read.text)[start:end] for start, end in zip(packed[0::3], packed[1::3], strict=True)] == [
        "total",
        "=",
        "1",
    ]


def test_magics_are_shown_and_belong_to_no_part():
    source = "%matplotlib inline\nx = 1\n!ls\n  ?help\ny = x % 2"
    others = (cell("code", "%%bash\nls | wc"), cell("code", "%%time\nz = 1"))
    read = frontends.read("a.ipynb", make_notebook(cell("code", source), *others))
    assert parts(read) == [("python", "x = 1\n"), ("python", "y = x % 2"), ("bash", "ls | wc"), ("python", "z = 1")]
    assert source in str(read.text)


def test_lone_surrogates_are_replaced_and_nan_does_no_harm():
    data = b'{"cells": [{"cell_type": "code", "source": "a\\ud800b \\ud83d\\ude00", "n": NaN}]}'
    assert parts(frontends.read("a.ipynb", data)) == [("python", "a\ufffdb \U0001f600")]


@pytest.mark.parametrize(
    "data",
    [b"", b"[" * 100_000, b'{"cells":' * 100_000, b'{"cells": [', b"[]", b"5", b'{"cells": {}}', b'{"cells": null}',
     b"{}", b'{"cells": [5, null, {"cell_type": "code", "source": 5}]}', b'{"worksheets": [5]}',
     b'{"worksheets": {}}'],
)  # fmt: skip
def test_what_is_no_notebook_is_refused(data: bytes):
    assert "notebook" in refused("a.ipynb", data)


# --- the package ---


def test_importing_the_front_ends_loads_no_reader():
    code = (
        "import sys, lookalike.frontends as f\n"
        'f.read(\'a.py\', b\'x\'); f.read(\'a.ipynb\', b\'{"cells": [{"cell_type": "code", "source": "x"}]}\')\n'
        "print(sorted(name for name in sys.modules if '.' not in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"selectolax", "pypdfium2", "pygments", "lxml", "rich"} & set(ast.literal_eval(done.stdout))


def test_examples_of_the_package_run():
    results = [doctest.testmod(module) for module in (readable, _types)]
    assert sum(result.attempted for result in results) >= 2
    assert sum(result.failed for result in results) == 0


def test_every_language_has_a_front_end_that_reads_it():
    for name, language in frontends.LANGUAGES.items():
        if language.kind != "format":
            assert frontends.read("x", b"words and 5 more\n", name).parts[0].language == name


def test_the_nesting_that_is_cut_is_the_one_declared():
    fits = b"<div>" * html.MAX_DEPTH + b"x"
    assert frontends.read("a.html", fits).notes == ()
    assert frontends.read("a.html", b"<div>" + fits).notes
