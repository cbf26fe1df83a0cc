"""`--version` and `--image` on the command line of `run`."""

from pathlib import Path

import pytest

from tests.harness.test_cli import call, passing
from tests.rigs.clusters.topologies import START, text

QUORUM = ("run", "master-crash", "--system", "rabbitmq-quorum")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_two_versions_are_played_side_by_side_and_repeated_by_the_replay() -> None:
    versions = ("--version", "3.10.8", "--version", "4.0.5")
    code, pipeline = call(*QUORUM, *versions, ending=passing)
    ((experiment, options),) = pipeline.started
    assert code == 0
    assert [run.layout.label for run in experiment.runs] == ["three@T=60", "three@T=60+4.0.5"]
    assert "--version 3.10.8 --version 4.0.5" in options.replay


def test_mirrored_queues_in_version_4_are_refused_with_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("run", "master-crash", "--system", "rabbitmq-mirrored", "--version", "4.0.5")
    code, pipeline = call(*words)
    assert (code, pipeline.started) == (254, [])
    output = capsys.readouterr().err
    assert "RabbitMQ 4.0 removed mirrored queues" in output
    assert "use `--system rabbitmq-quorum`, or a version before 4.0" in output


def test_brokers_of_a_topology_file_have_the_version_that_they_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("staging.toml").write_text(text(START))
    words = ("--version", "4.0.5", "--image", "rabbitmq=mine:1")
    assert call("run", "master-freeze", "--topology", "staging.toml", *words)[0] == 254
    output = capsys.readouterr().err
    assert "--version: these brokers run already" in output
    assert "--image: these brokers run already" in output


def test_a_suite_brings_its_own_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "incident", "--version", "3.8.9")[0] == 254
    assert "--version: incident is a suite, which brings its own" in capsys.readouterr().err


def test_a_layout_file_with_an_image_is_played_in_it() -> None:
    Path("mine.toml").write_text(
        'like = "three"\nname = "mine"\ntitle = "t"\nimage = "rabbitmq:4.1-management"\n'
    )
    code, pipeline = call(*QUORUM, "--layout", "mine.toml", ending=passing)
    ((experiment, _),) = pipeline.started
    (run,) = experiment.runs
    assert code == 0
    assert run.layout.label == "mine@T=60+image"
    assert run.layout.image == "rabbitmq:4.1-management"


def test_images_of_other_versions_are_built_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("build", "--system", "rabbitmq-quorum")
    code, pipeline = call(*words, "--version", "4.0.5")
    assert (code, pipeline.built_versions) == (0, ("4.0.5",))
    assert call(*words, "--version", "4.0.4")[0] == 254
    said = capsys.readouterr().err
    assert "--version: no image of rabbitmq-quorum is known" in said
    assert "did you mean '4.0.5'" in said
    assert "`--image rabbitmq=IMAGE`" in said
    assert call(*words, "--version", "4.1.4")[0] == 254
    assert "did you mean" not in capsys.readouterr().err


def distribution(version: str) -> str:
    lib = Path("acme") / "lib"
    lib.mkdir(parents=True)
    for name in ("namesrv", "broker", "controller"):
        (lib / f"rocketmq-{name}-{version}.jar").write_text(name)
    return "acme"


def test_a_distribution_is_played_in_its_own_version() -> None:
    words = ("run", "master-crash", "--system", "rocketmq-2m2s")
    path = distribution("5.4.0")
    code, pipeline = call(*words, "--distribution", path, ending=passing)
    ((experiment, options),) = pipeline.started
    (run,) = experiment.runs
    assert code == 0
    assert run.layout.label == "colocated@compressed+distribution"
    assert run.layout.distribution == str(Path(path).absolute())
    assert run.layout.own is not None
    assert run.layout.own.describe()[0][1].startswith("RocketMQ 5.4.0")
    assert "--distribution acme" in options.replay


@pytest.mark.parametrize(
    ("system", "words", "texts"),
    [
        ("rocketmq-2m2s", ("nowhere",), ("nowhere: there is no such folder; expected: an",)),
        ("rocketmq-2m2s", ("",), ("--distribution: is given with nothing",)),
        ("rocketmq-dledger", ("acme",), ("acme: it holds 5.4.0: mqproof runs DLedger groups",)),
        ("rabbitmq-quorum", ("acme",), ("rabbitmq-quorum runs no distribution; what to do:",)),
        (
            "rocketmq-2m2s",
            ("acme", "--version", "5.4.0"),
            ("--version: the distribution's own version is read from it",),
        ),
        (
            "rocketmq-2m2s",
            ("acme", "--layout", "colocated@compressed+5.4.0"),
            ("--layout 'colocated@compressed+5.4.0': the distribution's own version is read",),
        ),
    ],
)
def test_a_distribution_that_cannot_be_played_is_refused(
    capsys: pytest.CaptureFixture[str], system: str, words: tuple[str, ...], texts: tuple[str, ...]
) -> None:
    distribution("5.4.0")
    code, pipeline = call("run", "master-crash", "--system", system, "--distribution", *words)
    assert (code, pipeline.started) == (254, [])
    output = " ".join(capsys.readouterr().err.split())
    assert all(text in output for text in texts), output
