"""The report as a person sees it, wide and narrow, light and dark, in a real browser."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.result import CellTitle, Report, RunReport
from harness.plan.model import Skipped
from harness.report import html
from spark_analysis.schema.words import Redelivered
from tests.browser.chromium import Chromium
from tests.rigs.histories.by_hand import History
from tests.rigs.histories.resources import sampled
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import MEANING, TITLE, crash, judged_run, page_of, summed
from tests.rigs.runs.reports import CELL, OTHER, SKIPPED, compared, run

pytestmark = pytest.mark.slow

SCREENS = {"desk": (1280, 800), "phone": (390, 844)}
LONG = "x" * 300  # a word that no line holds


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cell of one run that lost messages."""
    folder = tmp_path_factory.mktemp("one")
    return html.write(titled(judged_run(folder / "run-1", losing())), folder)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 runs of three cells; texts that no line holds; a run that was not judged."""
    folder = tmp_path_factory.mktemp("large")
    story = crash(every_ms=500)
    story.rows["faults"][0]["role"] = LONG
    for host, cores in (("rmq1", 0.4), ("workers", 0.2)):
        sampled(story, host, range(0, 12_000, 1_000), cores=cores, memory_bytes=120_000_000)
    runs = [
        judged_run(folder / f"run-{row}-{number}", losing() if number == 3 else story, cell=cell)
        for row, cell in enumerate((CELL, OTHER, ("cut-one-node", *CELL[1:])))
        for number in range(10)
    ]
    runs.append(judged_run(folder / "unproved", unproved()))
    runs.append(run(Story(), name=LONG, verdicts=(), failure=LONG))
    rows = [compared(cell, "silence", 171e6) for cell in (CELL, OTHER)]
    made = titled(*runs, skipped=(SKIPPED,), comparison=tuple(rows), replay=f"mqproof {LONG}")
    return html.write(made, folder)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 scenarios x 8 layouts x 2 systems; one layout of each has no mirror."""
    cells = [
        (f"scenario-{number}", system, f"layout-{layout}-automatic@T=60", "pika")
        for number in range(20)
        for system in ("rabbitmq-mirrored", "reference-mirrored")
        for layout in range(8)
    ]
    stories = (Story().count("lost", "stored", 37), Story().outage(12, 52.4), Story())
    runs = [
        summed(stories[number % 3], name=f"run-{number}", cell=cell)
        for number, cell in enumerate(cells)
        if "layout-7" not in cell[2]
    ]
    runs[20] = replace(runs[20], verdicts=(), summary=None, failure="no cluster")
    skipped = tuple(Skipped(cell, "no mirror") for cell in cells if "layout-7" in cell[2])
    rows = tuple(compared(cell, "silence", 171e6) for cell in cells)
    made = titled(*runs, skipped=skipped, comparison=rows)
    return html.write(made, tmp_path_factory.mktemp("matrix"))


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four places: one lost, one stranded, one is not decided, of one nothing is known."""
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    stories = (Story().count("lost", "replicated", 37), stalled, Story().outage(12, 52.4))
    runs, rows = [], []
    for number, scenario in enumerate(("master-crash", "cut-one-node", LONG)):
        for place, layout in enumerate(PLACES):
            cell = (scenario, "rabbitmq-mirrored", layout, "pika")
            story = stories[(number + place) % 3]
            runs.append(summed(story, name=f"{scenario}-{layout}", cell=cell))
            rows += [compared(cell, name, 171e6 * (1 + place)) for name in ("silence", "degraded")]
            rows.append(compared(cell, "duplicated", 9e6, unit="deliveries"))
    unjudged = ("master-crash", "rabbitmq-mirrored", "none@T=10", "pika")
    runs.append(run(Story(), name="none", cell=unjudged, verdicts=(), failure=LONG))
    rows.append(compared(unjudged, "silence", None))
    made = titled(*runs, skipped=(SKIPPED,), comparison=tuple(rows))
    return html.write(made, tmp_path_factory.mktemp("several"))


PLACES = ("all-automatic@T=10", "exactly-2@T=10", LONG)


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clients, each of two runs: one was never out; the other twice, by different starts."""
    folder = tmp_path_factory.mktemp("clients")
    dips = [(12_000, 16_000), (28_000, 31_000)]
    runs = [
        judged_run(folder / f"{client}-{number}", crash(late=late, every_ms=25), cell=cell)
        for client, late in (("pika", []), ("amqplib", dips))
        for cell in [(*CELL[:3], client)]
        for number in (1, 2)
    ]
    return html.write(titled(*runs), folder)


