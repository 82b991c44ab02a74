"""Progress: a line now and then in a log, a bar on a terminal, nothing with --quiet."""

from __future__ import annotations

import time

import pytest

from lookalike.rendering.terminal import progress as shown
from lookalike.rendering.terminal.progress import LINE_SECONDS, Lines, progress, waiting

Capture = pytest.CaptureFixture[str]


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_line_comes_every_thirty_seconds_and_not_sooner(capsys: Capture):
    clock = Clock()
    lines = Lines(counts_bytes=False, clock=clock)
    for second in range(0, 100, 5):
        clock.now = 1000.0 + second
        lines.tell("reading", 10 * second, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "reading: 300 of 1,000, 10/s, 70 s left",
        "reading: 600 of 1,000, 10/s, 40 s left",
        "reading: 900 of 1,000, 10/s, 10 s left",
    ]


def test_a_job_that_says_nothing_is_told_of_too(capsys: Capture):
    clock = Clock()
    lines = Lines(counts_bytes=False, clock=clock)
    lines.tick()
    lines.tell("comparing", 0, None)
    clock.now += LINE_SECONDS
    lines.tick()
    clock.now += 1
    lines.tick()
    assert capsys.readouterr().err == "comparing: 30 s\n"


def test_a_new_phase_begins_its_own_time(capsys: Capture):
    clock = Clock()
    lines = Lines(counts_bytes=True, clock=clock)
    lines.tell("reading", 0, None)
    clock.now += 20
    lines.tell("writing", 0, 2**20)
    clock.now += 10
    lines.tell("writing", 2**19, 2**20)
    assert capsys.readouterr().err == "writing: 512 KiB of 1 MiB, 51.2 KiB/s, 10 s left\n"


def test_a_short_job_writes_nothing_to_a_log(capsys: Capture):
    with progress() as tell:
        tell("reading", 1, 2)
    assert capsys.readouterr().err == ""


def test_a_thread_tells_of_a_job_that_says_nothing(capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shown, "LINE_SECONDS", 0.01)
    with waiting("running density"):
        for _ in range(1000):
            time.sleep(0.01)
            if said := capsys.readouterr().err:
                break
    assert said.startswith("running density: 0 s")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_quiet_shows_nothing(capsys: Capture, monkeypatch: pytest.MonkeyPatch, is_terminal: bool):
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    with progress(quiet=True) as tell:
        tell("reading", 1, 2)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("after", "is_shown"), [(0.0, True), (60.0, False)])
def test_a_bar_appears_at_once_or_only_after_a_while(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, after: float, is_shown: bool
):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with waiting("comparing", after=after):
        pass
    assert ("comparing" in capsys.readouterr().err) == is_shown
