"""The pure parts of the example: names, configuration, what servers report, what answers mean.

pip install ./examples/nats && pytest examples/nats/tests
"""

import pytest
from mqproof_nats import cluster_state, names
from mqproof_nats.client import answer_of, deliveries
from mqproof_nats.configuration import Listens, configuration
from mqproof_nats.layouts import (
    LEVELS,
    QUORUM_CACHED,
    QUORUM_SYNCED,
    STORED,
    NatsLayoutFile,
    guarantees,
)

from harness.cluster.port import Roles
from spark_analysis.schema.words import Outcome, level_mistakes

STREAM = "mqproof_r_orders"
HOSTS = ("nats1", "nats2", "nats3")
LISTENS = Listens("127.0.9.1", 4222, 8222, 6222)
PEERS = {"nats2": ("127.0.9.100", 7001), "nats3": ("127.0.9.100", 7002)}


def written(**changes: object) -> str:
    settings = {"sync_always": False, "proxied": True, "log": "", **changes}
    return configuration("nats1", LISTENS, PEERS, "/data", "secret", **settings)


def report(leader: str, own: str, behind: tuple[str, ...] = (), messages: int = 5) -> dict:
    """What one server says of the stream and of the meta group, which it believes to lead."""
    replicas = [{"name": host, "current": host not in behind} for host in HOSTS if host != own]
    cluster = {"leader": leader, "replicas": replicas}
    detail = {"name": STREAM, "cluster": cluster, "state": {"messages": messages}}
    return {
        "account_details": [{"stream_detail": [detail]}],
        "meta_cluster": {"leader": "nats1", "replicas": replicas},
    }


def routes(host: str, *missing: str) -> dict:
    peers = [peer for peer in HOSTS if peer not in (host, *missing)]
    return {"routes": [{"remote_name": peer} for peer in peers]}


def test_a_stream_has_the_queues_name_without_dots() -> None:
    assert names.stream("mqproof.r.orders") == STREAM
    assert names.deliver_subject("mqproof.r.orders") == f"deliver.{STREAM}"


def test_a_server_dials_its_peers_where_the_deployment_says() -> None:
    text = written()
    assert '"nats-route://mqproof:secret@127.0.9.100:7001"' in text
    assert '"nats-route://mqproof:secret@127.0.9.100:7002"' in text


def test_peers_are_told_of_no_way_past_a_proxy() -> None:
    assert 'advertise: "127.0.9.1:1"' in written(proxied=True)
    assert 'advertise: "' not in written(proxied=False)


def test_syncing_is_the_servers_own_unless_the_layout_says_always() -> None:
    assert "sync_interval" not in written()
    assert "sync_interval: always" in written(sync_always=True)


def test_a_leader_is_the_server_that_says_so_of_itself() -> None:
    reports = {"nats1": report("nats2", "nats1"), "nats2": report("nats2", "nats2"), "nats3": None}
    assert cluster_state.leaders(reports, STREAM) == {"nats1": False, "nats2": True, "nats3": None}


def test_the_leader_says_which_replicas_are_current() -> None:
    reports = {host: report("nats2", host) for host in HOSTS}
    reports["nats2"] = report("nats2", "nats2", behind=("nats3",))
    expected = Roles(master="nats2", mirrors=("nats1", "nats3"), synchronised=("nats1",))
    assert cluster_state.roles(reports, STREAM) == expected


def test_without_a_leader_nothing_is_known_of_replicas() -> None:
    reports = {"nats1": report("nats2", "nats1"), "nats2": None, "nats3": report("", "nats3")}
    expected = Roles(master=None, mirrors=("nats1", "nats3"), synchronised=None)
    assert cluster_state.roles(reports, STREAM) == expected


def test_a_whole_cluster_has_no_doubts() -> None:
    jetstream = {host: report("nats1", host) for host in HOSTS}
    assert cluster_state.doubts(jetstream, {host: routes(host) for host in HOSTS}) == ()


def test_each_missing_part_of_a_cluster_is_a_doubt() -> None:
    jetstream = {host: report("nats1", host) for host in HOSTS}
    jetstream["nats1"] = report("nats1", "nats1", behind=("nats2",))
    links = {"nats1": routes("nats1", "nats3"), "nats2": None, "nats3": routes("nats3")}
    assert set(cluster_state.doubts(jetstream, links)) == {
        "nats1 has no route to nats3",
        "nats2 does not answer",
        "nats2 is behind in the meta group",
        f"nats2 is behind in {STREAM}",
    }


def test_a_server_that_does_not_answer_stores_an_unknown_number() -> None:
    assert cluster_state.stored(report("nats1", "nats1", messages=7), STREAM) == 7
    assert cluster_state.stored(None, STREAM) is None
    assert cluster_state.stored(report("nats1", "nats1"), "another") is None


@pytest.mark.parametrize(
    ("data", "headers", "outcome"),
    [
        (b'{"stream":"s","seq":4}', None, Outcome.CONFIRMED),
        (b"", {"Status": "503"}, Outcome.REFUSED),
        (b'{"error":{"code":503,"description":"no suitable peers"}}', None, Outcome.UNKNOWN),
        (b"[]", None, Outcome.UNKNOWN),
        (b"no JSON", None, Outcome.UNKNOWN),
    ],
)
def test_an_answer_has_one_outcome(
    data: bytes, headers: dict[str, str] | None, outcome: Outcome
) -> None:
    assert answer_of(data, headers)[0] is outcome


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("$JS.ACK.stream.consumer.1.10.20.1700000000.3", 1),
        ("$JS.ACK.domain.account.stream.consumer.4.10.20.1700000000.3.random", 4),
    ],
)
def test_a_reply_subject_says_how_often_a_message_was_delivered(reply: str, count: int) -> None:
    assert deliveries(reply) == count


def test_a_pub_ack_promises_a_disk_only_where_servers_always_sync() -> None:
    document = {
        "name": "three",
        "title": "Three servers",
        "hosts": [{"name": host, "processes": ["server"]} for host in HOSTS],
        "replicas": 3,
        "profiles": {"T=9": {"detection_timeout_s": 9.0}},
    }
    expected = {(3, False): QUORUM_CACHED, (3, True): QUORUM_SYNCED, (1, True): STORED}
    for (replicas, sync_always), level in expected.items():
        own = {"replicas": replicas, "sync_always": sync_always}
        file = NatsLayoutFile.model_validate({**document, **own})
        found = guarantees(file.layout("nats-jetstream", "T=9"))
        assert found.confirm_waits_for_disk is sync_always
        assert found.confirm_waits_for_majority is (replicas > 1)
        assert found.strength == level


def test_its_levels_can_be_declared() -> None:
    assert list(level_mistakes(LEVELS)) == []


def test_more_replicas_than_hosts_are_a_mistake() -> None:
    document = {"replicas": 3, "hosts": [{"name": "nats1"}]}
    (problem,) = NatsLayoutFile.readable(document).problems(("server",))
    assert "3 replicas on 1 hosts" in problem.text
