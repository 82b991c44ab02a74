"""One text as a document of every format, each with mark-up that all documents of its format share."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from email.message import EmailMessage

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def page(text: str) -> bytes:
    """A page whose mark-up is much longer than its text."""
    style = "".join(f".class-{number} {{ margin: {number}px; padding: 0 }}\n" for number in range(60))
    links = "".join(f'<link rel="alternate" href="/feed/{number}" title="feed"/>\n' for number in range(40))
    head = f"<head><title>a site</title><style>{style}</style>{links}<script>var a = [{'1,' * 200}];</script></head>"
    return f"<!doctype html><html>{head}<body class='main'><div><p>{text}</p></div></body></html>".encode()


def pdf(text: str) -> bytes:
    drawn = b"BT /F1 12 Tf 72 700 Td (%b) Tj ET" % text.encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9999 792] /Contents 5 0 R "
        b"/Resources << /Font << /F1 3 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn),
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 6\n0000000000 65535 f \n%btrailer\n<< /Size 6 /Root 1 0 R >>\n" % table
    return out + head + b"startxref\n%d\n%%%%EOF\n" % len(out)


def docx(text: str) -> bytes:
    packed = io.BytesIO()
    body = f"<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body>"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("[Content_Types].xml"), "<Types/>")
        document = f'<?xml version="1.0"?><w:document xmlns:w="{_WORD}">{body}</w:document>'
        archive.writestr(zipfile.ZipInfo("word/document.xml"), document)
    return packed.getvalue()


def notebook(text: str) -> bytes:
    cell = {"cell_type": "markdown", "source": text, "metadata": {}}
    return json.dumps({"cells": [cell], "metadata": {"kernel": "x" * 500}, "nbformat": 4, "nbformat_minor": 5}).encode()


def mail(text: str, subject: str = "") -> bytes:
    made = EmailMessage()
    made["From"], made["To"], made["X-Trace"] = "a@example.org", "b@example.org", "trace " * 100
    if subject:
        made["Subject"] = subject
    made.set_content(text)
    made.add_alternative(f"<p>{text}</p>", subtype="html")
    made.add_attachment(b"\0\1\2" * 100, maintype="application", subtype="zip", filename="all.zip")
    # The parser invents a boundary otherwise.
    made.set_boundary("of-all")
    return made.as_bytes()


MAKERS: dict[str, Callable[[str], bytes]] = {
    "html": page,
    "pdf": pdf,
    "docx": docx,
    "ipynb": notebook,
    "eml": mail,
    "txt": str.encode,
}