def losing() -> History:
    story = crash(lost=range(200, 237))
    for number in (10, 240):
        story.deliver(number, at_ms=13_000, redelivered=Redelivered.YES, connection=2)
    return story


def unproved() -> History:
    """The process that was to be killed answers."""
    story = crash(every_ms=500)
    (window,) = story.facts.windows
    story._windows = [
        replace(window, verified=False, unverified_reason="not verified active: it answers")
    ]
    story.rows["faults"][2] |= {"ok": 0, "detail": "2 of 3 links answered"}
    return story


def titled(*runs: RunReport, **changes: object) -> Report:
    title = CellTitle(
        TITLE, "RabbitMQ 3.10 with mirrored queues", "A copy of every queue on every node"
    )
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
def test_first_screen_shows_the_claim_its_numbers_and_its_proof(
    browser: Chromium, page: Path, screen: str
) -> None:
    """Show which claim failed, how many and how long, and whether it is proved."""
    browser.open(page, *SCREENS[screen])
    said = seen(browser).replace("\u00a0", " ")
    assert "FAILED" in said and "2 promises were broken" in said
    assert f"“{MEANING}”" in said
    assert "37 lost" in said and "of 800 confirmed" in said
    assert "no downtime" in said and "longest time without a confirm: 0.290 s" in said
    assert "Faults verified, logs complete?" in said and "yes" in said
    assert "the fault was verified from outside, at its beginning and its end" in said


@pytest.mark.parametrize("screen", SCREENS)
def test_comparison_first_screen_names_the_loser_its_losses_and_downtime(
    browser: Chromium, several: Path, screen: str
) -> None:
    browser.open(several, *SCREENS[screen])
    said = seen(browser).replace("\u00a0", " ")
    assert "lost or stranded messages that they had confirmed (A, B and C)" in said
    verdicts = [
        " ".join(text.split())
        for text in browser.value(
            "[...document.querySelectorAll('.verdicts dl')].map(one => one.innerText)"
        )
    ]
    assert len(verdicts) == 5
    assert verdicts[0].startswith(
        "confirmed, then lost ✗ 37 lost of 64,200 messages lost in 1 of 3 runs (of different "
        "scenarios) downtime for publishers in the worst run ≥ 40.4 s in "
    )
    assert "? not judged" in verdicts[3] and "0 lost" not in verdicts[3]
    assert "– does not apply" in verdicts[4]


@pytest.mark.parametrize("screen", SCREENS)
def test_first_screen_draws_each_outage_with_its_time(
    browser: Chromium, clients: Path, screen: str
) -> None:
    browser.open(clients, *SCREENS[screen])
    said = seen(browser).replace("\u00a0", " ")
    downtime = "B (amqplib) had 7.00 s of downtime in its worst run; A none"
    assert f"{downtime}; none lost a confirmed message" in said
    fine, dipped = browser.value(_PANELS)
    for panel in (fine, dipped):  # on the first screen, and wide enough to see a dip of 3 s
        assert 0 < panel["top"] < panel["bottom"] < SCREENS[screen][1] and panel["width"] > 250
    assert fine["zero"] == dipped["zero"], "faults stand one below the other"
    assert (fine["late"], fine["outs"]) == ("", [])
    assert dipped["late"].count("M") == 2, "two dips"
    assert len(dipped["outs"]) == 2 * 2, "in each of two runs"
    assert min(dipped["outs"]) > 5
    assert "no downtime" in fine["finding"] and "downtime 7.00 s in 2 outages" in dipped["finding"]
    assert "downtime in 2 of 2 runs" in dipped["finding"]
    named = browser.value("[...document.querySelectorAll('.whose')].map(p => p.textContent)")
    assert named == ["Apika", "Bamqplib"]


