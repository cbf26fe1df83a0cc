"""The command line: what it asks of the pipeline, and the exit code of every ending."""

import errno
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.cleanup.heal import EVERYBODY, Chosen
from harness.cli import main
from harness.cluster.port import DeployError
from harness.judging.exits import Judge
from harness.judging.own_claims import OwnClaims
from harness.judging.result import Report
from harness.pipeline.port import RunOptions
from harness.plan.bound import Bound
from harness.plan.clients.registry import OURS
from harness.plan.model import Experiment
from harness.plan.problems import Problem
from harness.report.display import Display
from harness.run.folder_lock import alone, at_work
from harness.systems import catalogue
from spark_analysis.schema.place import HERE, Place
from tests.rigs.runs.findings import Story
from tests.rigs.runs.reports import report, run
from tests.rigs.runs.stored import stored

ROOT = Path(__file__).parents[2]


class FakePipeline:
    """A pipeline that starts nothing: it ends as scripted, and records its calls."""

    def __init__(self, ending: Callable[[], Report]) -> None:
        self.ending = ending
        self.started: list[tuple[Experiment, RunOptions]] = []
        self.analysed: list[tuple[list[Path], Path, Judge | None]] = []
        self.built: list[tuple[str, ...]] = []
        self.built_versions: tuple[str, ...] = ()
        self.brought: list[tuple[str, Path, Place]] = []
        self.resealed = False
        self.where = HERE
        self.healing = (EVERYBODY, False)
        self.well = True

    def run(self, experiment: Experiment, options: RunOptions, show: Display) -> Report:
        show.message("it runs")
        self.started.append((experiment, options))
        return self.ending()

    def bring(self, wanted: Mapping[str, Path], where: Place, show: Display) -> None:
        show.message("it brings")
        for url, folder in wanted.items():
            self.brought.append((url, folder, where))
            stored(folder)

    def analyse(
        self,
        folders: Sequence[Path],
        into: Path,
        judge: Judge | None,
        show: Display,
        reseal: bool = False,
        where: Place = HERE,
        claims: OwnClaims | None = None,
    ) -> Report:
        show.message("it analyses")
        self.resealed = reseal
        self.where = where
        self.analysed.append((list(folders), into, judge))
        return self.ending()

    def heal(self, show: Display, chosen: Chosen = EVERYBODY, dry: bool = False) -> bool:
        show.message("healed")
        self.healing = (chosen, dry)
        return self.well

    def build(
        self, systems: tuple[str, ...], show: Display, versions: tuple[str, ...] = ()
    ) -> None:
        self.built.append(systems)
        self.built_versions = versions

    def doctor(self, show: Display) -> bool:
        show.message("looked")
        return self.well


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*words: str, ending: Callable[[], Report] | None = None) -> tuple[int, FakePipeline]:
    pipeline = FakePipeline(ending or (lambda: report(run(Story()))))
    return main(words, lambda: pipeline), pipeline


def passing() -> Report:
    verdicts = tuple(v for v in run(Story()).verdicts if v.outcome == "PASS")
    return report(run(Story(), verdicts=verdicts))


def ends_with(error: BaseException) -> Callable[[], Report]:
    def ending() -> Report:
        raise error

    return ending


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (passing, 0),
        (lambda: report(run(Story())), 0),
        (lambda: report(run(Story().count("lost", "replicated", 1))), 1),
        (lambda: report(run(Story().unverified("no"))), 2),
        (lambda: report(), 2),
        (lambda: report(run(Story()), judge=Judge.EXPECTATIONS), 0),
        (lambda: report(run(Story(mirrors_at_fault=0)), judge=Judge.EXPECTATIONS), 1),
        (lambda: report(run(Story().unverified("no")), judge=Judge.EXPECTATIONS), 2),
        (lambda: report(run(Story()), interrupted=True), 130),
        (lambda: report(run(Story()), refused=(Problem("pika", "it counts nothing"),)), 254),
        (ends_with(KeyboardInterrupt()), 130),
        (ends_with(DeployError("Docker does not answer")), 2),
        (ends_with(RuntimeError("boom")), 255),
    ],
)
def test_exit_codes_of_a_run(ending: Callable[[], Report], code: int) -> None:
    assert call("run", "master-crash", ending=ending)[0] == code


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("run",),
        ("fly",),
        ("run", "master-crash", "--repeats", "many"),
        ("run", "master-crash", "--judge", "taste"),
        ("run", "master-crash", "--no-such-flag"),
        ("run", "master-crsh"),
        ("run", "no/such/file.toml"),
        ("run", "master-crash", "--system", "kafka"),
        ("run", "master-crash", "--layout", "no/such.toml"),
        ("run", "master-crash", "--repeats", "0"),
        ("list", "weather"),
        ("build", "--system", "kafka"),
        ("analyse", "no-such-folder"),
        ("analyse", "."),
        ("new", "scenario", "Not A Name"),
        ("new", "scenario", "../elsewhere"),
    ],
)
def test_bad_input_is_254_and_starts_nothing(words: tuple[str, ...]) -> None:
    code, pipeline = call(*words)
    assert code == 254
    assert not (pipeline.started or pipeline.analysed or pipeline.built)


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("new", "--help")])
def test_help_is_no_error(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*words)[0] == 0
    assert "Usage" in capsys.readouterr().out


