"""What a topology file promises is held against the world, row by row."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.agent import AgentRefused
from harness.deploy.doctor import MachineCheck
from harness.deploy.external.doctor import examine, possible
from harness.pipeline import stages
from harness.plan.layouts.topology import Topology
from harness.plan.problems import PlanError
from harness.systems.rabbitmq.foreign.core import looks
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.rights import lacking, permitted
from harness.systems.rocketmq.foreign.door import REMOTING_DOOR, LoginRefused
from harness.systems.topologies import read_topology
from tests.rigs.clusters import external as rig
from tests.rigs.clusters.external import Owner
from tests.rigs.clusters.topologies import FREEZE, HOSTS, SYSTEMS, text, topology
from tests.rigs.runs.displays import Heard


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        yield found


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")


def rows(of: Topology) -> dict[str, MachineCheck]:
    return {row.what: row for row in asyncio.run(examine(of))}


@pytest.mark.slow
def test_cluster_that_matches_its_file_passes_untouched(owner: Owner) -> None:
    before = [owner.names(what) for what in ("queues", "policies")]
    found = rows(owner.topology())
    assert all(row.ok for row in found.values()), found
    assert "3 nodes run, no partition, no alarm" in found["cluster"].found
    assert "RabbitMQ 3.10.8" in found["alpha: management"].found
    assert "takes the login" in found["beta: AMQP"].found
    assert found["queues of runs"].found == "declare, publish, consume and delete work"
    allowed = "kill, stop, freeze, partition, black_hole, reboot, client_crash, client_freeze"
    assert found["faults that may be done"].found == allowed
    assert [owner.names(what) for what in ("queues", "policies")] == before
    log = list(owner.folder.glob("*.log"))
    assert log == [], "a command was run"


@pytest.mark.slow
def test_every_row_that_is_not_well_says_what_to_do(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = owner.text('[proxy]\nat = "127.0.0.1:9"\n', kinds=("freeze",), steps=("do", "undo"))
    source = source.replace(f"127.0.0.1:{owner.nodes[0].port}", "127.0.0.1:9")
    source = source.replace(f"127.0.0.1:{owner.nodes[1].port}", "nowhere.invalid:5672")
    source = source.replace("rabbit@ref3", "rabbit@ref9")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")
    found = rows(read_topology("staging", source, SYSTEMS))
    bad = {what: row for what, row in found.items() if not row.ok}
    assert set(bad) == {
        *("alpha: AMQP", "beta: AMQP", "cluster", "Toxiproxy"),
        *(f"freeze of {host}" for host in HOSTS),
    }
    assert all(row.remedy for row in bad.values())
    assert "rabbit@ref9" in bad["cluster"].found
    assert bad["freeze of alpha"].optional


@pytest.mark.slow
def test_wrong_credentials_and_missing_ones_are_reported_by_name_alone(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFERENCE_PASSWORD", "swordfish")
    found = rows(owner.topology())
    assert not found["alpha: AMQP"].ok
    assert "answers 401" in found["alpha: management"].found
    assert "$REFERENCE_PASSWORD" in found["alpha: management"].remedy
    assert "swordfish" not in repr(found)
    monkeypatch.delenv("REFERENCE_PASSWORD")
    found = rows(owner.topology())
    assert found["$REFERENCE_PASSWORD"].found == "not set"
    assert "alpha: management" not in found


@pytest.mark.parametrize(
    ("said", "lacks"),
    [
        ({"tags": ["monitoring", "policymaker"]}, []),
        ({"tags": "monitoring,policymaker"}, []),
        ({"tags": ["administrator"]}, []),
        ({"name": "older brokers tell no tags"}, []),
        ({"tags": ["monitoring"]}, ["policymaker"]),
        ({"tags": []}, ["monitoring", "policymaker"]),
    ],
)
def test_a_tag_that_the_user_lacks_is_reported_before(
    said: dict[str, Any], lacks: list[str]
) -> None:
    words = '[queues]\npolicies = "set"\ncopies = 3\nsynchronise = "automatic"\n'
    problems = lacking(topology(words), said)
    assert len(problems) == len(lacks)
    assert all(repr(tag) in line for tag, line in zip(lacks, problems, strict=True))
    assert not any("policymaker" in line for line in lacking(topology(), said))


@pytest.mark.parametrize(
    ("status", "in_virtual_host", "words"),
    [
        (401, False, "answers 401: it does not take what $REFERENCE_USER and $REFERENCE_PASSWORD"),
        (403, False, "answers 403: the user in $REFERENCE_USER has no tag"),
        (404, False, "answers 404: at this URL there is no management API"),
        (
            401,
            True,
            "answers 401: the user in $REFERENCE_USER may not access the virtual host '/'",
        ),
        (404, True, "answers 404: there is no virtual host '/'"),
    ],
)
def test_each_refusal_of_the_api_has_its_own_reason(
    status: int, in_virtual_host: bool, words: str
) -> None:
    statuses = {"alpha": status, "beta": None, "gamma": 200}
    (found,) = looks.refused(topology(), statuses, in_virtual_host)
    assert found.text.startswith(f"the management API of alpha {words}")
    keys = {True: "virtual_host", False: "[credentials]"}
    key = "[[broker]], management" if (status, in_virtual_host) == (404, False) else ""
    assert found.place == f"staging.toml, {key or keys[in_virtual_host]}"
    assert found.expected and found.advice


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "must be a user and its password"),
        (403, "`rabbitmqctl set_user_tags USER monitoring`"),
        (404, "correct `management` in the file: the URL before /api"),
        (500, "see the broker's log"),
    ],
)
def test_each_refusal_of_the_api_has_its_own_fix(status: int, words: str) -> None:
    assert words in looks.overview_remedy(topology(), status)


def test_tags_are_set_together_because_the_command_replaces_all() -> None:
    words = '[queues]\npolicies = "set"\ncopies = 3\nsynchronise = "automatic"\n'
    assert "set_user_tags USER monitoring policymaker`" in looks.tags_command(topology(words))
    assert "set_user_tags USER monitoring`" in looks.tags_command(topology())
    assert "replaces all tags" in looks.tags_command(topology())


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("403 ACCESS_REFUSED - Login was refused", "must be a user and its password"),
        ("530 NOT_ALLOWED - vhost eu not found", "`rabbitmqctl add_vhost /`"),
        ("530 NOT_ALLOWED - access to vhost 'eu' refused", "set_permissions -p / USER"),
        ("closed", "Look into the broker's log"),
    ],
)
def test_each_refused_login_has_its_own_fix(reason: str, words: str) -> None:
    error = AgentRefused(reason)
    assert words in AMQP_DOOR.remedy(topology(), error)
    assert AMQP_DOOR.refuses(error) is (reason != "closed")


@pytest.mark.parametrize(
    "reason",
    ["530 NOT_ALLOWED - vhost '/' is down", "530 NOT_ALLOWED - connection limit is reached"],
)
def test_a_virtual_host_down_or_full_refuses_no_user(reason: str) -> None:
    assert not AMQP_DOOR.refuses(AgentRefused(reason))


def test_a_user_is_refused_whatever_the_virtual_host_is_called() -> None:
    reason = "530 NOT_ALLOWED - access to vhost 'limits' refused for user 'unlimited'"
    assert AMQP_DOOR.refuses(AgentRefused(reason))


def test_a_refused_request_is_known_by_its_error_and_not_by_its_words() -> None:
    refused = LoginRefused("routes", "AclException: no")
    assert REMOTING_DOOR.refuses(refused)
    assert "conf/plain_acl.yml" in REMOTING_DOOR.remedy(topology(), refused)
    busy = LoginRefused("routes", "SYSTEM_BUSY")
    assert not REMOTING_DOOR.refuses(busy)
    other = AgentRefused("this machine refuses AclException")
    assert not REMOTING_DOOR.refuses(other)
    assert REMOTING_DOOR.remedy(topology(), other) == "look into the server's log"


@pytest.mark.parametrize(
    ("refused", "needs"),
    [
        ("declare", "configure on ^mqproof[.-]"),
        ("publish", r"write on ^(mqproof[.-].*|amq\.default)$"),
        ("consume", "read on ^mqproof[.-]"),
        ("delete", "configure on ^mqproof[.-]"),
    ],
)
def test_missing_permission_is_named_with_its_command(refused: str, needs: str) -> None:
    found = permitted(topology(), refused, "closed by the broker: 403 ACCESS_REFUSED")
    assert found.found.endswith(f"may not {refused}: closed by the broker: 403 ACCESS_REFUSED")
    assert needs in found.remedy
    assert "rabbitmqctl set_permissions" in found.remedy


def test_arguments_that_brokers_refuse_are_bad_input_with_their_key() -> None:
    found = permitted(topology(), "declare", "closed by the broker: 406 PRECONDITION_FAILED - x")
    assert found.problem is not None
    assert found.problem.place == "staging.toml, [queues] arguments"
    assert found.problem.text == "declare: closed by the broker: 406 PRECONDITION_FAILED - x"
    assert "reference-mirrored" in found.problem.expected
    assert found.remedy == found.problem.advice == "correct `[queues] arguments` in the file"
    assert permitted(topology(), "declare", "403 ACCESS_REFUSED").problem is None


@pytest.mark.slow
def test_refused_arguments_are_reported_after_all_rows(owner: Owner) -> None:
    show = Heard()
    lazy = owner.topology('[queues]\narguments = { "x-queue-mode" = "lazy" }\n')
    with pytest.raises(PlanError, match=r"staging.toml, \[queues\] arguments: declare: .* 406"):
        stages.doctor_of(lazy, show)
    assert any(line.startswith("MISSING queues of runs: declare: ") for line in show.messages)
    assert any(line.startswith("ok      faults that may be done") for line in show.messages)
    assert owner.names("queues") == []


@pytest.mark.slow
def test_a_program_that_is_not_here_is_missing() -> None:
    found = rows(topology())
    assert found["program stopper"].found == "not found"


def test_unprovable_faults_are_reported_before_the_run() -> None:
    blind = topology(commands=FREEZE.replace('verify = ["stopper", "frozen"]', ""))
    rows = list(possible(blind))
    assert [row.what for row in rows[1:]] == [f"freeze of {host}" for host in HOSTS]
    assert "ends unknown" in rows[1].remedy


def test_different_net_tick_is_reported_as_spoiling_durations() -> None:
    listed = [{"name": "rabbit@ref1", "net_ticktime": 60}, {"name": "rabbit@ref2"}]
    (difference,) = looks.ticks(topology(), listed)
    assert difference == "net_ticktime of rabbit@ref1 is 60 s, and 10 s in the file"
    assert looks.ticks(read_topology("t", text().replace("10 s", "60 s"), SYSTEMS), listed) == ()


@pytest.mark.slow
def test_the_command_line_prints_the_rows(owner: Owner, tmp_path: Path) -> None:
    show = Heard()
    assert stages.doctor_of(owner.topology(), show)
    assert any(line.startswith("ok      cluster: ") for line in show.messages)
