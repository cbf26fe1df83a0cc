"""When which name server dropped and showed which broker: as their own logs say, within a second.

A whole run of each, for what is held against the logs is what the marts say in the end. Whom
clients asked meanwhile is on record.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.compose.cluster import ComposeCluster
from harness.plan.clients.requirements import chosen_client
from harness.plan.model import RunPlan, Schedule, Window
from harness.systems.catalogue import load_system
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.tables import CLIENT_EVENTS
from tests.docker.conftest import Play
from tests.docker.rocketmq_runs import standing
from tests.docker.whole_runs import Done, run
from tests.oracle.views import views
from tests.rigs.rocketmq import name_server_log
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

NAME = "rocketmq-2m2s"
RUN_LIMIT_S, CLEAN_LIMIT_S = 400.0, 120.0
BASELINE_S, RECOVERY_S, SETTLE_S, DRAIN_LIMIT_S = 6.0, 4.0, 5.0, 60.0
# A name server drops a frozen broker when it has heard nothing for 20 s; it registers every 10 s.
LASTS_S = {"kill": 8.0, "freeze": 26.0}


@pytest.fixture(scope="module")
def cluster(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    yield from standing(play, experiment_folder, "colocated@compressed")


def of(cluster: ComposeCluster, kind: str, client: str) -> RunPlan:
    window = Window(1, fault(kind), BASELINE_S, LASTS_S[kind])
    return replace(
        plan(fault(kind), name=f"routes-{kind}"),
        system=replace(load_system(NAME), clients=(client,)),
        layout=cluster.layout,
        client=chosen_client(client),
        schedule=Schedule(BASELINE_S, (window,), RECOVERY_S, SETTLE_S, DRAIN_LIMIT_S),
    )


@pytest.mark.parametrize(
    ("kind", "client"), [("kill", "rocketmq-java-4.9.8"), ("freeze", "rocketmq-java-5.3.3")]
)
def test_recorded_routes_match_the_logs_of_the_name_servers(
    cluster: ComposeCluster, play: Play, experiment_folder: Path, kind: str, client: str
) -> None:
    done = play(run(cluster, of(cluster, kind, client), experiment_folder), RUN_LIMIT_S)
    assert [(window.verified, window.gone) for window in done.manifest.windows] == [(True, True)]
    play(cluster.fetch_logs(done.folder))
    found = list(_compared(done))
    for one in found:
        print(one)
    dropped = {
        (one.change.name_server, one.change.kind)
        for one in found
        if one.change.what == "broker-a master at rkt1:10911" and not one.change.shown
    }
    # The host has a name server, too: what that one drops, no client hears before it is back.
    assert dropped >= {("rkt2", "route"), ("rkt2", "cluster")}
    assert [str(one) for one in found if not one.fits and not one.silent] == []
    _every_client_reported_its_name_server(done)
    assert play(cluster.health(CLEAN_LIMIT_S)).clean


def _compared(done: Done) -> Iterator[name_server_log.Compared]:
    """Each change, beside the log; what the log alone tells is an error."""
    assert done.manifest.facts is not None
    shown = views(Facts.from_json(done.manifest.facts), rows_of(done.folder))
    for host in ("rkt1", "rkt2"):
        text = (done.folder / "broker_logs" / f"{host}-name-server.log").read_text()
        log = name_server_log.logged(text, done.manifest.origin_wall_ns)
        assert log, f"{host}: its log tells of no broker: are its words others?"
        assert name_server_log.unseen(shown, host, log) == []
        yield from name_server_log.compared(shown, host, log)


def _every_client_reported_its_name_server(done: Done) -> None:
    for worker in ("publisher-1", "consumer-1"):
        rows = read_rows(done.folder / "logs" / worker, CLIENT_EVENTS)
        reported = {str(row["detail"] or "") for row in rows if row["kind"] == "attached"}
        print(worker, "asked", *reported)
        assert reported - {""}, worker
        assert reported <= {"rkt1", "rkt2", ""}, "not the name of a host"
