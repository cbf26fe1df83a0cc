"""The page by which somebody chooses a layout."""

import json
from pathlib import Path

import pytest

from harness.cli import main
from tests.harness.nightly.verdicts import experiment, run_of

PLACES = {"lean": (2, 4.0, 0), "fat": (3, 4.0, 0), "loses": (1, 1.0, 3)}


def folder(path: Path, hostile: str = "") -> Path:
    """Three layouts of one scenario, three runs each."""
    for name, (hosts, out_s, lost) in PLACES.items():
        cell = ("master-crash", f"system{hostile}", f"{name}@T=10", "pika")
        runs = [run_of(cell, out_s=out_s, lost=lost) for _ in range(3)]
        for run in runs:
            run["summary"]["faults"] = 1
            run["cost"] = {
                "confirmed_per_s": 200.0,
                "p50_ms": 2.5,
                "hosts": [
                    {"host": "b", "part": "brokers", "cores": 0.2, "memory_median_bytes": 1e8}
                ]
                * hosts
                + [{"host": "w", "part": "workers", "cores": 1.0, "memory_median_bytes": 1e9}],
            }
        experiment(path, name, runs)
    return path


def test_each_layout_reports_its_costs_losses_and_dominance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "layouts.html"
    assert main(["campaign", "layouts", str(folder(tmp_path / "r")), "-o", str(page)]) == 0
    said = capsys.readouterr().out
    assert "fat@T=10 · pika: dominated by 2, which is better in hosts, memory" in said
    assert "lean@T=10 · pika: on the frontier" in said
    assert "loses@T=10 · pika: on the frontier" in said  # it is cheaper, and says what for
    assert "lost in 3 of 3 runs" in said
    text = page.read_text()
    assert "2 of 3 layouts are on the frontier" in text
    assert "master-crash: 4.00\u00a0s (3 runs)" in text
    assert "://" not in text


def test_foreign_text_is_escaped_in_the_layouts_page(tmp_path: Path) -> None:
    page = tmp_path / "layouts.html"
    path = folder(tmp_path / "r", hostile="<script>alert(1)</script>")
    assert main(["campaign", "layouts", str(path), "-o", str(page)]) == 0
    assert "<script>" not in page.read_text()


def test_bad_words_are_reported_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", "layouts", str(tmp_path), "-o", str(tmp_path)]) == 254
    said = capsys.readouterr().err
    assert "is a folder: name a file" in said
    assert "there is no verdict.json one folder below" in said


def test_unreadable_file_is_reported_and_no_page_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder(tmp_path / "r") / "fat" / "verdict.json"
    document = json.loads(path.read_text())
    document["runs"][0]["cost"]["hosts"] = "many"
    path.write_text(json.dumps(document))
    page = tmp_path / "layouts.html"
    assert main(["campaign", "layouts", str(tmp_path / "r"), "-o", str(page)]) == 254
    assert "runs.0.cost.hosts" in capsys.readouterr().err
    assert not page.exists()
