"""The pages of three hundred nights as a person sees them, on a desk and on a phone."""

from pathlib import Path

import pytest

from harness.compare.gate import gate
from harness.nightly import record, site
from harness.nightly.record import Alarmed
from tests.browser.chromium import Chromium
from tests.harness.nightly.nights import good, night
from tests.harness.nightly.verdicts import CELL, experiment, run_of

pytestmark = pytest.mark.slow

SCREENS = {"desk": (1280, 800), "phone": (390, 844)}
NIGHTS = 300
NAMES = ("master-crash", "cut-one-node", "client-link-hang", "rolling-restart")
CELLS = tuple((name, *CELL[1:]) for name in NAMES)
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOWN = "[...document.querySelectorAll('.cells > li')].filter(one => one.offsetHeight).length"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The last ten nights of one cell are slow; a broker's version changed before them."""
    folder = tmp_path_factory.mktemp("nights")
    slow = (Alarmed(CELL, "total_downtime", "out, all outages together takes longer: 6.0 s"),)
    nights = [
        night(
            number,
            out_s=3 + number % 7 / 20 + (3 if number >= NIGHTS - 10 else 0),
            cells=CELLS if number % 2 else CELLS[:2],
            version="3.10.8" if number < NIGHTS - 10 else "3.11.0",
            label=f"build {number}" + " of a long branch's name" * (number % 50 == 0),
            alarms=slow if number >= NIGHTS - 5 else (),
            exit_code=1 if number >= NIGHTS - 5 else 0,
        )
        for number in range(NIGHTS)
    ]
    experiment(folder, nights[-1].played[0].experiment, [run_of()])
    baseline = good(CELLS)
    return site.write(folder, nights, baseline, gate(baseline, list(map(record.side, nights))))


@pytest.mark.parametrize("screen", SCREENS)
def test_pages_of_the_nightly_site_fit_the_screen(
    browser: Chromium, index: Path, screen: str
) -> None:
    for path in (index, index.parent / site.path_of(CELL)):
        browser.open(path, *SCREENS[screen])
        assert browser.value(OVER) == 0


@pytest.mark.parametrize("screen", SCREENS)
def test_the_first_screen_says_whether_anything_is_worse_and_what(
    browser: Chromium, index: Path, screen: str
) -> None:
    browser.open(index, *SCREENS[screen])
    bottom = browser.value("document.querySelector('.sections li').getBoundingClientRect().bottom")
    said = browser.value("document.querySelector('main').innerText")
    assert "WORSE in 1 place" in said
    assert "takes longer" in said
    assert bottom <= SCREENS[screen][1]


def test_a_word_hides_all_that_it_does_not_stand_in(browser: Chromium, index: Path) -> None:
    browser.open(index, *SCREENS["desk"])
    assert browser.value(SHOWN) == len(CELLS)
    for word, shown in (("rolling 3.11", 0), ("ROLLING", 1), ("", len(CELLS))):
        browser.value(
            f"{{ const field = document.getElementById('find'); field.value = {word!r};"
            " field.dispatchEvent(new Event('input')); }"
        )
        assert browser.value(SHOWN) == shown


def test_a_runs_report_is_one_click_from_its_cell(browser: Chromium, index: Path) -> None:
    browser.open(index.parent / site.path_of(CELL), *SCREENS["desk"])
    link = "document.querySelector('td[data-name=reports] a')"
    assert browser.value(f"{link}.getAttribute('href')").endswith("/report.html")


def test_every_night_has_its_column_and_the_change_its_place(
    browser: Chromium, index: Path
) -> None:
    browser.open(index.parent / site.path_of(CELL), *SCREENS["desk"])
    assert browser.value("document.querySelectorAll('.nights rect').length") == NIGHTS
    assert "rabbitmq: 3.10.8 → 3.11.0" in browser.value("document.body.innerText")
