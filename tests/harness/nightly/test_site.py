"""The pages of all nights: what they show, and what hostile text does to them."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

from harness.compare.gate import gate
from harness.nightly import record, site
from harness.nightly.record import Alarmed, Night
from harness.plan.model import Cell
from tests.harness.nightly.nights import good, night
from tests.harness.nightly.verdicts import CELL, experiment, run_of

HOSTILE: Cell = ("<script>alert(1)</script>\u202e", "../../etc", "a'\"b", "pika")


def written(folder: Path, *nights: Night) -> Path:
    cells = tuple({one.cell: None for one in nights[-1].cells})
    answer = gate(good(cells), [record.side(one) for one in nights])
    return site.write(folder, nights, good(cells), answer)


def test_every_cell_has_a_page_linked_from_the_first(tmp_path: Path) -> None:
    cells = (CELL, ("master-freeze", *CELL[1:]))
    index = written(tmp_path, night(1, cells=cells)).read_text()
    for cell in cells:
        assert f'href="{site.path_of(cell)}"' in index
        assert cell[0] in (tmp_path / site.SITE / site.path_of(cell)).read_text()


def test_every_run_report_is_linked_while_it_exists(tmp_path: Path) -> None:
    nights = night(1), night(2)
    there, gone = nights[1].played[0].experiment, nights[0].played[0].experiment
    experiment(tmp_path, there, [run_of()])
    written(tmp_path, *nights)
    page = (tmp_path / site.SITE / site.path_of(CELL)).read_text()
    assert f'href="../{there}/report.html"' in page
    assert gone in page
    assert f'href="../{gone}' not in page


def test_changed_versions_are_shown_with_the_later_night(tmp_path: Path) -> None:
    nights = night(1), night(2, version="3.10.9", label="commit 1f2e"), night(3, version="3.10.9")
    index = written(tmp_path, *nights).read_text()
    assert index.count("rabbitmq: 3.10.8 → 3.10.9") == 2  # once to read, once to be found
    assert "commit 1f2e" in index


def test_an_alarm_is_a_mark_of_its_own(tmp_path: Path) -> None:
    slow = night(
        2, out_s=9, alarms=(Alarmed(CELL, "total_downtime", "total downtime takes longer"),)
    )
    written(tmp_path, night(1), slow)
    page = (tmp_path / site.SITE / site.path_of(CELL)).read_text()
    assert 'class="dots worse"' in page
    assert "total downtime takes longer" in page
    (drawn,) = site.trends((night(1), slow), CELL, good())
    assert {tone for tone, _ in drawn.dots} == {"run", "worse"}
    assert drawn.band is not None


def test_night_without_a_play_of_a_cell_is_a_gap(tmp_path: Path) -> None:
    elsewhere = night(2, cells=(("other", *CELL[1:]),))
    strip = site.strip((night(1), elsewhere, night(3)), CELL)
    assert [one.tone for one in strip] == ["pass", "absent", "pass"]


def test_foreign_text_is_escaped_in_the_nightly_site(tmp_path: Path) -> None:
    said = "</script><img src=x onerror=alert(1)>"
    index = written(tmp_path, night(1, cells=(HOSTILE,), label=said, version=said)).read_text()
    pages = [path.read_text() for path in (tmp_path / site.SITE).iterdir()]
    for page in (index, *pages):
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "\u202e" not in page
    assert sorted(path.name for path in (tmp_path / site.SITE).iterdir()) == sorted(
        [site.INDEX, site.path_of(HOSTILE)]
    )


def test_cells_share_no_page_and_none_leaves_the_folder() -> None:
    assert re.fullmatch(r"cell-[a-z0-9-]+\.html", site.path_of(HOSTILE))
    assert site.path_of(("a", "b-c", "d", "e")) != site.path_of(("a-b", "c", "d", "e"))


def test_the_only_script_is_ours_and_nothing_is_fetched(tmp_path: Path) -> None:
    index = written(tmp_path, night(1)).read_text()
    (script,) = re.findall(r"<script>(.*?)</script>", index, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', index)
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    assert "://" not in index


def test_large_history_makes_one_page_per_cell_and_one_overview(
    tmp_path: Path,
) -> None:
    """Render three hundred nights of thirty cells."""
    cells = tuple((f"scenario-{number}", *CELL[1:]) for number in range(30))
    nights = [night(number, cells=cells) for number in range(300)]
    written(tmp_path, *nights)
    assert len(list((tmp_path / site.SITE).iterdir())) == 31


def test_the_same_nights_make_the_same_bytes(tmp_path: Path) -> None:
    pages = [written(tmp_path / name, night(1), night(2)).read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]


@pytest.mark.parametrize(("runs", "warned"), [(1, True), (10, False)])
def test_the_page_of_a_cell_warns_of_a_small_baseline(
    tmp_path: Path, runs: int, warned: bool
) -> None:
    baseline, nights = good(runs=runs), (night(1),)
    site.write(tmp_path, nights, baseline, gate(baseline, [record.side(nights[0])]))
    page = (tmp_path / site.SITE / site.path_of(CELL)).read_text()
    assert ("only 1 baseline run: the first violation alarms" in page) == warned