_PANELS = """
[...document.querySelectorAll('.panel')].map(panel => {
  const drawn = panel.querySelector('.shares').getBoundingClientRect(),
        zero = panel.querySelector('.zero').getBoundingClientRect();
  return {top: drawn.top, bottom: drawn.bottom, width: drawn.width, zero: zero.left,
          late: [...panel.querySelectorAll('.shares .bad')].map(p => p.getAttribute('d'))[0] || '',
          outs: [...panel.querySelectorAll('.outs rect')].map(
            r => r.getBoundingClientRect().width),
          finding: panel.querySelector('.finding').innerText.replaceAll('\\u00a0', ' ')}; })
"""


@pytest.mark.parametrize("screen", SCREENS)
def test_every_comparison_field_has_readable_text_for_its_colour(
    browser: Chromium, several: Path, screen: str
) -> None:
    browser.open(several, *SCREENS[screen])
    fields = browser.value(
        "[...document.querySelectorAll('.side-by-side.faults td')]"
        ".map(one => [one.className, one.innerText])"
    )
    assert len(fields) == 5 * 4  # a scenario that was skipped is a row, too
    signs = {"fail": "✗", "pass": "✓", "open": "?", "not_applicable": "–", "absent": "not run"}
    assert all(signs[tone.split()[0]] in words for tone, words in fields)
    cut = browser.value(_CUT.replace(".matrix", ".side-by-side"))
    assert cut == "", cut


def test_cells_with_downtime_are_not_green(browser: Chromium, clients: Path) -> None:
    browser.open(clients, *SCREENS["desk"])
    fields = browser.value(
        "[...document.querySelectorAll('.verdicts > li')]"
        ".map(one => [one.className, getComputedStyle(one).borderLeftColor])"
    )
    assert [classes for classes, _ in fields] == ["pass", "pass wasout"]
    (_, green), (_, other) = fields
    assert green != other


def test_sticky_header_hides_rows_that_scroll_below_it(browser: Chromium, several: Path) -> None:
    browser.open(several, *SCREENS["desk"])
    seen = browser.value(_BETWEEN_HEADS)
    assert len(seen) > 5 and set(seen) == {True}


# Between two heads of a table that has gone up, asked of each table: is it painted?
_BETWEEN_HEADS = """
[...document.querySelectorAll('.side-by-side thead')].flatMap(head => {
  const all = [...head.querySelectorAll('th')];
  return all.slice(1).map((one, n) => {
    const gap = one.getBoundingClientRect().left - all[n].getBoundingClientRect().right;
    const shadow = getComputedStyle(one).boxShadow.match(/[\\d.]+px/g) || ['0px'];
    return gap <= Math.max(...shadow.map(parseFloat)); }); })
"""


def test_on_paper_colours_of_the_picture_and_its_legend_stay(
    browser: Chromium, clients: Path
) -> None:
    browser.open(clients, *SCREENS["desk"])
    kept = browser.value(
        "[...document.querySelectorAll('figcaption i, .drawn svg, .bar i')].map(one => "
        "getComputedStyle(one).printColorAdjust)"
    )
    assert "economy" in kept, "a screen needs no order to paint"
    browser.print_media()
    kept = browser.value(
        "[...document.querySelectorAll('figcaption i, .drawn svg, .bar i')].map(one => "
        "getComputedStyle(one).printColorAdjust)"
    )
    assert len(kept) > 10 and set(kept) == {"exact"}


