"""PDF and Word files written by hand, byte by byte: sound ones, and one that no reader should follow to its end."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(objects: Sequence[bytes]) -> bytes:
    """Return a PDF of these objects; the first is the catalogue."""
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    end = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + end


def text_pdf(*pages: str) -> bytes:
    """Return a PDF with one line of text per page."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for i, page in enumerate(pages):
        drawn = b"BT /F 12 Tf 9 700 Td (%s) Tj ET" % page.encode("latin-1")
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>"
            % (5 + 2 * i)
        )
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn))
    return pdf(objects)


def pdf_bomb() -> bytes:
    """Return a PDF of half a kilobyte whose page is a form that draws itself twice."""
    drawn = b"/F Do /F Do"
    resources = b"/Resources<</XObject<</F 4 0 R>>>>"
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R%s>>" % resources,
            b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]%s/Length %d>>stream\n%s\nendstream"
            % (resources, len(drawn), drawn),
        ]
    )


def docx(*paragraphs: str) -> bytes:
    """Return a Word document."""
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>')
    return packed.getvalue()
