"""`--topology` on the command line: what it stands in for, and what it does not go with."""

from pathlib import Path

import pytest

from harness.systems.topologies import read_topology
from tests.harness.test_cli import call, passing
from tests.rigs.clusters.external_rocketmq import text as rocketmq_text
from tests.rigs.clusters.topologies import FREEZE, START, text


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "swordfish")
    Path("staging.toml").write_text(text(START))


def test_a_topology_stands_in_for_system_layout_and_deployment() -> None:
    code, pipeline = call("run", "master-freeze", "--topology", "staging.toml", ending=passing)
    ((experiment, options),) = pipeline.started
    (run,) = experiment.runs
    assert code == 0
    assert run.cell == ("master-freeze", "reference-mirrored", "staging@T=10", "pika")
    assert run.deployment == "external"
    assert "--topology staging.toml" in options.replay


def test_all_flags_that_repeat_the_file_are_reported_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("--system", "rabbitmq-mirrored", "--layout", "unmirrored", "--deployment", "local")
    code, pipeline = call("run", "master-frz", "--topology", "staging.toml", *words)
    output = capsys.readouterr().err
    assert (code, pipeline.started) == (254, [])
    assert "did you mean 'master-freeze'" in output
    assert "--system: the topology file says it" in output
    assert "--layout: the topology file says it" in output
    assert "deployed already: external, not 'local'" in output


def test_external_without_a_file_says_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "master-freeze", "--deployment", "external")[0] == 254
    assert "needs --topology FILE; `mqproof new topology NAME`" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("run", "master-freeze"), ("doctor",)])
