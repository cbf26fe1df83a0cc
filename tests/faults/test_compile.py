"""Kinds as data, and actions that come with their undo."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.core.actions import (
    ENDING,
    ENDING_S,
    Action,
    AddToxic,
    ClearAlarm,
    Cut,
    Disable,
    Enable,
    Freeze,
    FreezeClients,
    Join,
    Kill,
    KillClients,
    RaiseAlarm,
    RemoveToxic,
    ReplaceClients,
    Start,
    Stop,
    Thaw,
    ThawClients,
    both_ways,
)
from faults.core.alarms import AlarmCommands
from faults.core.compile import MARK, NAME_MAX, mark
from faults.core.mechanisms import PROXY, TOXIPROXY
from faults.core.model import Armed, FaultError
from faults.core.options import FaultOptions
from faults.core.peers import Served, Serving
from faults.kinds import KINDS, OPTIONS, mechanism
from faults.kinds.alarms.alarm import AlarmOptions
from faults.kinds.client_links.cut_after import CutAfterOptions
from faults.kinds.client_links.hang import HangOptions
from faults.kinds.client_links.slow import SlowOptions
from faults.kinds.network.partition import PartitionOptions
from faults.kinds.peer_links.slow_peers import SlowPeersOptions
from harness.run_folder.journal import action_from_json, action_to_json
from tests.rigs.clusters.fault_world import (
    ALARMS,
    CLIENTS,
    OPTIONS_OF,
    compiled_fault,
    like_erlang,
)

HOSTS = ("rmq1", "rmq2", "rmq3")
LINKS = ("p1", "p2")
BOTH = ("upstream", "downstream")
MARKED = mark("run", 1)


def compiled(
    kind: str,
    returns: bool = True,
    proxies: tuple[str, ...] = LINKS,
    options: FaultOptions | None = None,
) -> Armed:
    return compiled_fault(
        kind,
        "rmq2",
        HOSTS,
        proxies,
        target="master of orders",
        role="master of orders",
        returns=returns,
        options=OPTIONS_OF[kind] if options is None else options,
        clients=CLIENTS,
        serving=like_erlang(HOSTS),
        alarms=ALARMS,
    )


def test_a_kill_is_undone_by_a_start() -> None:
    armed = compiled("kill")
    assert (armed.actions, armed.undo) == ((Kill("rmq2"),), (Start("rmq2"),))
    assert (armed.mechanism, armed.proxies) == ("container", ())


def test_a_kill_that_never_returns_has_no_undo() -> None:
    assert not compiled("kill", returns=False).returns


def test_a_stop_is_undone_by_a_start_that_awaits_it() -> None:
    armed = compiled("stop")
    assert armed.actions == (Stop("rmq2"),)
    assert armed.undo == (Start("rmq2", ENDING_S, "stop"),)
    assert ENDING_S > 0


def test_a_stop_that_never_returns_has_no_undo() -> None:
    assert not compiled("stop", returns=False).returns


def test_a_freeze_is_undone_by_a_thaw() -> None:
    armed = compiled("freeze")
    assert (armed.actions, armed.undo) == ((Freeze("rmq2"),), (Thaw("rmq2"),))


@pytest.mark.parametrize("kind", KINDS)
def test_every_action_and_undo_survives_as_json(kind: str) -> None:
    armed = compiled(kind)
    for action in (*armed.actions, *armed.undo):
        assert action_from_json(json.loads(json.dumps(action_to_json(action)))) == action


def test_a_start_from_an_older_journal_does_not_wait() -> None:
    assert action_from_json({"action": "Start", "host": "rmq2"}) == Start("rmq2", 0.0)


def test_a_hang_stalls_and_resumes_the_same_links_and_name() -> None:
    armed = compiled("hang")
    name = mark("run", 1)
    both = ("upstream", "downstream")
    assert armed.actions == (AddToxic(("p1", "p2"), name, "bandwidth", both, (("rate", 0),)),)
    assert armed.undo == (RemoveToxic(("p1", "p2"), name),)
    assert armed.mechanism == "toxiproxy"


@pytest.mark.parametrize(
    ("direction", "streams"), [("to_broker", ("upstream",)), ("to_client", ("downstream",))]
)
def test_half_a_hang_stalls_one_stream(direction: str, streams: tuple[str, ...]) -> None:
    (stall,) = compiled("hang", options=HangOptions(direction=direction)).actions
    assert stall == AddToxic(LINKS, MARKED, "bandwidth", streams, (("rate", 0),))


def test_the_undo_of_a_close_re_enables_its_links() -> None:
    """End a close when it is armed; its undo repairs one that broke off half way."""
    armed = compiled("close")
    assert armed.actions == (Disable(LINKS), Enable(LINKS))
    assert armed.undo == (Enable(LINKS),)


def test_a_refusal_lasts_until_the_listeners_are_back() -> None:
    armed = compiled("refuse")
    assert (armed.actions, armed.undo) == ((Disable(LINKS),), (Enable(LINKS),))


def test_a_reset_closes_what_stands_and_resets_what_comes_after() -> None:
    armed = compiled("reset")
    toxic = AddToxic(LINKS, MARKED, "reset_peer", BOTH, (("timeout", 0),))
    assert armed.actions == (Disable(LINKS), toxic, Enable(LINKS))
    assert armed.undo == (RemoveToxic(LINKS, MARKED), Enable(LINKS))


@pytest.mark.parametrize(
    ("options", "toxics"),
    [
        (SlowOptions(latency_s=0.25), [("", "latency", ("latency", 250))]),
        (SlowOptions(rate_kb=40), [("_rate", "bandwidth", ("rate", 40))]),
        (
            SlowOptions(latency_s=1.0, rate_kb=40),
            [("", "latency", ("latency", 1000)), ("_rate", "bandwidth", ("rate", 40))],
        ),
    ],
)
def test_a_slow_link_has_latency_or_rate_in_each_direction(
    options: FaultOptions, toxics: list[tuple[str, str, tuple[str, int]]]
) -> None:
    armed = compiled("slow", options=options)
    assert armed.actions == tuple(
        AddToxic(LINKS, f"{MARKED}{name}", type, BOTH, (attribute,))
        for name, type, attribute in toxics
    )
    assert armed.undo == tuple(RemoveToxic(LINKS, f"{MARKED}{name}") for name, _, _ in toxics)


def test_a_cut_after_bytes_counts_each_direction_separately() -> None:
    armed = compiled("cut_after", options=CutAfterOptions(bytes=5000))
    assert armed.actions == (AddToxic(LINKS, MARKED, "limit_data", BOTH, (("bytes", 5000),)),)
    assert armed.undo == (RemoveToxic(LINKS, MARKED),)


@pytest.mark.parametrize("kind", ["slow", "cut_after"])
def test_a_fault_without_effect_is_refused(kind: str) -> None:
    with pytest.raises(FaultError, match="given"):
        compiled(kind, options=KINDS[kind].options())


def test_a_hang_of_clients_without_links_is_refused() -> None:
    with pytest.raises(FaultError, match="none of the meant clients has a link to rmq2"):
        compiled("hang", proxies=())


def test_a_partition_cuts_one_host_from_all_others() -> None:
    armed = compiled("partition")
    name = mark("run", 1)
    ways = both_ways("rmq2", ("rmq1", "rmq3"))
    assert (armed.actions, armed.undo) == ((Cut(ways, name),), (Join(ways, name),))
    assert armed.mechanism == "packet_filter"


def test_a_host_that_is_alone_cannot_be_cut_off() -> None:
    with pytest.raises(FaultError, match="alone"):
        compiled_fault("partition", "rmq1", ["rmq1"])


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.may_stay])
def test_only_what_ends_a_process_may_stay(kind: str) -> None:
    with pytest.raises(AssertionError, match="always ends"):
        compiled(kind, returns=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_compiled_fault_has_the_mechanism_of_its_kind(kind: str) -> None:
    usual = KINDS[kind].offers.get("compose", "toxiproxy")
    assert compiled(kind).mechanism == usual
    proxied = mechanism(kind, "compose", "toxiproxy")
    assert proxied == ("toxiproxy" if kind in ("partition", "flap", "slow_peers") else usual)


@pytest.mark.parametrize(
    ("shape", "streams"),
    [("one", {BOTH: 8}), ("one_way_in", {BOTH[1:]: 4, BOTH[:1]: 4})],
)
def test_a_partition_by_proxy_stalls_only_the_affected_streams(
    shape: str, streams: dict[tuple[str, ...], int]
) -> None:
    options = PartitionOptions(shape=shape)
    armed = compiled_fault(
        "partition",
        "rmq2",
        HOSTS,
        mechanism=TOXIPROXY,
        options=options,
        serving=like_erlang(HOSTS),
        alarms=ALARMS,
    )
    added = [action for action in armed.actions if isinstance(action, AddToxic)]
    assert len(added) == len(armed.actions)
    assert {each.streams: len(each.proxies) for each in added} == streams
    assert {(each.type, each.attributes) for each in added} == {("bandwidth", (("rate", 0),))}
    (undo,) = armed.undo
    assert isinstance(undo, RemoveToxic) and undo.toxic == MARKED
    assert set(undo.proxies) == {proxy for each in added for proxy in each.proxies}
    inward = next(each for each in added if "upstream" in each.streams)
    assert {f"mqproof-peer.rmq1.rmq2.{port}" for port in (4369, 25672)} <= set(inward.proxies)


def test_a_flaps_cut_of_redialling_servers_returns_only_new_links() -> None:
    """A flap's cuts are short: what they held comes late, as what a kernel sends again."""
    serving = Serving(by_host=dict.fromkeys(HOSTS, (Served((9876,), 9876),)), renewed=True)

    def undo(kind: str) -> list[Action]:
        armed = compiled_fault(
            kind, "rmq2", HOSTS, mechanism=TOXIPROXY, options=OPTIONS_OF[kind], serving=serving
        )
        return list(armed.undo)

    closed, removed, opened = undo("partition")
    assert isinstance(closed, Disable) and isinstance(opened, Enable)
    assert isinstance(removed, RemoveToxic) and removed.toxic == MARKED
    assert set(closed.proxies) == set(removed.proxies) == set(opened.proxies)
    assert len(closed.proxies) == 4
    for kind in ("flap", "slow_peers"):
        (released,) = undo(kind)
        assert isinstance(released, RemoveToxic)


