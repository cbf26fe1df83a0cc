"""The report as a person sees it, wide and narrow, light and dark, in a real browser."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.report import html
from harness.report.display import CellTitle, Report, RunReport
from spark_analysis.schema.words import Redelivered
from tests.browser.chromium import Chromium, found
from tests.findings import Story
from tests.histories import History
from tests.reports import CELL, OTHER, SKIPPED, compared, run
from tests.told_runs import MEANING, TITLE, crash, page_of, told

SCREENS = {"desk": (1280, 800), "phone": (390, 844)}
LONG = "x" * 300  # a word that no line holds

HOW = "no Chromium here: apt-get install -y --no-install-recommends chromium fonts-dejavu-core"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """Skips with the reason where there is none; where CI promised it, that is a failure."""
    program = found()
    if program is None:
        if os.environ.get("MQPROOF_REQUIRE_BROWSER"):
            pytest.fail(HOW)
        pytest.skip(HOW)
    with Chromium(program, tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cell of one run that lost messages."""
    folder = tmp_path_factory.mktemp("one")
    return html.write(titled(told(folder / "run-1", losing())), folder)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 runs of three cells; texts that no line holds; a run that was not judged."""
    folder = tmp_path_factory.mktemp("large")
    story = crash(every_ms=500)
    story.rows["faults"][0]["role"] = LONG
    runs = [
        told(folder / f"run-{row}-{number}", losing() if number == 3 else story, cell=cell)
        for row, cell in enumerate((CELL, OTHER, ("cut-one-node", *CELL[1:])))
        for number in range(10)
    ]
    runs.append(run(Story(), name=LONG, verdicts=(), failure=LONG))
    rows = [compared(cell, "silence", 171e6) for cell in (CELL, OTHER)]
    made = titled(*runs, skipped=(SKIPPED,), comparison=tuple(rows), replay=f"mqproof {LONG}")
    return html.write(made, folder)


def losing() -> History:
    story = crash(lost=range(200, 237))
    for number in (10, 240):
        story.deliver(number, at_ms=13_000, redelivered=Redelivered.YES, connection=2)
    return story


def titled(*runs: RunReport, **changes: object) -> Report:
    title = CellTitle(TITLE, "RabbitMQ 3.10 with mirrored queues", "A mirror on every node")
    return page_of(*runs, titles={one.cell: title for one in runs}, **changes)


def seen(browser: Chromium) -> str:
    """The words on the screen, before anybody scrolls."""
    return " ".join(str(browser.value(_SEEN)).split())


_SEEN = """
[...document.querySelectorAll('h1, dt, .value, li, .lead, .badge')]
  .filter(one => { const box = one.getBoundingClientRect();
                   return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight
                       && box.left >= 0 && box.right <= innerWidth; })
  .map(one => one.innerText).join(' ')
"""


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_answers_which_claim_how_many_how_long_and_whether_proved(
    browser: Chromium, page: Path, screen: str
) -> None:
    browser.open(page, *SCREENS[screen])
    said = seen(browser)
    assert "FAILED" in said and "2 claims failed" in said
    assert f"“{MEANING}”" in said
    assert "37 lost" in said and "of 800 confirmed" in said
    assert "0.34 s" in said and "without any confirm" in said
    assert "Is that proved?" in said and "yes" in said
    assert "the fault was seen from outside, to hold and to end" in said


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_hangs_over_the_side_even_with_everything_unfolded(
    browser: Chromium, page: Path, large: Path, screen: str, dark: bool
) -> None:
    width, height = SCREENS[screen]
    for file in (page, large):
        browser.open(file, width, height, dark)
        for unfold in ("0", "document.querySelectorAll('details').forEach(d => d.open = true)"):
            browser.value(unfold)
            over = browser.value(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert over == 0, (file, over, browser.value(_WIDE))


_WIDE = """
[...document.querySelectorAll('body *')]
  .filter(one => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(one => one.tagName + '.' + one.className).slice(0, 9).join(' ')
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_stand_out_from_what_they_stand_on(
    browser: Chromium, page: Path, dark: bool
) -> None:
    browser.open(page, 1280, 800, dark)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    faint = browser.value(_FAINT)
    assert faint == "", faint


# Contrast by WCAG 2: 4.5 at least, of every element that has words of its own.
_FAINT = """
(() => {
  const light = c => { const [r, g, b] = c.map(v => { v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const ground = one => { for (; one; one = one.parentElement) {
      const c = parts(getComputedStyle(one).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const faint = [];
  for (const one of document.querySelectorAll('body *')) {
    const own = [...one.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || one.closest('svg') || !one.getClientRects().length) continue;
    const a = light(parts(getComputedStyle(one).color).slice(0, 3));
    const b = light(ground(one).slice(0, 3));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(`${one.tagName}.${one.className} ${ratio.toFixed(1)}`);
  }
  return [...new Set(faint)].join(', ');
})()
"""


def test_the_timeline_shows_the_fault_the_loss_and_the_recovery(
    browser: Chromium, page: Path
) -> None:
    browser.open(page, 1280, 800)
    left, width = browser.value(
        "(() => { const held = document.querySelector('.force .held').getBoundingClientRect(),"
        " track = document.querySelector('.force .track').getBoundingClientRect();"
        " return [(held.left - track.left) / track.width, held.width / track.width]; })()"
    )
    assert (round(left, 2), int(width * 100) / 100) == (0.3, 0.37)  # +12 s to +27 s of 40 s
    names = browser.value("[...document.querySelectorAll('.lane .name')].map(n => n.innerText)")
    assert {"first success", "lost", "duplicated", "fault, as asked for"} <= set(names)
    heights = browser.value(
        "[...document.querySelectorAll('.plot svg')].map(s => s.getBoundingClientRect().height)"
    )
    assert len(heights) == 3 and min(heights) > 60
    titles = browser.value("document.querySelectorAll('.plot svg title').length")
    assert titles == 3 * 40


def test_the_story_of_a_lost_message_can_be_read_without_any_click(
    browser: Chromium, page: Path
) -> None:
    browser.open(page, 390, 844)
    story = browser.value("document.querySelector('.story').innerText")
    assert "message 200 of publisher 1 in orders" in story
    assert "never delivered" in story


def test_it_needs_no_script_and_asks_nobody_for_anything(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, 800)
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    assert browser.value("document.scripts.length") == 0


def test_a_number_in_the_matrix_leads_to_its_cell(browser: Chromium, large: Path) -> None:
    browser.open(large, 1280, 800)
    browser.value("document.querySelector('.matrix a').click()")
    top = browser.value("document.querySelector('#cell-1').getBoundingClientRect().top")
    assert -1 <= top < 800


def test_thirty_runs_are_no_more_than_a_few_hundred_kilobytes_each(large: Path) -> None:
    assert large.stat().st_size < 31 * 200_000