def test_the_legend_names_every_colour_and_line_of_the_picture(
    browser: Chromium, clients: Path, page: Path
) -> None:
    browser.open(clients, *SCREENS["desk"])
    of_several = browser.value("document.querySelector('figcaption').innerText")
    words = ("on time", "late", "or never", "the median run", "nothing due", "fault active")
    for word in (*words, "outage, from its first late message", "one row per run"):
        assert word in of_several
    browser.open(page, *SCREENS["desk"])
    assert "median" not in browser.value("document.querySelector('figcaption').innerText")


def test_a_fault_has_one_colour_in_the_picture_and_the_timeline(
    browser: Chromium, page: Path
) -> None:
    browser.open(page, *SCREENS["desk"])
    colours = browser.value(
        "[['.drawn .held', 'fill'], ['.force .held', 'backgroundColor'], ['.plot .band', 'fill'],"
        " ['figcaption i.struck', 'backgroundColor']].map(([one, what]) => "
        "getComputedStyle(document.querySelector(one))[what])"
    )
    assert len(colours) == 4 and len(set(colours)) == 1


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_an_unfolded_report_fits_the_screen(
    browser: Chromium,
    page: Path,
    large: Path,
    several: Path,
    clients: Path,
    screen: str,
    dark: bool,
) -> None:
    width, height = SCREENS[screen]
    for file in (page, large, several, clients):
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
    browser: Chromium, page: Path, several: Path, clients: Path, dark: bool
) -> None:
    for file in (page, several, clients):
        browser.open(file, 1280, 800, dark)
        browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        faint = browser.value(_FAINT)
        assert faint == "", (file, faint)


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


@pytest.mark.parametrize("screen", SCREENS)
def test_words_within_the_timeline_stand_in_one_line(
    browser: Chromium, page: Path, screen: str
) -> None:
    """A phase is a class of its element: it must not be some list's class, too."""
    browser.open(page, *SCREENS[screen])
    browser.value("document.querySelectorAll('.run > details').forEach(d => d.open = true)")
    tops = browser.value(
        "[...document.querySelectorAll('.phases .track > span')]"
        ".map(one => one.getBoundingClientRect().top)"
    )
    assert len(tops) > 2 and len(set(tops)) == 1


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
    assert {
        "first confirm of a new message",
        "sent then, lost later",
        "delivered more than once",
        "fault, requested",
        "fault, injected",
    } <= set(names)
    heights = browser.value(
        "[...document.querySelectorAll('.plot svg')].map(s => s.getBoundingClientRect().height)"
    )
    assert len(heights) == 3 and min(heights) > 60
    titles = browser.value("document.querySelectorAll('.plot svg title').length")
    assert titles == 3 * 40


def test_story_of_a_lost_message_needs_no_click(browser: Chromium, page: Path) -> None:
    browser.open(page, 390, 844)
    story = browser.value("document.querySelector('.story').innerText")
    assert "message 200 of publisher 1 in orders" in story
    assert "never delivered" in story


def test_page_needs_no_script_and_no_network(browser: Chromium, page: Path) -> None:
    browser.open(page, 1280, 800)
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    assert browser.value("document.scripts.length") == 0


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("kind", ["few cells", "many cells"])
def test_matrix_field_opens_its_cell_and_the_cells_runs(
    browser: Chromium, large: Path, matrix: Path, screen: str, kind: str
) -> None:
    browser.open(large if kind == "few cells" else matrix, *SCREENS[screen])
    assert not browser.value(_IS_SHOWN.format("#cell-1 .drill"))
    browser.value("document.querySelector('.matrix td a, .side-by-side td a').click()")
    assert browser.value(_IS_SHOWN.format("#cell-1 .drill"))
    top = browser.value("document.querySelector('#cell-1').getBoundingClientRect().top")
    assert -1 <= top < 800
    opened = str(browser.value("document.querySelector('#cell-1').innerText"))
    assert "Claims" in opened and "✗ FAIL" in opened and MEANING in opened
    assert "Numbers" in opened and "Runs" in opened
    browser.value("document.querySelector('#cell-1 .refs a').click()")
    assert browser.value(_IS_SHOWN.format("#run-1"))
    assert not browser.value(_IS_SHOWN.format("#cell-1 .drill"))