def test_slow_peers_are_slow_in_both_directions_for_either_dialler() -> None:
    armed = compiled("slow_peers", options=SlowPeersOptions(latency_s=0.3))
    names = {
        f"mqproof-peer.{one}.{other}.{port}"
        for one, other in both_ways("rmq2", ("rmq1", "rmq3"))
        for port in (4369, 25672)
    }
    (slow,) = armed.actions
    assert isinstance(slow, AddToxic) and set(slow.proxies) == names
    assert (slow.type, slow.streams, slow.attributes) == ("latency", BOTH, (("latency", 300),))
    assert armed.undo == (RemoveToxic(slow.proxies, slow.toxic),)
    local = compiled_fault(
        "slow_peers", "rmq2", HOSTS, mechanism=PROXY, options=SlowPeersOptions(latency_s=0.3)
    )
    (slow,) = local.actions
    assert isinstance(slow, AddToxic) and "mqproof-peer.rmq2.rmq1" in slow.proxies


def test_peers_are_not_slow_without_a_latency_or_without_peers() -> None:
    with pytest.raises(FaultError, match="no latency"):
        compiled("slow_peers", options=SlowPeersOptions())
    with pytest.raises(FaultError, match="rmq2 is alone"):
        compiled_fault("slow_peers", "rmq2", ("rmq2",))


