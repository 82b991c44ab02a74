"""Finds the main text of a web page: without what pages of a site share, such as navigation, side bars and footers.

It judges one page alone, by elements, roles, and words in classes and ids; so the result does not depend on pages seen
before. What holds the main part or a main heading stays, and so do lists of links that nothing marks as navigation: on
pages of lists they are the content. Cost: linear in the page, about twice that of reading all its text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lookalike.frontends.html import VisibleText, names, obstacle_in, stripped

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

#: Elements and roles that are not the main part; a header may be, if it has the main heading.
_ELEMENTS = names("nav aside footer header form dialog")
_ROLES = names("navigation banner complementary contentinfo search dialog")
#: Elements that are the main part or in it.
_MAIN = "main, article, h1"
#: Words in classes and ids that name other parts than the main one.
_NAMED = names(
    "ad ads advert advertisement advertising banner breadcrumb breadcrumbs cookie cookies footer masthead menu nav "
    "navbar navigation newsletter pager pagination promo promoted related share sharing sidebar social sponsor "
    "sponsored toolbar widget"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
#: Longest class and id that is looked at.
_MAX_NAME = 400


def main_text(page: str) -> str:
    """Return the main text of a page, or all its text if no main part is found.

    >>> main_text("<body><nav>Home, News</nav><div><p>The pool is closed.</p></div><div id=page-footer>Imprint</div>")
    'The pool is closed.'
    """
    from selectolax.lexbor import LexborHTMLParser

    if obstacle_in(page) is not None:
        return stripped(page)
    tree = LexborHTMLParser(page)
    return _MainText(tree).text or VisibleText(tree).text


class _MainText(VisibleText):
    """Collects the text of the main part."""

    def __init__(self, page: LexborHTMLParser) -> None:
        #: Elements with the main part in them, by number in the tree.
        self._around: set[int] = set()
        for found in page.css(_MAIN):
            node: LexborNode | None = found
            while node is not None and node.mem_id not in self._around:
                self._around.add(node.mem_id)
                node = node.parent
        super().__init__(page)

    def _enter(self, node: LexborNode) -> bool:
        return not (node.is_element_node and self._is_apart(node)) and super()._enter(node)

    def _is_apart(self, node: LexborNode) -> bool:
        """Whether an element belongs to the site and not to the page."""
        if node.mem_id in self._around or node.tag in ("html", "body"):
            return False
        attributes = node.attributes
        if node.tag in _ELEMENTS or (attributes.get("role") or "").lower() in _ROLES:
            return True
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:_MAX_NAME]
        return any(word.lower() in _NAMED for word in _WORD.findall(names))