def test_all_bad_words_are_reported_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = call("run", "master-crsh", "--system", "kafka", "--layout", "al-automatic")
    assert code == 254
    said = capsys.readouterr().err
    assert "did you mean 'master-crash'?" in said
    assert "there is no system 'kafka'" in said
    assert "did you mean 'all-automatic'?" in said


def test_a_mistake_in_a_file_is_reported_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call("new", "scenario", "mine")
    path = tmp_path / "mine.toml"
    path.write_text(path.read_text().replace('kind = "kill"', 'kind = "kil"'))
    capsys.readouterr()
    assert call("run", "mine.toml")[0] == 254
    said = capsys.readouterr().err
    assert "mine.toml, line " in said
    assert "did you mean 'kill'?; valid: kill | stop | freeze | hang" in said


def test_a_crash_is_short_and_leaves_its_traceback_in_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("run", "master-crash", ending=ends_with(RuntimeError("boom")))[0] == 255
    said = capsys.readouterr().err
    assert "RuntimeError: boom" in said
    assert "Traceback" not in said
    (path,) = (tmp_path / "results").glob("crash-*.txt")
    assert path.name in said
    assert "Traceback" in path.read_text()


@pytest.mark.parametrize(
    "number",
    [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, errno.ELOOP, errno.ENOTDIR, errno.EAGAIN],
)
def test_a_disk_error_is_no_internal_error(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = OSError(number, os.strerror(number), "some/file")
    assert call("run", "master-crash", ending=ends_with(refusal))[0] == 2
    assert f"nothing was judged: some/file: {os.strerror(number)}" in capsys.readouterr().err
    assert list(tmp_path.rglob("crash-*")) == []


def test_a_full_disk_keeps_no_empty_file_of_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, *_: object, **__: object) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(Path, "write_text", full)
    assert call("run", "master-crash", ending=ends_with(RuntimeError("boom")))[0] == 255
    assert "Traceback" in capsys.readouterr().err, "it goes to stderr where no file takes it"
    assert list(tmp_path.rglob("crash-*")) == []


def test_two_analyses_of_one_experiment_are_distinguished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stored(tmp_path / "e")
    with alone([folder]):
        code, pipeline = call("analyse", str(folder), ending=passing)
        assert (code, pipeline.analysed) == (254, [])
        assert call("pack", str(folder), "-o", "e.tar.xz")[0] == 254
    said = capsys.readouterr().err
    assert said.count(f"{folder}: another mqproof (process {os.getpid()}) judges it now") == 2
    assert call("analyse", str(folder), ending=passing)[0] == 0


def test_crash_without_writable_results_names_where_the_trace_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ending() -> Report:
        (tmp_path / "results").write_text("a file, no folder")
        raise RuntimeError("boom")

    assert call("run", "master-crash", ending=ending)[0] == 255
    path = Path(capsys.readouterr().err.strip().rpartition(" ")[2])
    assert path.is_file()
    path.unlink()


