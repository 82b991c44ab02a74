"""The pages of a comparison in Chromium, from the server: scripts run under its policy, and links lead on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mosspy

from support.browser import assert_becomes, browser  # noqa: F401
from support.servers import serving
from support.submissions import classroom


def test_pages_from_the_server_work_in_a_browser(browser: Any, tmp_path: Path):  # noqa: F811
    with serving(data=tmp_path / "data", moss_port=0) as server:
        moss = mosspy.Moss("1", "java")
        moss.server, moss.port = (
            server.host,
            next(one["port"] for one in server.log() if one["event"] == "moss-listens"),
        )
        for path in sorted(classroom(tmp_path / "class", "java").iterdir()):
            moss.addFile(str(path))
        page, told = browser.new_page(), []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(moss.send())
        page.click("table a")
        assert_becomes(page, "location.pathname.endsWith('/match0.html') && document.readyState === 'complete'")
        # The script of the page chooses the first passage.
        assert_becomes(page, "document.querySelector('select') !== null")
        page.click("nav a")
        assert_becomes(page, "location.pathname.endsWith('/report.html') && document.readyState === 'complete'")
        assert_becomes(page, "document.querySelector('#least') !== null")
        assert told == []
        page.close()
