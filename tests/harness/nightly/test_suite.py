"""A suite's file: what it says, and everything that is wrong with it, with its place."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from harness.nightly.suite import Suite, read
from harness.plan.problems import PlanError
from harness.request import kernel
from harness.request.run_request import scenario_text
from harness.systems.files import compose_folder

HEAD = """
title = "Every night"
baseline = "good"
hours = 8
busy = 0.1
wait = "20 min"
keep.passed = 30
"""
CELLS = """
[[cells]]
scenarios = ["master-crash", "cut-one-node"]
systems = ["reference-mirrored"]
"""


def suite(tmp_path: Path, text: str) -> Suite:
    path = tmp_path / "suite.toml"
    path.write_text(text)
    return read(path)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(PlanError) as caught:
        suite(tmp_path, text)
    return [str(one).replace(f"{tmp_path}/", "") for one in caught.value.problems]


def test_cell_plays_a_scenario_on_each_systems_layout_and_client(
    tmp_path: Path,
) -> None:
    read_suite = suite(tmp_path, HEAD + CELLS)
    assert [one.cell for one in read_suite.items] == [
        (name, "reference-mirrored", "all-automatic@T=10", "pika")
        for name in ("master-crash", "cut-one-node")
    ]
    assert (read_suite.night_s, read_suite.wait_s, read_suite.keep_passed) == (28_800, 1200, 30)
    assert read_suite.baseline == tmp_path / "good"


def test_a_missing_key_comes_with_a_line_to_copy(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, HEAD.replace("keep.passed = 30", "") + CELLS)
    assert problem == ("suite.toml, keep: is missing; expected: a line such as `keep.passed = 30`")


def test_each_repeat_is_one_play_and_a_bound_is_one(tmp_path: Path) -> None:
    often = suite(tmp_path, HEAD + CELLS + "repeats = 3").items[0]
    assert (often.plays, often.words[-2:]) == (3, ("--client", "pika"))
    bounded = suite(tmp_path, HEAD + CELLS + 'bound = "26%"').items[0]
    assert (bounded.plays, bounded.words[-2:]) == (1, ("--bound", "26%"))
    assert bounded.load_s > 5 * often.load_s


def test_user_scenarios_and_layouts_are_played_by_their_files(
    tmp_path: Path,
) -> None:
    own = tmp_path / "short.toml"
    own.write_text(scenario_text("master-crash"))
    built_in = next(compose_folder().glob("reference-mirrored/layouts/all-automatic.toml"))
    layout = tmp_path / "job@2" / "mine.toml"
    layout.parent.mkdir()
    layout.write_text(built_in.read_text().replace('"all-automatic"', '"mine"'))
    text = (
        CELLS.replace('"master-crash", "cut-one-node"', f'"{own}"')
        + f"layouts = ['{layout}@T=10']"
    )
    (item,) = suite(tmp_path, HEAD + text).items
    assert item.cell == ("short", "reference-mirrored", "mine@T=10", "pika")
    assert (item.words[0], item.words[4]) == (str(own), f"{layout}@T=10")


def test_cells_without_system_and_topology_are_refused(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, HEAD + '[[cells]]\nscenarios = ["master-crash"]\n')
    assert problem.startswith(
        "suite.toml, line 8, [[cells]] 1, systems: is missing, and so is `topology`"
    )


def test_all_problems_of_cells_are_reported_at_once_with_places(
    tmp_path: Path,
) -> None:
    text = HEAD + CELLS.replace("cut-one-node", "cut-one-nod")
    text += CELLS.replace("reference-mirrored", "kafka") + "repeats = 2\nbound = '10%'"
    text_of_problems = "\n".join(problems(tmp_path, text))
    assert (
        "suite.toml, line 10, [[cells]] 1, scenarios: there is no scenario 'cut-one-nod'"
        in text_of_problems
    )
    assert "[[cells]] 2" in text_of_problems
    assert "there is no system 'kafka'" in text_of_problems
    assert "leave --repeats out" in text_of_problems


def test_wrong_keys_and_lengths_are_reported_with_their_line(tmp_path: Path) -> None:
    text = (HEAD + CELLS).replace("20 min", "soon").replace("hours = 8", "hour = 8")
    text_of_problems = "\n".join(problems(tmp_path, text))
    assert "suite.toml, line 4, hour: there is no such key" in text_of_problems
    assert "suite.toml, line 6, wait" in text_of_problems
    assert "hours: is missing" not in text_of_problems  # it is only misspelt


def test_cells_without_their_kernel_module_are_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = partial(kernel.fitting, lacking=lambda module: f"has no module {module}")
    monkeypatch.setattr(kernel, "fitting", lacking)
    cells = CELLS.replace("cut-one-node", "packet-loss").replace("reference", "rabbitmq")
    found = suite(tmp_path, HEAD + cells)
    assert [one.cell[0] for one in found.items] == ["master-crash"]
    (skipped,) = found.skipped
    assert skipped.cell[0] == "packet-loss"
    assert "has no module sch_netem" in skipped.reason


def test_a_cell_stands_in_a_suite_once(tmp_path: Path) -> None:
    found = problems(tmp_path, HEAD + CELLS + CELLS)
    assert len(found) == 2
    assert "stands in it 2 times" in found[0]


def test_a_suite_of_mqproofs_own_is_none_of_its_cells(tmp_path: Path) -> None:
    text = CELLS.replace('"master-crash", "cut-one-node"', '"incident"')
    (problem,) = problems(tmp_path, HEAD + text)
    assert "incident is a suite of its own" in problem


def test_meaningless_cell_is_left_out_with_the_reason(tmp_path: Path) -> None:
    read_suite = suite(tmp_path, HEAD + CELLS.replace("cut-one-node", "all-name-servers-down"))
    assert [one.cell[0] for one in read_suite.items] == ["master-crash"]
    assert [one.cell[0] for one in read_suite.skipped] == ["all-name-servers-down"]


def test_an_unreadable_suite_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read"):
        read(tmp_path / "none.toml")
    assert "this is not TOML" in problems(tmp_path, "title = ")[0]


@pytest.mark.slow
def test_whether_a_cell_has_changed_every_process_says_alike(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(HEAD + CELLS + 'layouts = ["all-automatic", "all-automatic-one"]')
    script = (
        "from pathlib import Path; from harness.nightly.suite import read; "
        f"print([one.digest for one in read(Path({str(path)!r})).items])"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_a_rehearsal_plays_its_defect_where_a_system_has_it(tmp_path: Path) -> None:
    read_suite = suite(tmp_path, HEAD + CELLS + 'misbehave = "drop:2%"')
    assert {item.words[-2:] for item in read_suite.items} == {("--misbehave", "drop:2%")}
    text = HEAD + CELLS.replace("reference-mirrored", "rabbitmq-quorum") + 'misbehave = "drop"'
    (said,) = problems(tmp_path, text)
    assert said == (
        "suite.toml, line 12, [[cells]] 1, misbehave: rabbitmq-quorum cannot drop on request, nor "
        "misbehave in any other way"
    )