def test_flags_become_an_experiment_and_options(tmp_path: Path) -> None:
    _, pipeline = call(
        *("run", "master-crash", "cut-one-node", "--system", "rabbitmq-mirrored"),
        *("--layout", "all-automatic@T=60", "--layout", "unmirrored", "--client", "pika"),
        *("--deployment", "compose", "--repeats", "2", "--seed", "7"),
        *("--results", "elsewhere", "--judge", "expectations", "--keep"),
    )
    ((experiment, options),) = pipeline.started
    assert experiment.seed == 7
    assert len(experiment.runs) == 8
    assert {one.layout.label for one in experiment.runs} == {
        "all-automatic@T=60",
        "unmirrored@T=10",
    }
    assert options == RunOptions(
        Path("elsewhere"),
        Judge.EXPECTATIONS,
        keep=True,
        replay=(
            "mqproof run master-crash cut-one-node --system rabbitmq-mirrored "
            "--layout all-automatic@T=60 --layout unmirrored --client pika --deployment compose "
            "--repeats 2 --judge expectations --seed 7"
        ),
    )


def test_runs_played_together_are_replayed_together() -> None:
    clients = ("--client", "rocketmq-java-5.3.3", "--client", "rocketmq-java-4.9.8")
    _, first = call("run", "master-crash", "--system", "rocketmq-2m2s", *clients, "--together")
    ((experiment, options),) = first.started
    assert "--together" in options.replay.split()
    _, second = call(*options.replay.split()[1:])
    ((again, _),) = second.started
    assert [len(group) for group in again.groups] == [len(experiment.runs)] == [2]
    assert [one.seed for one in again.runs] == [one.seed for one in experiment.runs]


def test_the_replay_command_makes_the_same_choices() -> None:
    _, first = call("run", "master-crash")
    ((experiment, options),) = first.started
    _, second = call(*options.replay.split()[1:])
    ((again, _),) = second.started
    assert [one.seed for one in again.runs] == [one.seed for one in experiment.runs]
    assert again.runs[0].name != experiment.runs[0].name


def own_layout(file: str, name: str, *changes: tuple[str, str]) -> None:
    text = (ROOT / "compose/rabbitmq-mirrored/layouts/all-automatic.toml").read_text()
    text = text.replace('name = "all-automatic"', f'name = "{name}"')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path(file).write_text(text)


def test_bound_plans_the_needed_and_the_spare_runs() -> None:
    _, pipeline = call("run", "master-crash", "--bound", "10%")
    ((experiment, options),) = pipeline.started
    assert [one.repeat for one in experiment.runs] == list(range(1, 35))
    assert options.bound == Bound(0.1)
    assert "--bound 10%" in options.replay
    assert "--repeats" not in options.replay