_IS_SHOWN = "document.querySelector('{}').getClientRects().length > 0"


@pytest.mark.parametrize("screen", SCREENS)
def test_whole_matrix_is_readable_on_any_screen(
    browser: Chromium, matrix: Path, screen: str
) -> None:
    width, height = SCREENS[screen]
    browser.open(matrix, width, height)
    fields = browser.value("document.querySelectorAll('.matrix td').length")
    assert fields == 20 * 2 * 8
    cut = browser.value(_CUT)
    assert cut == "", cut
    tallest = browser.value("document.querySelector('.matrix').getBoundingClientRect().height")
    assert tallest < 4_500
    words = str(browser.value("document.querySelector('.matrix').innerText"))
    assert words.count("N/A") == 40 and words.count("NOT JUDGED") == 1
    assert "37 lost" in words.replace("\n", " ")
    assert str(browser.value("document.querySelector('.reasons').innerText")) == "1 no mirror"


# Fields whose words do not fit, however large the screen is.
_CUT = """
[...document.querySelectorAll('.matrix td')]
  .filter(one => one.scrollWidth > one.clientWidth + 1)
  .map(one => one.innerText).slice(0, 5).join(' | ')
"""


def test_only_the_chosen_cell_is_shown_by_default(browser: Chromium, matrix: Path) -> None:
    """Show one of hundreds of cells unless the reader wants all of them."""
    browser.open(matrix, 1280, 800)
    shown = "[...document.querySelectorAll('.cell')].filter(c => c.getClientRects().length).length"
    assert browser.value(shown) == 0
    browser.value("document.querySelector('#all-cells').click()")
    assert browser.value(shown) == 280
    assert browser.value("document.documentElement.scrollWidth") == browser.value(
        "document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("screen", SCREENS)
def test_fault_page_counts_windows_and_shows_what_was_not_proved(
    browser: Chromium, large: Path, screen: str
) -> None:
    browser.open(large, *SCREENS[screen])
    words = " ".join(str(browser.value(_SECTION.format("faults"))).split())
    assert "30 of 31 faults are verified" in words
    assert "? 30 of 31" in words and "NOT VERIFIED" in words
    assert "2 of 3 links answered" in words  # the evidence itself, without any click
    assert "✓ VERIFIED" not in words  # the others stand in their group
    browser.value("document.querySelector('details.group').open = true")
    words = str(browser.value(_SECTION.format("faults")))
    assert words.count("✓ VERIFIED") == 30


@pytest.mark.parametrize("screen", SCREENS)
def test_cost_page_never_shows_an_uncounted_number_as_0(
    browser: Chromium, large: Path, screen: str
) -> None:
    """Compare layouts on the cost page; a number that was not counted is not 0."""
    browser.open(large, *SCREENS[screen])
    words = " ".join(str(browser.value(_SECTION.format("costs"))).split())
    assert "CPU seconds per 1,000 confirmed messages: brokers mqproof's proxy clients" in words
    assert CELL[2] in words and OTHER[2] in words
    assert "not counted" in words
    assert "0 KB/s" not in words
    bars = browser.value(
        "[...document.querySelectorAll('.bars .bar i')].map(b => b.getBoundingClientRect().width)"
    )
    assert len(bars) == 4 and min(bars) > 10


# The words of a part of the page, from its heading to the next.
_SECTION = """
(() => {{ let one = document.querySelector('#{}'), words = one.innerText;
  while ((one = one.nextElementSibling) && one.tagName !== 'H2') words += '\\n' + one.innerText;
  return words; }})()
"""


def test_report_of_thirty_runs_takes_few_hundred_kilobytes_per_run(large: Path) -> None:
    assert large.stat().st_size < 31 * 200_000
