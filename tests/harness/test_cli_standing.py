"""`--on-standing`: which clusters a run finds, and what keeps it from them."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy import users_images
from harness.deploy.by_hand_files import DOCUMENT, ByHandCluster, ByHandClusters, save, state
from harness.deploy.by_hand_layouts import EVERY_QUEUE
from harness.deploy.owner import owner
from harness.outside.locks import LockAnswer, lock
from harness.pipeline import stages
from harness.plan.clients import registry as clients
from harness.plan.model import Experiment, Layout
from harness.plan.problems import PlanError
from harness.request import standing
from harness.request.run_request import systems
from harness.systems.files import shipped
from tests.harness.test_cli import call, passing
from tests.rigs.runs.displays import Heard
from tests.rigs.runs.reports import report

MIRRORED, QUORUM = "rabbitmq-mirrored", "rabbitmq-quorum"
START = ("run", "master-crash", "--on-standing")


def cluster(system: str, word: str) -> ByHandCluster:
    return ByHandCluster(system, word, "A title", "mqproof-1", "127.0.0.1:1", (), "", word)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a living keeper."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder = state() / "ab12"
    folder.mkdir(parents=True)
    with ExitStack() as held:
        assert lock(folder, held, wait=False) is LockAnswer.TAKEN
        yield folder


def keeps(folder: Path, *clusters: ByHandCluster, running: bool = True) -> None:
    save(folder, ByHandClusters(owner(), "compose", running, clusters))


def refused() -> str:
    with pytest.raises(PlanError) as caught:
        standing.found(systems())
    return str(caught.value)


def test_a_run_is_planned_for_every_running_cluster(kept: Path) -> None:
    keeps(kept, cluster(MIRRORED, "exactly-2@T=60"), cluster(QUORUM, "three@T=10"))
    code, pipeline = call(*START, ending=passing)
    ((experiment, options),) = pipeline.started
    assert code == 0 and options.standing == kept
    assert "--on-standing" in options.replay
    assert [one.layout.label for one in experiment.runs] == ["exactly-2@T=60", "three@T=10"]
    assert {one.deployment for one in experiment.runs} == {"compose"}
    mirrored, _ = (one.layout for one in experiment.runs)
    assert [policy.pattern for policy in mirrored.policies] == [EVERY_QUEUE]


def test_every_cluster_of_a_system_is_played(kept: Path) -> None:
    words = ("three@T=10", "three@T=10+4.0.5")
    keeps(kept, *(cluster(QUORUM, word) for word in words), cluster(MIRRORED, "exactly-2@T=60"))
    _, pipeline = call(*START, ending=passing)
    ((experiment, _),) = pipeline.started
    assert {one.layout.label for one in experiment.runs} == {*words, "exactly-2@T=60"}
    layouts = standing.found(systems()).choices.layouts
    assert all(one.layout in layouts for one in experiment.runs)
    assert len({host.name for one in layouts for host in one.hosts}) == 9


def test_a_system_names_one_of_them(kept: Path) -> None:
    keeps(kept, cluster(MIRRORED, "exactly-2@T=60"), cluster(QUORUM, "three@T=10"))
    _, pipeline = call(*START, "--system", QUORUM, ending=passing)
    ((experiment, _),) = pipeline.started
    assert [one.system.name for one in experiment.runs] == [QUORUM]


def test_hosts_have_the_names_that_up_gave_them(kept: Path) -> None:
    colocated = "colocated@compressed"
    keeps(kept, cluster("rocketmq-2m2s", colocated), cluster("reference-2m2s", colocated))
    (first, *_), *_ = (one.hosts for one in standing.found(systems()).choices.layouts)
    assert first.name.startswith("rocketmq-2m2s-")


@pytest.mark.parametrize(
    ("flags", "places"),
    [
        (("--system", "reference-2m2s"), ["--system: there is no system 'reference-2m2s'"]),
        (
            ("--layout", "three", "--version", "4.0.5", "--image", "rabbitmq=x", "--together"),
            ["--layout: ", "--version: ", "--image: ", "--together: "],
        ),
        (
            ("--topology", "x.toml", "--deployment", "local", "--distribution", "x"),
            ["--topology: ", "--deployment: ", "--distribution: "],
        ),
        (("--keep", "--together"), ["--keep: ", "--together: "]),
        (("--keep",), ["--keep: the clusters run already: leave --keep out, or --on-standing"]),
    ],
)
def test_other_flags_are_bad_input_all_at_once(
    kept: Path,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    places: list[str],
) -> None:
    keeps(kept, cluster(QUORUM, "three@T=10"))
    code, pipeline = call(*START, *flags)
    output = " ".join(capsys.readouterr().err.split())
    assert (code, pipeline.started) == (254, [])
    assert all(place in output for place in places), output


def checked(kept: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[str, list[str]]:
    """Return what the pipeline reports if each cluster refuses, and what it prepared."""
    _, pipeline = call(*START, *words, ending=passing)
    ((experiment, options),) = pipeline.started
    prepared: list[str] = []

    async def refusing(folder: Path, layout: Layout) -> tuple[str, ...]:
        assert folder == kept
        return (f"{layout.system} is not clean",)

    def prepare(experiment: Experiment, *_: object) -> None:
        prepared.append(experiment.name)

    monkeypatch.setattr(stages, "doubts", refusing)
    monkeypatch.setattr(users_images, "prepare", prepare)
    monkeypatch.setattr(stages, "_carry_out", lambda *_: (report(), ()))
    with pytest.raises(PlanError) as caught:
        stages.run(experiment, options, Heard())
    monkeypatch.setattr(stages, "_check_standing", lambda *_: None)
    stages.run(experiment, options, Heard())
    return str(caught.value), prepared


def test_every_cluster_is_checked_whatever_its_label(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = "rocketmq-2m2s", "reference-2m2s"
    keeps(kept, *(cluster(one, "colocated@compressed") for one in both))
    text, prepared = checked(kept, monkeypatch)
    assert all(f"{one} is not clean" in text for one in both), text
    assert prepared == [], "images of clusters that run are not prepared"


def test_a_scenario_that_leaves_hosts_dead_is_refused(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeps(kept, cluster(MIRRORED, "exactly-2@T=60"))
    code, pipeline = call("run", "master-lost", "--on-standing")
    assert (code, pipeline.started) == (254, [])
    output = " ".join(capsys.readouterr().err.split())
    assert "--on-standing: master-lost: fault 2 has `returns = false`" in output
    assert "what to do: leave --on-standing out" in output


def test_a_client_that_the_container_lacks_is_refused(
    kept: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = replace(clients.registry(), packages={"pika": "acme 1.0"})
    monkeypatch.setattr(standing, "registry", lambda: found)
    keeps(kept, cluster(MIRRORED, "exactly-2@T=60"))
    code, _ = call(*START, "--client", "pika")
    output = " ".join(capsys.readouterr().err.split())
    assert code == 254
    assert "--client 'pika': the workers' container of the running clusters" in output


def test_a_suite_brings_its_own_clusters(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keeps(kept, cluster(QUORUM, "three@T=10"))
    assert call("run", "incident", "--on-standing")[0] == 254
    assert "--on-standing: incident is a suite" in capsys.readouterr().err


def test_clusters_on_their_way_are_not_used(kept: Path) -> None:
    keeps(kept, running=False)
    assert "--on-standing: the clusters are still on their way (process" in refused()


def test_a_damaged_document_is_named(kept: Path) -> None:
    (kept / DOCUMENT).write_text("{")
    text = refused()
    assert DOCUMENT in text and "what to do: `mqproof down`, then `mqproof up`" in text


def test_a_layout_file_that_went_away_is_named(kept: Path) -> None:
    file = kept / "own.toml"
    text = (shipped(MIRRORED)() / "layouts" / "exactly-2.toml").read_text()
    file.write_text(text.replace('name = "exactly-2"', 'name = "own"'))
    keeps(kept, cluster(MIRRORED, str(file)))
    assert standing.found(systems()).systems == (MIRRORED,)
    file.unlink()
    assert f"{file}" in refused()


def test_a_dead_keeper_has_no_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert "--on-standing: no clusters by hand are running" in refused()
    (state() / "ab12").mkdir(parents=True)
    keeps(state() / "ab12", cluster(QUORUM, "three@T=10"))
    assert "ab12 is dead; what to do: `mqproof down`" in refused()