def test_runs_and_time_of_a_bound_are_reported_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, pipeline = call("run", "master-crash", "--bound", "10%")
    assert "29 runs were judged without; 5 more at most" in capsys.readouterr().out
    code, pipeline = call("run", "master-crash", "--bound", "10%", "--dry-run")
    said = capsys.readouterr().out
    assert (code, pipeline.started) == (0, [])
    assert "34 runs at most" in said
    assert "load and settle of 29 runs: " in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bound", "10%", "--repeats", "1"), "leave --repeats out"),
        (("--bound", "0%"), "a share of runs above 0 % and below 100 %"),
        (("--bound", "100%"), "a share of runs above 0 % and below 100 %"),
        (("--bound", "ten"), "'ten' is not a share"),
        (("--bound", "nan"), "'nan' is not a share"),
        (("--bound", ""), "is given with nothing"),
        (("--bound", "0.1%"), "takes 2,995 runs, and up to 599 more; a cell has 1,000 at most"),
    ],
)
def test_a_bound_that_cannot_be_is_bad_input(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, pipeline = call("run", "master-crash", *words)
    assert (code, pipeline.started) == (254, [])
    assert said in capsys.readouterr().err


def test_user_layout_runs_beside_built_in_ones() -> None:
    own_layout("mine.toml", "mine", ("detection_timeout_s = 10", "detection_timeout_s = 20"))
    _, pipeline = call(
        "run", "master-crash", "--layout", "mine.toml@T=10", "--layout", "exactly-2"
    )
    ((experiment, _),) = pipeline.started
    assert {(one.layout.label, one.layout.detection_timeout_s) for one in experiment.runs} == {
        ("mine@T=10", 20),
        ("exactly-2@T=10", 10),
    }


@pytest.mark.parametrize("beside", [(), ("--layout", "all-automatic")])
def test_user_layout_never_replaces_a_built_in_one(
    beside: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    own_layout("mine.toml", "all-automatic")
    code, pipeline = call("run", "master-crash", "--layout", "mine.toml@T=10", *beside)
    assert (code, pipeline.started) == (254, [])
    said = capsys.readouterr().err
    assert "mine.toml: 'all-automatic' is the name of a built-in layout" in said


def test_two_layouts_of_the_users_own_need_two_names(capsys: pytest.CaptureFixture[str]) -> None:
    own_layout("one.toml", "mine")
    own_layout("two.toml", "mine", ("pause_minority", "ignore"))
    words = ("run", "master-crash", "--layout", "one.toml@T=10", "--layout")
    assert call(*words, "two.toml@T=10")[0] == 254
    assert "two.toml: 'mine' is the layout of one.toml, too" in capsys.readouterr().err
    assert call(*words, "one.toml@T=60", ending=passing)[0] == 0


def test_all_mistakes_of_arguments_scenarios_and_layouts_are_reported_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own_layout("one.toml", "one", ("copies = 3", "copies = 2"))
    own_layout("two.toml", "two", ("detection_timeout_s = 10", "detection_timeout_s = inf"))
    Path("three.toml").write_text("name = ")
    Path("mine.toml").write_text("title = 3")
    files = [word for n in ("one", "two", "three", "four") for word in ("--layout", f"{n}.toml")]
    flags = ("--misbehave", "dorp:200%", "--repeats", "0", "--client", "pica", "--deployment", "")
    code, pipeline = call("run", "mine.toml", "master-crsh", *files, *flags)
    assert (code, pipeline.started) == (254, [])
    said = capsys.readouterr().err
    for words in (
        "mine.toml, line 1, title: must be text, not 3",
        "did you mean 'master-crash'?",
        "one.toml, line 3, copies: copies = 2, but the policy 'mqproof' says all on 3 hosts",
        "two.toml, line 29, [profiles.T=10], detection_timeout_s: must be a finite number",
        "three.toml: this is not TOML: ",
        "--layout: there is no layout file four.toml",
        "--misbehave: there is no misbehaviour 'dorp'; did you mean 'drop'?",
        "--misbehave: the share is a number above 0 and at most 1 (or 100%), not '200%'",
        "--repeats: must be from 1 to 1000",
        "there is no client 'pica'; did you mean 'pika'?",
        "--deployment: is given with nothing",
    ):
        assert words in said, said


def test_a_mistake_that_two_systems_see_is_reported_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own_layout("one.toml", "one", ("copies = 3", "copies = 2"))
    systems = ("--system", "rabbitmq-mirrored", "--system", "reference-mirrored")
    assert call("run", "master-crash", "--layout", "one.toml", *systems)[0] == 254
    assert capsys.readouterr().err.count("copies = 2, but") == 1


def test_a_dry_run_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, pipeline = call("run", "client-link-hang", "--dry-run")
    assert (code, pipeline.started) == (0, [])
    said = capsys.readouterr().out
    assert "hang master of orders, links of all clients" in said
    assert "for 28 s" in said


def test_dry_run_refuses_too_large_bodies_and_names_the_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = 'title = "big"\n[workload]\nqueues = ["q"]\npublishers = 1\nconsumers = 1\n'
    (tmp_path / "big.toml").write_text(f"{scenario}rate = 10\nbody_bytes = 4_194_305\n")
    words = ("run", "big.toml", "--system", "rocketmq-2m2s", "--layout", "colocated@patient")
    for client, limit in (("rocketmq-java-5.3.3", 4_194_304), ("rocketmq-native", 4_128_768)):
        code, pipeline = call(*words, "--client", client, "--dry-run")
        assert (code, pipeline.started) == (254, [])
        message = f"{client} takes bodies of at most {limit} bytes, not 4194305"
        assert message in " ".join(capsys.readouterr().err.split())


def test_json_goes_to_stdout_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "master-crash", "--json", ending=passing)[0] == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["exit_code"] == 0
    assert "it runs" in said.err


def test_verdict_json_is_written_into_the_experiments_folder(tmp_path: Path) -> None:
    call("run", "master-crash", ending=lambda: report(run(Story()), folder=tmp_path))
    assert json.loads((tmp_path / "verdict.json").read_text())["exit_code"] == 0


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_page_and_junit_are_written_alongside_and_their_paths_reported(
    tmp_path: Path, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    call("run", "master-crash", *flags, ending=lambda: report(run(Story()), folder=tmp_path))
    out, err = capsys.readouterr()
    output = err if flags else out
    for name in ("verdict.json", "report.html", "junit.xml"):
        assert (tmp_path / name).stat().st_size
        assert str(tmp_path / name) in output
    if flags:
        assert json.loads(out)["format"] == "mqproof verdict"


def test_unwritable_file_hides_neither_the_verdict_nor_other_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "junit.xml").mkdir()

    def ending() -> Report:
        return report(run(Story()), folder=tmp_path)

    assert call("run", "master-crash", ending=ending)[0] == 2, "not all that was decided is there"
    output = capsys.readouterr().out
    assert "junit.xml was not written: " in output
    assert (tmp_path / "report.html").is_file()
    assert "replay: mqproof run master-crash" in output


def test_analyse_judges_a_stored_experiment(tmp_path: Path) -> None:
    folder = stored(tmp_path / "e")
    code, pipeline = call("analyse", str(folder), "--judge", "expectations", ending=passing)
    assert (code, pipeline.analysed) == (0, [([folder], folder, Judge.EXPECTATIONS)])
    assert call("analyse", str(folder), ending=passing)[1].analysed == [([folder], folder, None)]


def test_unfinished_experiment_is_judged_neither_alone_nor_with_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    over, going = stored(tmp_path / "over"), stored(tmp_path / "going")
    with at_work(going):
        code, pipeline = call("analyse", str(over), str(going))
        assert (code, pipeline.analysed) == (254, [])
        assert f"{going}: its runs still go on (process " in capsys.readouterr().err
    assert call("analyse", str(going), ending=passing)[0] == 0


def test_analyse_merges_several_experiments_into_one_separate_report(
    tmp_path: Path,
) -> None:
    folders = [stored(tmp_path / "a"), stored(tmp_path / "b")]
    words = [str(folder) for folder in folders]
    code, pipeline = call("analyse", *words, "--results", "nights", ending=passing)
    ((read, into, judge),) = pipeline.analysed
    assert (code, read, judge) == (0, folders, None)
    assert into.parent == Path("nights")
    assert into.name.endswith("-merged")


def test_stored_experiment_is_copied_to_the_results_and_judged(
    tmp_path: Path,
) -> None:
    here, url = stored(tmp_path / "here"), "hdfs://name-node:9000/nights/20261126-1"
    words = (str(here), f"{url}/", "--results", "nights", "--master", "local[2]")
    code, pipeline = call("analyse", *words, ending=passing)
    place = Path("nights") / "20261126-1"
    assert (code, pipeline.brought) == (0, [(f"{url}/", place, Place("local[2]"))])
    ((folders, into, _),) = pipeline.analysed
    assert folders == [here, place]
    assert into.parent == Path("nights")


def test_a_copied_experiment_is_judged_where_it_is(tmp_path: Path) -> None:
    url = (tmp_path / "away" / "e").as_uri()
    assert call("analyse", url, ending=passing)[0] == 0
    code, pipeline = call("analyse", "results/e", ending=passing)
    assert (code, pipeline.brought) == (0, [])
    assert [into for _, into, _ in pipeline.analysed] == [Path("results/e")]


def test_everything_that_cannot_be_brought_is_named_before_anything_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path / "results" / "there")
    words = ("s3a://b/there", "s3a://b/one", "s3a://c/one", "s3a://", "s3a://b/..", "nowhere")
    code, pipeline = call("analyse", *words, "s3a://b/there")
    output = capsys.readouterr().err
    assert (code, pipeline.brought, pipeline.analysed) == (254, [], [])
    assert "DIR: 's3a://b/there' would be brought to results/there, which is there: " in output
    assert "DIR: 's3a://b/there' is named 2 times" in output
    assert "DIR: 's3a://c/one' and another would both be brought to results/one" in output
    assert "DIR: 's3a://' ends with no name of an experiment" in output
    assert "DIR: 's3a://b/..' ends with no name of an experiment" in output
    assert "DIR: there is no folder nowhere" in output