@pytest.mark.parametrize("resource", OPTIONS["resource"].choices)
def test_an_alarm_is_undone_by_clearing_what_was_raised(resource: str) -> None:
    armed = compiled("alarm", options=AlarmOptions(resource=resource))
    assert armed.actions == (RaiseAlarm("rmq2", resource, ("starve", resource)),)
    assert armed.undo == (ClearAlarm("rmq2", resource, ("feed", resource)),)


@pytest.mark.parametrize(
    "alarms",
    [None, replace(ALARMS, raised={}), replace(ALARMS, cleared={"disk": ("feed", "disk")})],
)
def test_an_undeclared_alarm_cannot_be_compiled(alarms: AlarmCommands | None) -> None:
    memory = AlarmOptions(resource="memory")
    with pytest.raises(FaultError, match="its system declares no memory alarm"):
        compiled_fault("alarm", "rmq2", HOSTS, options=memory, alarms=alarms)


def test_frozen_clients_are_thawed_by_name_without_affecting_hosts() -> None:
    armed = compiled("client_freeze")
    assert armed.actions == (FreezeClients(CLIENTS),)
    assert armed.undo == (ThawClients(CLIENTS),)
    assert (armed.clients, armed.proxies) == (CLIENTS, ())
    assert compiled("freeze").clients == ()


def test_killed_clients_are_replaced_unless_they_never_return() -> None:
    armed = compiled("client_crash")
    assert armed.actions == (KillClients(CLIENTS),)
    assert armed.undo == (ReplaceClients(CLIENTS),)
    assert not compiled("client_crash", returns=False).returns


def test_a_fault_of_clients_that_were_not_started_is_refused() -> None:
    with pytest.raises(FaultError, match="none of the meant clients was started"):
        compiled_fault("client_freeze", "clients", HOSTS, role="clients")


@pytest.mark.parametrize("kind", KINDS)
def test_a_deployment_offers_a_kind_or_says_why_not(kind: str) -> None:
    offered = KINDS[kind]
    assert {"compose", "local", "external"} == offered.offers.keys() | offered.why_not.keys()
    assert not offered.offers.keys() & offered.why_not.keys()


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if "local" in kind.offers])
def test_a_deployment_may_have_mechanisms_of_its_own(kind: str) -> None:
    local = KINDS[kind].offers["local"]
    options = OPTIONS_OF[kind]
    armed = compiled_fault(
        kind,
        "rmq2",
        HOSTS,
        ("p",),
        mechanism=local,
        options=options,
        clients=CLIENTS,
        serving=like_erlang(HOSTS),
        alarms=ALARMS,
    )
    assert armed.mechanism == local


@given(st.text(), st.integers(1, 9999), st.text(), st.integers(1, 9999))
def test_names_in_the_system_are_short_and_unique_per_window(
    run: str, window: int, other_run: str, other_window: int
) -> None:
    """Make names of one window of one run: short, ASCII, and with our mark."""
    name = mark(run, window)
    assert name.startswith(MARK)
    assert len(name) <= NAME_MAX
    assert name.replace("_", "").isascii()
    same = (run, window) == (other_run, other_window)
    assert (name == mark(other_run, other_window)) == same


@pytest.mark.parametrize("kind", KINDS)
def test_actions_that_end_a_broker_are_marked_as_ending(kind: str) -> None:
    actions = compiled(kind).actions
    assert any(isinstance(one, ENDING) for one in actions) == KINDS[kind].ends_broker
