"""Every kind declares every trait, and no other code decides by a kind's name."""

import ast
import importlib
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import faults.kinds
from faults.core.kind import Excludes, Kind
from faults.core.mechanisms import COMMAND, COMPOSE, EXTERNAL, LOCAL, TOXIPROXY
from faults.core.options import CLIENTS, FaultOptions, Option
from faults.core.targets import CLIENT, CLIENT_LINK, HOST, PEER_LINK
from faults.kinds import KINDS, OPTIONS, OURS, FaultRegistry, by_command, mechanism, read
from faults.kinds.families import FAMILIES
from tests.rigs.clusters.fault_world import ALARMS, OPTIONS_OF, compiled_fault, like_erlang

ROOT = Path(faults.kinds.__file__).parents[2]
DEPLOYMENTS = (COMPOSE, LOCAL, EXTERNAL)
# A topology has a table of commands for each of these: one is written, and the executor asks by
# them.
OF_COMMANDS = (
    "harness/systems/rabbitmq/foreign/from_compose.py",
    "faults/executors/external.py",
)
# Words of other trades, too: of operations, of protocols, of HTTP.
AMBIGUOUS = {"kill", "stop", "close", "reset"}


@pytest.fixture(params=KINDS.values(), ids=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    assert isinstance(request.param, Kind)
    return request.param


def test_kind_traits_have_no_defaults_so_none_can_be_omitted() -> None:
    answered = {field.name: getattr(KINDS["kill"], field.name) for field in fields(Kind)}
    for field in fields(Kind):
        assert field.default is MISSING, field.name
        assert field.default_factory is MISSING, field.name
        others = {name: value for name, value in answered.items() if name != field.name}
        with pytest.raises(TypeError, match=field.name):
            Kind(**others)


def test_no_family_fixes_what_a_kind_is_to_the_analysis() -> None:
    used = {"ends_broker", "takes_page_cache", "silences_clients", "spares_disk"}
    assert used < {field.name for field in fields(Kind)}
    for family in FAMILIES:
        assert family.func is Kind
        assert not used & family.keywords.keys()


def test_every_kind_says_what_it_strikes_and_what_it_excludes(kind: Kind) -> None:
    assert kind.applies_to in (HOST, CLIENT_LINK, PEER_LINK, CLIENT)
    assert kind.excludes in Excludes
    assert kind.ends_client <= (kind.applies_to == CLIENT)
    assert kind.canaries_speak <= (kind.applies_to == CLIENT_LINK)
    assert (kind.excludes is Excludes.CLIENTS) == (kind.applies_to == CLIENT)
    assert kind.strikes_processes <= (kind.applies_to == HOST)
    assert kind.held_limit_s > 0


def test_no_shipped_kind_is_bound_to_a_system(kind: Kind) -> None:
    assert kind not in OURS or not kind.only_on


def test_faults_of_a_process_or_disk_apply_to_its_host(kind: Kind) -> None:
    taken = kind.ends_broker or kind.takes_page_cache or kind.spares_disk is not None
    assert taken <= (kind.applies_to == HOST)
    assert kind.takes_page_cache <= kind.ends_broker


def test_every_deployment_offers_each_kind_or_says_why_not(kind: Kind) -> None:
    for deployment in DEPLOYMENTS:
        offered = mechanism(kind.name, deployment)
        assert bool(offered) != (deployment in kind.why_not), deployment


def test_every_option_that_a_kind_takes_or_needs_is_one(kind: Kind) -> None:
    assert all(option is OPTIONS[option.key] for option in kind.options.by_field().values())
    assert {*kind.needs, *kind.needs_all} <= {*kind.option_keys}
    assert kind.repeats == (OPTIONS_OF[kind.name].rhythm is not None)


def test_a_kind_of_affected_clients_is_one_of_clients_or_links(kind: Kind) -> None:
    assert (CLIENTS.key in kind.option_keys) == (kind.applies_to in (CLIENT, CLIENT_LINK))


def test_kinds_are_done_by_command_where_verification_is_possible(kind: Kind) -> None:
    assert (kind.offers.get(EXTERNAL) == COMMAND) == (kind.name in by_command())


def test_the_journal_can_read_every_action_that_a_kind_gives(kind: Kind) -> None:
    ways = {mechanism(kind.name, COMPOSE), mechanism(kind.name, COMPOSE, TOXIPROXY)} - {""}
    given = set()
    for way in ways:
        armed = compiled_fault(
            kind.name,
            "rmq1",
            ("rmq1", "rmq2", "rmq3"),
            ("p1",),
            mechanism=way,
            options=OPTIONS_OF[kind.name],
            clients=("publisher-1",),
            serving=like_erlang(("rmq1", "rmq2", "rmq3")),
            alarms=ALARMS,
        )
        given |= {type(action) for action in (*armed.actions, *armed.undo)}
    assert given <= {*kind.actions}


def test_each_shipped_kind_is_in_the_module_of_its_name(kind: Kind) -> None:
    (path,) = (ROOT / "faults" / "kinds").glob(f"*/{kind.name}.py")
    module = importlib.import_module(f"faults.kinds.{path.parent.name}.{kind.name}")
    assert getattr(module, kind.name.upper()) is kind


# --- no other code decides by a name ----------------------------------------------------------


def test_no_module_but_its_own_names_a_kind() -> None:
    assert [*_named()] == []


def _named() -> Iterator[str]:
    wanted = KINDS.keys() - AMBIGUOUS
    for path in sorted(ROOT.glob("[a-z]*/**/*.py")):
        place = path.relative_to(ROOT).as_posix()
        top = place.partition("/")[0]
        ours = place.startswith("faults/kinds/") or place in OF_COMMANDS
        if top not in ("harness", "faults", "spark_analysis") or ours:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and node.value in wanted:
                yield f"{place}:{node.lineno} {node.value}"


# --- of other packages ------------------------------------------------------------------------

FORGET = replace(KINDS["kill"], name="forget", title="the broker forgets a queue")
OTHER_KILL = replace(FORGET, actions=(type("Kill", (KINDS["kill"].actions[0],), {}),))
FORGETS = Option("forgets", "messages that it forgets", 1, least=1, most=10)


@dataclass(frozen=True, slots=True)
class ForgetOptions(FaultOptions):
    forgets: int = FORGETS.field()


@dataclass(frozen=True, slots=True)
class OtherLatency(FaultOptions):
    latency: int = replace(FORGETS, key="latency").field()


@dataclass(frozen=True, slots=True)
class OtherTarget(FaultOptions):
    target: int = replace(FORGETS, key="target").field()


@dataclass(frozen=True, slots=True)
class NoOption(FaultOptions):
    number: int = 0


WITH_OPTIONS = replace(FORGET, options=ForgetOptions)
OTHER_KEY = replace(FORGET, options=OtherLatency)
GENERAL_KEY = replace(FORGET, options=OtherTarget)
NO_OPTION = replace(FORGET, options=NoOption)
NO_TYPE = replace(FORGET, options=("forgets",))
_HERE = "tests.faults.test_kinds"


def offered(value: str, name: str = "forget") -> FaultRegistry:
    return read([EntryPoint(name, f"{_HERE}:{value}", faults.kinds.GROUP)])


def test_a_kind_from_another_package_is_found_by_entry_point() -> None:
    registry = offered("FORGET")
    assert registry.kinds["forget"] is FORGET
    assert registry.kinds.keys() == {*KINDS, "forget"}
    assert registry.packages == {"forget": "unknown"}
    assert not registry.spoilt


def test_a_kind_from_another_package_brings_options_of_its_own() -> None:
    registry = offered("WITH_OPTIONS")
    assert not registry.spoilt
    assert registry.kinds["forget"].option_keys == ("forgets",)
    assert registry.kinds["forget"].options() == ForgetOptions(forgets=1)


@pytest.mark.parametrize(
    ("value", "name", "wrong"),
    [
        ("OF_COMMANDS", "forget", "is a tuple, not a faults.core.kind.Kind"),
        ("FORGET", "lose", "is the kind forget: the two names must be one"),
        ("ABSENT", "forget", "AttributeError"),
        ("FORGET", "kill", "another kind of that name"),
        ("OTHER_KILL", "forget", "another action Kill"),
        ("OTHER_KEY", "forget", "another key latency of a fault"),
        ("GENERAL_KEY", "forget", "another key target of a fault"),
        ("NO_OPTION", "forget", "NoOption: no Option of number"),
        ("NO_TYPE", "forget", "its options are no type of faults.core.options.FaultOptions"),
    ],
)
def test_a_broken_plugin_is_reported_and_others_still_load(
    value: str, name: str, wrong: str
) -> None:
    registry = offered(value, name)
    assert registry.kinds == {kind.name: kind for kind in OURS}
    assert f"the fault {name} of unknown cannot be used: " in registry.spoilt[name]
    assert wrong in registry.spoilt[name]


def test_two_packages_with_one_name_are_both_ignored() -> None:
    point = EntryPoint("forget", f"{_HERE}:FORGET", faults.kinds.GROUP)
    registry = read([point, point])
    assert registry.kinds == {kind.name: kind for kind in OURS}
    why = registry.spoilt["forget"]
    assert "of unknown and unknown cannot be used: it is ambiguous which" in why


def test_a_kind_module_that_exits_on_import_is_only_reported() -> None:
    point = EntryPoint("forget", "tests.faults.ends_the_process:KIND", faults.kinds.GROUP)
    assert "SystemExit" in read([point]).spoilt["forget"]