def test_every_folder_that_is_no_experiment_is_named_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = stored(tmp_path / "good")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "experiment.json").write_text('{"name": ')
    (tmp_path / "empty").mkdir()
    words = [str(good), "nowhere", "torn", "empty", str(good)]
    code, pipeline = call("analyse", *words)
    output = capsys.readouterr().err
    assert (code, pipeline.analysed) == (254, [])
    assert "DIR: there is no folder nowhere" in output
    assert "DIR: torn/experiment.json cannot be read: " in output
    assert "DIR: empty is no experiment's folder: no experiment.json" in output
    assert f"DIR: {good} is named 2 times" in output


@pytest.mark.parametrize("command", ["heal", "doctor"])
def test_an_unmet_requirement_exits_with_2(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline = FakePipeline(passing)
    assert main([command], lambda: pipeline) == 0
    pipeline.well = False
    assert main([command], lambda: pipeline) == 2
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "what"),
    [("build", "not every image was built"), ("run master-crash", "nothing was judged")],
)
def test_without_an_engine_each_command_names_what_it_skipped(
    command: str,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fail = ends_with(DeployError("no Docker engine: none runs here; start Docker"))
    monkeypatch.setattr(FakePipeline, "build", lambda *_: fail())
    assert call(*command.split(), ending=fail)[0] == 2
    assert f"mqproof: {what}: no Docker engine: none runs here" in capsys.readouterr().err


def test_a_night_names_its_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "20261125-220000-00aa"
    code, pipeline = call("run", "master-crash", "--name", name, ending=passing)
    assert (code, pipeline.started[0][0].name) == (0, name)
    (tmp_path / "results" / name).mkdir(parents=True)
    for wrong, reason in (
        (name, f"--name: results/{name} is already there"),
        ("../mine", "--name: '../mine' is none; expected: YYYYMMDD-HHMMSS-XXXX"),
    ):
        code, pipeline = call("run", "master-crash", "--name", wrong)
        assert (code, pipeline.started) == (254, [])
        assert reason in capsys.readouterr().err


def test_an_experiment_without_a_name_is_not_every_experiment(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pipeline = FakePipeline(passing)
    assert main(["heal", "--experiment", ""], lambda: pipeline) == 254
    output = capsys.readouterr()
    assert "--experiment: is given with nothing" in output.err
    assert "healed" not in output.out


def test_heal_passes_on_the_selection_and_dry_run() -> None:
    _, pipeline = call("heal", "--results", "there", "--experiment", "e", "--dry-run")
    assert pipeline.healing == (Chosen(Path("there"), "e"), True)
    assert call("heal")[1].healing == (EVERYBODY, False)


def test_build_without_a_choice_builds_for_all() -> None:
    assert call("build")[1].built == [catalogue.system_names()]


def test_list_says_of_each_client_how_it_is_got(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert call("list", "clients")[0] == 0
    said = capsys.readouterr().out
    assert all(client.how_to_get in said for client in OURS.values())


@pytest.mark.parametrize(
    ("topic", "word"),
    [
        ("systems", "rabbitmq-mirrored"),
        ("layouts", "  exactly-2 "),
        ("scenarios", "cut-one-node"),
        ("faults", "partition"),
        ("clients", "pika"),
        ("claims", "unnotified-consumer-waits-forever"),
        ("facts", "fault_kind"),
    ],
)
def test_list_shows_names_as_the_command_line_takes_them(
    topic: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("list", topic)[0] == 0
    assert word in capsys.readouterr().out


def test_a_new_scenario_runs_at_once_and_is_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("new", "scenario", "mine")[0] == 0
    text = (tmp_path / "mine.toml").read_text()
    assert "# " in text
    assert "mqproof run mine.toml --dry-run" in text
    code, pipeline = call("run", "mine.toml", ending=passing)
    assert (code, pipeline.started[0][0].runs[0].scenario.name) == (0, "mine")
    assert call("new", "scenario", "mine")[0] == 254
    assert "is already there" in capsys.readouterr().err


@pytest.mark.slow
def test_the_process_itself_ends_with_these_codes() -> None:
    def ended(*words: str) -> int:
        return subprocess.run(
            [sys.executable, "-m", "harness", *words], cwd=ROOT, capture_output=True, check=False
        ).returncode

    assert ended("--help") == 0
    assert ended("run", "nothing-like-it") == 254


def test_demo_is_judged_against_its_expected_results() -> None:
    _, pipeline = call("demo", "--seed", "7")
    experiment, options = pipeline.started[0]
    assert options.judge is Judge.EXPECTATIONS
    assert options.replay == "mqproof demo --seed 7"
    assert {plan.deployment for plan in experiment.runs} == {"local"}


def test_a_reference_cluster_of_impossible_size_is_bad_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _ = call("reference", "mirrored", "--nodes", "0")
    assert code == 254
    assert "--nodes" in capsys.readouterr().err


def test_run_reaches_its_verdict_without_a_reader_of_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as unread, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", unread)
        patch.setattr(sys, "stderr", unread)
        code, pipeline = call("run", "master-crash", ending=passing)
    assert (code, len(pipeline.started)) == (0, 1)


def test_analyse_reseals_only_on_request(tmp_path: Path) -> None:
    folder = stored(tmp_path / "e")
    assert call("analyse", str(folder), ending=passing)[1].resealed is False
    assert call("analyse", str(folder), "--reseal", ending=passing)[1].resealed is True


# --- what a command line may be -----------------------------------------------------------------


def test_an_impossibly_long_word_is_cut_and_its_length_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "x" * 1_000_000
    assert call("run", "master-crash", "--layout", long)[0] == 254
    said = capsys.readouterr().err
    message = f"word 4: '{'x' * 40}'... (1,000,000 characters) is longer than 4,096 characters"
    assert said == f"mqproof: bad input:\n{message}\n"
    assert call("run", *["a"] * 2000)[0] == 254
    assert "2,001 words are more than a command has: 1,000" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("run", "master-crash", "--layout"),
        ("run", "master-crash", "--seed"),
        ("run", "master-crash", "--repeats"),
        ("run", "master-crash", "--judge"),
        ("run", "master-crash", "--bound"),
        ("run", "master-crash", "--misbehave"),
        ("run", "master-crash", "--deployment"),
        ("run", "master-crash", "--topology"),
        ("run", "master-crash", "--results"),
        ("run", "master-crash"),
        ("list",),
        ("new", "scenario"),
        ("judge", "x", "--declare"),
        ("compare", "x"),
        ("pack", "x", "-o"),
        ("analyse",),
        (),
    ],
)
@pytest.mark.parametrize("word", ["9" * 4000, "y" * 4000])
def test_a_value_is_echoed_in_a_few_words(
    words: tuple[str, ...], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*words, word)[0] == 254
    said = capsys.readouterr().err
    assert word[:500] not in said
    # Where a number is asked for, what was given is not echoed at all.
    numbers = "Input should" in said or "from 1 to 1000" in said
    assert numbers or re.search(r"4,0\d\d characters", said)


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("--seed", "7"),
        ("--repeats", "2"),
        ("--deployment", "compose"),
        ("--results", "results"),
        ("--judge", "claims"),
        ("--bound", "10%"),
        ("--misbehave", "drop"),
        ("--topology", "x.toml"),
    ],
)
def test_an_option_of_one_value_is_said_once(
    option: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, pipeline = call("run", "master-crash", option, word, f"{option}={word}")
    assert (code, pipeline.started) == (254, [])
    assert capsys.readouterr().err == (
        f"mqproof: bad input:\n{option}: is given 2 times; give it once\n"
    )


def test_a_plan_is_no_verdict_to_write_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "master-crash", "--dry-run", "--json")[0] == 254
    output = capsys.readouterr()
    assert "--json: --dry-run has no verdict" in output.err
    assert output.out == ""