@pytest.mark.parametrize("flag", [("--topology", ""), ("--topology=",)])
def test_unnamed_topology_is_bad_input_and_never_the_local_machine(
    words: tuple[str, ...], flag: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, pipeline = call(*words, *flag)
    output = capsys.readouterr()
    assert (code, pipeline.started) == (254, [])
    assert "--topology: is given with nothing: a variable that is not set, perhaps" in output.err
    assert "looked" not in output.out


def test_beside_a_broken_topology_other_mistakes_are_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("staging.toml").write_text("system = 3")
    words = ("--repeats", "0", "--client", "pica", "--misbehave", "dorp")
    assert call("run", "master-frz", "--topology", "staging.toml", *words)[0] == 254
    output = capsys.readouterr().err
    for word in ("'master-frz'", "staging.toml, line 1, system", "--repeats", "'pica'", "'dorp'"):
        assert word in output


def test_unset_variable_is_named_and_no_value_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("REFERENCE_USER")
    words = ("run", "master-freeze", "--topology", "staging.toml")
    assert call(*words, "--keep")[0] == 254
    output = capsys.readouterr().err
    assert "environment variable REFERENCE_USER, which it names, is not set" in output
    assert "--keep: these brokers stand anyway" in output
    assert call(*words, "--dry-run")[0] == 0
    assert "credentials of $REFERENCE_USER and $REFERENCE_PASSWORD" in capsys.readouterr().out


def test_faults_that_a_topology_forbids_are_bad_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, pipeline = call("run", "master-crash", "--topology", "staging.toml")
    assert (code, pipeline.started) == (254, [])
    assert "allows no kill here" in capsys.readouterr().err


def test_beside_what_can_be_done_it_is_not_applicable() -> None:
    words = ("master-crash", "master-freeze", "cut-one-node")
    _, pipeline = call("run", *words, "--topology", "staging.toml", ending=passing)
    ((experiment, _),) = pipeline.started
    assert [run.scenario.name for run in experiment.runs] == ["master-freeze"]
    assert [skip.cell[0] for skip in experiment.skipped] == ["master-crash", "cut-one-node"]


def test_a_dry_run_lists_faults_that_cannot_be_verified(
    capsys: pytest.CaptureFixture[str],
) -> None:
    blind = FREEZE.replace('verify = ["stopper", "frozen"]', "")
    Path("staging.toml").write_text(text(commands=blind))
    assert call("run", "master-freeze", "--topology", "staging.toml", "--dry-run")[0] == 0
    output = capsys.readouterr().out
    assert "no verify command for alpha, beta, gamma: the run ends unknown" in output


def test_topology_named_like_a_built_in_layout_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("unmirrored.toml").write_text(text())
    assert call("run", "master-freeze", "--topology", "unmirrored.toml")[0] == 254
    assert "is the name of a built-in layout" in capsys.readouterr().err


def test_a_new_topology_can_be_read_and_is_never_overwritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call("new", "topology", "mine")[0] == 0
    assert "try: mqproof doctor --topology mine.toml" in capsys.readouterr().out
    assert call("run", "client-link-hang", "--topology", "mine.toml", "--dry-run")[0] == 0
    assert call("new", "topology", "mine")[0] == 254
    assert call("new", "topology", "Not A Name")[0] == 254


def test_a_new_topology_may_be_of_another_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("new", "topology", "shop", "--system", "rocketmq-2m2s")[0] == 0
    words = ("--topology", "shop.toml", "--dry-run")
    assert call("run", "client-link-hang", *words)[0] == 0
    output = capsys.readouterr().out
    assert "client-link-hang on rocketmq-2m2s shop@T=120 with rocketmq-python-4.9.8" in output
    assert "names1 (name-server at 10.0.0.1:9876)" in output
    assert "credentials none" in output
    assert call("new", "topology", "other", "--system", "reference-2m2s")[0] == 254
    error = capsys.readouterr().err
    assert "--system: there is no first topology file of 'reference-2m2s'" in error
    assert "rabbitmq-mirrored | rabbitmq-quorum | rabbitmq-stream | rocketmq-2m2s" in error
    both = ("--system", "rocketmq-2m2s", "--from-compose", "compose.yaml")
    assert call("new", "topology", "other", *both)[0] == 254
    assert "--from-compose finds the system in its file" in capsys.readouterr().err


def test_every_mistake_of_a_rocketmq_topology_is_bad_input(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = rocketmq_text().replace("id = 0", "id = 1", 1).replace("names2", "rkt1")
    source = source.replace('idle = "6 s"', 'idle = "2.5 s"').replace('"sync"', '"maybe"')
    Path("shop.toml").write_text(source.replace("10.0.1.3", "[::1]"))
    assert call("run", "master-crash", "--topology", "shop.toml")[0] == 254
    error = capsys.readouterr().err
    for words in (
        "idle: must be a whole number of seconds, not '2.5 s'",
        "replication: ",
        "1 is another broker's of 'broker-a' already",
        "no broker of 'broker-a' has id = 0: the master of its group",
        "groups need as many brokers each as the others, found 'broker-a' 1, 'broker-b' 2",
        "'rkt1' is another server's already",
        "is an IPv6 address, which RocketMQ's clients cannot read",
    ):
        assert error.count(words) == 1, words


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("master-crash",), "allows no kill here: no command for kill of rkt1"),
        (("client-link-hang",), "no proxy for hang"),
        (("name-server-kill",), "means name servers, and a topology file has no commands"),
        (("master-freeze", "--client", "rocketmq-java-4.9.8"), "'rocketmq-java-4.9.8'"),
    ],
)
def test_what_a_rocketmq_topology_forbids_is_refused(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("shop.toml").write_text(rocketmq_text(commands=FREEZE))
    assert call("run", *words, "--topology", "shop.toml")[0] == 254
    assert why in capsys.readouterr().err


COMPOSE = """
services:
  rabbit1:
    image: rabbitmq:4.1-management
    hostname: rabbit1
    ports: ["5672:5672", "15672:15672"]
"""


def test_the_command_writes_the_file_or_says_what_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("compose.yaml").write_text(COMPOSE)
    assert call("new", "topology", "shop", "--from-compose", "compose.yaml")[0] == 0
    assert "wrote shop.toml; try: mqproof doctor --topology shop.toml" in capsys.readouterr().out
    read_topology("shop", Path("shop.toml").read_text(), ("rabbitmq-quorum",))
    assert call("new", "topology", "other", "--from-compose", "missing.yaml")[0] == 254
    assert "missing.yaml: cannot be read: No such file" in capsys.readouterr().err
    assert not Path("other.toml").exists()


TWIN = COMPOSE.replace("rabbit1:", "rabbit-1:") + COMPOSE.replace("\nservices:", "").replace(
    "rabbit1:", "rabbit_1:"
)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (TWIN, "host: 'rabbit-1' is another broker's already"),
        (COMPOSE.replace("5672:5672", "70000:5672"), "amqp: "),
        (COMPOSE.replace("15672:15672", "0:15672"), "management: "),
        (COMPOSE.replace("hostname: rabbit1", "hostname: 'rab bit'"), "node: "),
        (COMPOSE.replace("5672:5672", "a@b:5672:5672", 1), "amqp: "),
    ],
)
def test_a_topology_that_run_would_refuse_is_not_written(
    source: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("compose.yaml").write_text(source)
    assert call("new", "topology", "shop", "--from-compose", "compose.yaml")[0] == 254
    error = capsys.readouterr().err
    assert "compose.yaml: nothing was written: `mqproof run` would refuse shop.toml, line" in error
    assert why in error
    assert not Path("shop.toml").exists()


def test_a_new_topology_has_no_name_of_a_layout(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("new", "topology", "unmirrored")[0] == 254
    assert "'unmirrored' is the name of a built-in layout" in capsys.readouterr().err
    assert not Path("unmirrored.toml").exists()
