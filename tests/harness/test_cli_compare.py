"""`mqproof compare`: from two experiments' files to words, a page and an exit code."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.report import verdict
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import page_of, summed

HELD, LOST = Story(), Story().count("lost", "replicated", 37)


def experiment(folder: Path, stories: list[Story], **changes: Any) -> Path:
    runs = [summed(story, repeat=n, name=f"r{n}") for n, story in enumerate(stories, 1)]
    folder.mkdir()
    verdict.write(page_of(*runs, experiment=folder.name, **changes), folder)
    return folder


def changed(path: Path, **values: Any) -> Path:
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **values}))
    return path


def test_regression_is_reported_on_the_terminal_and_on_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = experiment(tmp_path / "before", [HELD] * 10)
    after = experiment(tmp_path / "after", [HELD] * 4 + [LOST] * 6)
    assert main(["compare", str(before), str(after / "verdict.json")]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "after against before"
    assert "got worse: 2" in said  # the loss, and the promise that it breaks
    line = next(one for one in said if "confirmed-stays" in one)
    assert (
        "in 0 of 10 runs (95 % one-sided bound: at most 26 %) -> "
        "in 6 of 10 runs (95 % CI: 26 to 88 %); +60 % of runs (+20 % of runs to +83 %" in line
    )
    assert said[-2].startswith("2 got worse, ")
    page = (after / "compared-with-before.html").read_text()
    assert "in 6 of 10 runs" in page
    assert "What was confirmed is never lost." in page
    assert "://" not in page


def test_reversed_comparison_is_better_and_exits_with_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = experiment(tmp_path / "good", [HELD] * 10)
    bad = experiment(tmp_path / "bad", [LOST] * 10)
    page = tmp_path / "page.html"
    assert main(["compare", str(bad), str(good), "-o", str(page)]) == 0
    assert "got better: 2" in capsys.readouterr().out.splitlines()
    assert page.exists()
    assert not list(good.glob("*.html"))


def of_load(path: Path, load: dict[str, Any] | None) -> None:
    document = json.loads((path / "verdict.json").read_text())
    for run in document["runs"]:
        if load is None:
            del run["load"]  # as older versions wrote it
        else:
            run["load"] = load
    (path / "verdict.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("load", "line"),
    [
        (
            {"settings": {"rate": 600, "keys": 4}, "digest": "b"},
            "keys not set → 4; rate 300 → 600",
        ),
        ({"settings": {"rate": 300}, "digest": "b"}, "the same load, but another text of the"),
        (None, "it is unknown whether the load differs: no record of it in after"),
    ],
)
def test_another_load_comes_first_and_decides_nothing(
    load: dict[str, Any] | None, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (experiment(tmp_path / name, [HELD] * 10) for name in ("before", "after"))
    of_load(before, {"settings": {"rate": 300}, "digest": "a"})
    of_load(after, load)
    assert main(["compare", str(before), str(after)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith(f"  load of master-crash: {line}")
    assert f"Load of master-crash: {line}" in (after / "compared-with-before.html").read_text()


def test_the_same_load_is_not_mentioned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = (experiment(tmp_path / name, [HELD] * 10) for name in ("before", "after"))
    for one in (before, after):
        of_load(one, {"settings": {"rate": 300}, "digest": "a"})
    assert main(["compare", str(before), str(after)]) == 0
    assert "load of" not in capsys.readouterr().out


def test_newly_broken_promise_comes_first_and_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = experiment(tmp_path / "before", [HELD])
    after = experiment(tmp_path / "after", [LOST])
    assert main(["compare", str(before), str(after)]) == 2
    said = capsys.readouterr().out.splitlines()
    at = said.index("newly broken (only in the second, and not shown to be worse): 2")
    assert at < next(n for n, one in enumerate(said) if one.startswith("got worse"))
    assert any("confirmed-stays: in 0 of 1 run -> in 1 of 1 run" in one for one in said[at:])
    assert "NEWLY BROKEN" in (after / "compared-with-before.html").read_text()


@pytest.mark.parametrize(
    ("put", "reason"),
    [
        (os.mkfifo, "it is a FIFO (named pipe); a regular file was expected: name another file"),
        (lambda path: path.symlink_to("other.html"), "it is a symlink, which is not followed"),
    ],
)
@pytest.mark.parametrize("words", [("compare", "e", "f"), ("campaign", "layouts", ".")])
def test_an_output_that_is_no_regular_file_is_refused(
    words: tuple[str, ...],
    put: Callable[[Path], None],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("e", "f"):
        experiment(tmp_path / name, [HELD])
    put(tmp_path / "page.html")
    assert main([*words, "-o", "page.html"]) == 254
    assert f"--output: page.html: {reason}" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e", "f", "page.html"]
    assert not (tmp_path / "page.html").is_file()


def test_times_of_runs_are_compared_and_bounds_are_not_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = [Story().silence(0.1 + n / 100) for n in range(5)]
    never = [Story().silence(30.0 + n, censored=True) for n in range(5)]
    before = experiment(tmp_path / "before", quick)
    after = experiment(tmp_path / "after", never)
    assert main(["compare", str(before), str(after)]) == 1
    said = capsys.readouterr().out
    line = next(one for one in said.splitlines() if ", longest time without a confirm: " in one)
    assert "-> ≥ 32.0 s (5 runs, 5 did not recover); " in line
    assert "to any" in line


def test_no_difference_is_reported_with_what_it_does_not_exclude(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (experiment(tmp_path / name, [HELD] * 10) for name in ("one", "other"))
    assert main(["compare", str(one), str(other)]) == 0
    said = capsys.readouterr().out
    assert "no difference shown: " in said
    assert (
        "in 0 of 10 runs (95 % one-sided bound: at most 26 %) -> "
        "in 0 of 10 runs (95 % one-sided bound: at most 26 %); 0 % of runs (−28 % of runs to +28 %"
        in said
    )


def test_words_of_others_stay_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "<script>alert(1)</script>\x1b[31m"
    one = experiment(tmp_path / "one", [HELD] * 4)
    other = experiment(tmp_path / "other", [HELD] * 4)
    changed(one / "verdict.json", experiment=evil)
    page = tmp_path / "page.html"
    assert main(["compare", str(one), str(other), "-o", str(page)]) == 0
    assert "<script>" not in page.read_text()
    assert "\x1b" not in page.read_text()
    assert "\x1b" not in capsys.readouterr().out


def test_comparing_unrelated_experiments_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = experiment(tmp_path / "one", [HELD])
    other = experiment(tmp_path / "other", [HELD])
    document = json.loads((other / "verdict.json").read_text())
    for each in document["runs"]:
        each["cell"]["scenario"] = "mirror-crash"
    (other / "verdict.json").write_text(json.dumps(document))
    assert main(["compare", str(one), str(other)]) == 2
    assert "Nothing could be compared" in capsys.readouterr().out


def test_all_bad_files_are_reported_at_once_with_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = experiment(tmp_path / "one", [HELD])
    document = json.loads((one / "verdict.json").read_text())
    document["runs"][0]["cell"]["layout"] = 3
    del document["runs"][0]["claims"][0]["outcome"]
    (one / "verdict.json").write_text(json.dumps(document))
    assert main(["compare", str(one), str(tmp_path / "gone")]) == 254
    said = capsys.readouterr().err
    assert "verdict.json, runs.0.cell.layout: " in said
    assert "verdict.json, runs.0.claims.0.outcome: " in said
    assert "gone: cannot be read: No such file" in said


def test_unpacked_experiment_must_be_judged_before_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = experiment(tmp_path / "one", [HELD])
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "experiment.json").write_text("{}")
    assert main(["compare", str(one), str(tmp_path / "two")]) == 254
    said = capsys.readouterr().err
    assert f"cannot be read: it is not judged yet: mqproof analyse {tmp_path / 'two'}" in said


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "another"}', "[" * 100_000, "\x00"])
def test_file_without_a_verdict_is_bad_input_not_a_crash(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    other = experiment(tmp_path / "other", [HELD])
    assert main(["compare", str(tmp_path / "a.json"), str(other)]) == 254


@pytest.mark.parametrize("value", [-1.0, "long", None, float("nan")])
def test_a_time_that_is_none_is_bad_input(
    tmp_path: Path, value: object, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (experiment(tmp_path / name, [HELD]) for name in ("one", "other"))
    document = json.loads((one / "verdict.json").read_text())
    document["runs"][0]["summary"]["silence"]["maximum_s"] = value
    (one / "verdict.json").write_text(json.dumps(document))
    assert main(["compare", str(one), str(other)]) == 254
    assert "silence" in capsys.readouterr().err


def test_a_version_that_is_not_known_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (experiment(tmp_path / name, [HELD]) for name in ("one", "other"))
    changed(one / "verdict.json", version=99)
    assert main(["compare", str(one), str(other)]) == 254
    assert "version: 99 is not known; valid: 2" in capsys.readouterr().err


def test_an_experiment_is_not_compared_with_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = experiment(tmp_path / "one", [HELD])
    assert main(["compare", str(one), str(one / "verdict.json")]) == 254
    assert "named twice" in capsys.readouterr().err


def test_the_page_never_takes_the_place_of_what_it_compares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (experiment(tmp_path / name, [HELD]) for name in ("one", "other"))
    for output in (one / "verdict.json", other / "verdict.json", one, tmp_path / "no" / "x.html"):
        words = ["compare", str(one), str(other), "-o", str(output)]
        assert main(words) == 254, output
    assert json.loads((one / "verdict.json").read_text())["experiment"] == "one"


def test_unjudged_run_is_in_neither_number_and_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = experiment(tmp_path / "one", [HELD] * 4)
    runs = [summed(HELD, repeat=n) for n in (1, 2, 3)]
    runs.append(replace(runs[0], repeat=4, verdicts=(), summary=None, failure="no cluster"))
    (tmp_path / "other").mkdir()
    verdict.write(page_of(*runs, experiment="other"), tmp_path / "other")
    assert main(["compare", str(one), str(tmp_path / "other")]) == 0
    said = capsys.readouterr().out
    assert (
        "in 0 of 4 runs (95 % one-sided bound: at most 53 %) -> "
        "in 0 of 3 runs (95 % one-sided bound: at most 63 %)" in said
    )
    assert "not judged in 0 and 1 more runs" in said


def test_long_foreign_experiment_name_gives_a_valid_file_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = experiment(tmp_path / "before", [HELD])
    after = experiment(tmp_path / "after", [HELD])
    changed(before / "verdict.json", experiment="x" * 300)
    assert main(["compare", str(before), str(after)]) == 0
    assert (after / f"compared-with-{'x' * 64}.html").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"experiment": "x" * 1_000_000}, "experiment: must have at most 300"),
        ({"runs": [{"cell": 1}] * 10_000}, "more"),
    ],
)
def test_too_long_verdict_file_is_reported_in_few_lines(
    values: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = experiment(tmp_path / "before", [HELD])
    after = experiment(tmp_path / "after", [HELD])
    changed(before / "verdict.json", **values)
    assert main(["compare", str(before), str(after)]) == 254
    said = capsys.readouterr().err
    assert message in said
    assert len(said) < 5_000


def test_a_page_that_cannot_be_written_there_is_reported_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = experiment(tmp_path / "before", [HELD])
    after = experiment(tmp_path / "after", [HELD])
    words = ["compare", str(before), str(after), "-o", str(tmp_path / ("x" * 300))]
    assert main(words) == 254
    assert "--output: " in capsys.readouterr().err


def test_other_versions_of_the_brokers_stand_on_terminal_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name, version in (("old", "4.0.5"), ("new", "4.3.6")):
        runs = [replace(summed(HELD, name="r1"), brokers=f"rabbitmq {version}")]
        (tmp_path / name).mkdir()
        verdict.write(page_of(*runs, experiment=name), tmp_path / name)
        paths.append(str(tmp_path / name))
    assert main(["compare", *paths]) == 0
    change = "rabbitmq 4.0.5 → rabbitmq 4.3.6"
    assert change in capsys.readouterr().out
    assert change in (tmp_path / "new" / "compared-with-old.html").read_text()


def test_another_image_of_the_user_stands_on_terminal_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name, digest in (("old", "sha256:1"), ("new", "sha256:2")):
        origin = f"user's image mine:1 {digest}"
        runs = [replace(summed(HELD, name="r1"), brokers="rabbitmq 4.1.0", origin=origin)]
        (tmp_path / name).mkdir()
        verdict.write(page_of(*runs, experiment=name), tmp_path / name)
        paths.append(str(tmp_path / name))
    assert main(["compare", *paths]) == 0
    output = capsys.readouterr().out
    assert "user's image mine:1 sha256:1 → user's image mine:1 sha256:2" in output
    assert "version of the brokers" not in output
    page = (tmp_path / "new" / "compared-with-old.html").read_text()
    assert "Image or build of the brokers of" in page
    assert "mine:1 sha256:2" in page