def test_every_option_that_is_said_again_is_reported_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ("--json", "--keep", "--all", "--dry-run")
    assert call("run", "master-crash", *flags, *flags, *flags)[0] == 254
    said = capsys.readouterr().err.splitlines()
    assert said[1:] == [f"{flag}: is given 3 times; give it once" for flag in flags]
    assert call("reference", "mirrored", "--nodes", "3", "--nodes", "5")[0] == 254
    assert call("run", "--help", "--help")[0] == 0


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("SCENARIO", ("run", "master-crash", "cut-one-node", "master-crash")),
        ("--system", ("run", "master-crash", *["--system", "rabbitmq-mirrored"] * 2)),
        ("--layout", ("run", "master-crash", *["--layout", "exactly-2@T=10"] * 2)),
        ("--client", ("run", "master-crash", *["--client", "pika"] * 2)),
        ("--system", ("build", *["--system", "rabbitmq-mirrored"] * 2)),
        ("FILE", ("judge", "h.json", "h.json")),
    ],
)
def test_a_choice_named_twice_is_reported_like_one(
    place: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, pipeline = call(*words)
    assert (code, pipeline.started, pipeline.built) == (254, [], [])
    assert f"{place}: {words[-1]!r} is named twice" in capsys.readouterr().err


@pytest.mark.parametrize("seed", ["-1", str(2**63), "9" * 400])
def test_a_seed_has_63_bits(seed: str) -> None:
    assert call("run", "master-crash", "--dry-run", "--seed", seed)[0] == 254
    assert call("run", "master-crash", "--dry-run", "--seed", str(2**63 - 1))[0] == 0


def test_an_experiment_has_so_many_runs_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "master-crash", "--layout", "*", "--repeats", "1000", "--dry-run")[0] == 254
    assert "runs are more than one experiment has: 10,000 at most" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "master-crash", "--results", "file/x"), "--results: file/x: "),
        (("demo", "--results", "file"), "--results: file: "),
        (("run", "master-crash", "--results", "x" * 300), "File name too long"),
        (("analyse", "one", "two", "--results", "file"), "--results: file: "),
        (("analyse", "x" * 300), "there is no folder"),
        (("pack", "one", "-o", f"{'x' * 300}.tar.xz"), "File name too long"),
        (("run", "master-crash", "--layout", f"{'x' * 300}.toml"), "there is no layout file"),
        (("run", f"{'x' * 300}.toml"), "cannot be read: File name too long"),
        (("run", "master-crash", "--topology", "x" * 300), "cannot be read: File name too long"),
    ],
)
def test_impossible_path_is_reported_before_anything_starts(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    for name in ("one", "two"):
        stored(tmp_path / name, name=name)
    code, pipeline = call(*words)
    assert (code, pipeline.started, pipeline.analysed) == (254, [], [])
    assert message in capsys.readouterr().err


def test_unwritable_file_is_reported_with_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refused)
    assert call("new", "scenario", "mine")[0] == 254
    assert "NAME: mine.toml cannot be written: Permission denied" in capsys.readouterr().err


def test_a_toml_of_100_mb_is_not_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "big.toml").open("wb") as file:
        file.truncate(100_000_000)
    for words in (("./big.toml",), ("master-crash", "--layout", "big.toml")):
        assert call("run", *words)[0] == 254
        assert "big.toml: cannot be read: it holds more than 1,048,576 bytes" in (
            capsys.readouterr().err
        )


WORKLOAD = (
    'title = "many"\n[workload]\nqueues = ["orders"]\npublishers = 1\nconsumers = 1\nrate = 10\n'
)


@pytest.mark.parametrize("count", [200, 10_000])
@pytest.mark.parametrize("opens", ["0 s", "{} s", "{} T"])
def test_ten_thousand_faults_are_answered_within_2_s(
    count: int, opens: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = '[[fault]]\nkind = "kill"\ntarget = "rmq1"\nopens = "{}"\nlasts = "1 s"\n'
    faults = "".join(fault.format(opens.format(2 * number)) for number in range(count))
    (tmp_path / "many.toml").write_text(WORKLOAD + faults)
    words = ("run", "./many.toml", "--dry-run")
    call(*words)  # what is read once in a process
    began_s = time.process_time()
    code = call(*words)[0]
    assert time.process_time() - began_s < 2.0
    assert code == (0 if count == 200 and opens != "0 s" else 254)
    captured = capsys.readouterr()
    assert len(captured.err) < 200_000


@pytest.mark.slow
def test_undecodable_name_is_reported_and_harms_nothing(tmp_path: Path) -> None:
    for words in ([b"run", b"\xff.toml"], [b"analyse", b"\x1b[2J\xe2\x80\xae\xff"]):
        done = subprocess.run(
            [sys.executable, "-m", "harness", *words],
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=60,
        )
        assert done.returncode == 254
        assert b"\\udcff" in done.stderr
        assert b"\x1b" not in done.stderr


@pytest.mark.slow
def test_a_terminal_with_few_characters_shows_everything() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "list", "claims", "--details"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        timeout=60,
    )
    assert done.returncode == 0
    assert rb"\u6982\u8ff0" in done.stdout


@pytest.mark.parametrize("value", ["nan", "inf", "1e9", "0"])
def test_a_silence_that_cannot_be_is_bad_input(value: str) -> None:
    assert call("reference", "mirrored", "--net-ticktime", value)[0] == 254
