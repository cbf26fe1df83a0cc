"""Operations of a scenario: what they say, every mistake told at once, and where they apply."""

from dataclasses import replace
from typing import Any

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.spans import Duration
from harness.plan.files.targets import CLUSTER, Target, TargetForm
from harness.plan.files.toml import read_scenario
from harness.plan.layouts.layout_values import Host, Policy
from harness.plan.model import Layout, OperationPlan, System
from harness.plan.operation_options import (
    OPTIONS,
    ForgetOptions,
    OperationOptions,
    PolicyOptions,
    StopOptions,
)
from harness.plan.operations import MEANINGS, OPERATIONS, SET_POLICY, STOP_NODE
from harness.plan.problems import PlanError
from tests.rigs.inputs.mistakes import Mistake, mistakes
from tests.rigs.runs.plans import LAYOUT, SYSTEM, operation

HEAD = """
title = "small"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 10
"""
STOP = """
[[operation]]
kind = "stop_node"
target = "master of orders"
"""
MANAGED = replace(
    LAYOUT,
    policies=(Policy("mqproof", "^mqproof", ()),),
    spares=(Host("rmq4", "", ("rabbitmq",)),),
)


def refused(text: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        read_scenario("mine", HEAD + text)
    return caught.value


def reasons(
    text: str, layout: Layout = MANAGED, system: System = SYSTEM, deployment: str = "compose"
) -> list[str]:
    return obstacles(
        read_scenario("mine", HEAD + text), system, layout, chosen_client("pika"), deployment
    )


def test_an_operation_states_action_target_and_time() -> None:
    text = """
[[operation]]
kind = "set_policy"
at = "1.5 T, at least 5 s"
definition = { ha-mode = "nodes", ha-params = ["rabbit@rmq1"], ha-sync-batch-size = 50 }
priority = 2
[[operation]]
kind = "stop_node"
target = "all"
order = "in turn"
how = "kill"
waits = "no"
"""
    policy, stop = read_scenario("mine", HEAD + text).operations
    definition = (
        ("ha-mode", "nodes"),
        ("ha-params", ("rabbit@rmq1",)),
        ("ha-sync-batch-size", 50),
    )
    as_defined = PolicyOptions(definition=definition, priority=2)
    assert policy == OperationPlan(SET_POLICY, CLUSTER, Duration(5, 1.5), as_defined)
    by_kill = StopOptions(how="kill", waits="no", order="in turn")
    assert stop == OperationPlan(STOP_NODE, STOP_NODE.target("all"), Duration(), by_kill)


@pytest.mark.parametrize(
    ("word", "through"),
    [
        ("", None),
        ("rmq2", Target("rmq2", TargetForm.HOST, host="rmq2")),
        ("last stopped", Target("last stopped", TargetForm.LAST_STOPPED)),
        ("master of orders", Target("master of orders", TargetForm.HOST, host="master of orders")),
    ],
)
def test_the_host_that_executes_an_order_is_read_as_a_target(
    word: str, through: Target | None
) -> None:
    text = f'''
[[operation]]
kind = "forget_node"
target = "lost"
offline = true
through = "{word}"
'''
    (forget,) = read_scenario("mine", HEAD + text).operations
    assert forget.options == ForgetOptions(through=through, offline=True)


def test_every_mistake_is_reported_with_place_and_correct_choices() -> None:
    error = refused("""
[[operation]]
kind = "stop_nod"
target = "master of orders"
[[operation]]
kind = "stop_node"
target = "master of bills"
at = "soon"
[[operation]]
kind = "synchronise"
offline = true
[[operation]]
kind = "delete_policy"
target = "orders"
[[operation]]
kind = "set_policy"
pattern = "["
[[operation]]
kind = "stop_node"
target = "all"
order = "last stopped first"
[[operation]]
kind = "start_node"
target = "rmq1"
order = "in turn"
how = "kill"
""")
    lengths = ("10 s", "250 ms", "2 min", "1.5 T", "1.5 T, at least 15 s")
    queue = ("master of orders", "mirror of orders", "uninvolved")
    hosts = (*queue, "host of fault N", "other than fault N", "a host's name", "all")
    assert mistakes(error) == [
        Mistake("mine.toml, line 10, [[operation]] 1, kind", "stop_node", tuple(OPERATIONS)),
        Mistake("mine.toml, line 14, [[operation]] 2, target", "master of orders", hosts),
        Mistake("mine.toml, line 15, [[operation]] 2, at", "", lengths),
        Mistake("mine.toml, line 16, [[operation]] 3, target", "", ("orders",)),
        Mistake("mine.toml, line 18, [[operation]] 3, offline", "", ("waits",)),
        Mistake("mine.toml, line 21, [[operation]] 4, target"),
        Mistake("mine.toml, line 22, [[operation]] 5, definition"),
        Mistake("mine.toml, line 24, [[operation]] 5, pattern"),
        Mistake("mine.toml, line 28, [[operation]] 6, order", "", ("at once", "in turn")),
        Mistake("mine.toml, line 32, [[operation]] 7, order"),
        Mistake("mine.toml, line 33, [[operation]] 7, how", "", ("waits", "order")),
    ]
    # What other kinds take, and what a target means, is not among the choices.
    said = [one.text for one in error.problems]
    assert "forget_node" in said[4]
    assert "whole cluster" in said[5]
    assert "unterminated character set" in said[7]
    assert "restart_node, stop_node" in said[10]


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("stop_node", "first stopped"),
        ("start_node", "master of orders"),
        ("forget_node", "all"),
        ("add_node", "all"),
        ("synchronise", "all"),
        ("reset_node", "spare"),
    ],
)
def test_target_that_a_kind_does_not_take_is_an_error(kind: str, word: str) -> None:
    with pytest.raises(ValueError, match="is no target"):
        OPERATIONS[kind].target(word)


def test_every_kind_takes_words_and_options_that_there_are() -> None:
    for kind in OPERATIONS.values():
        assert set(kind.targets) <= MEANINGS.keys()
        assert set(kind.needs) <= set(kind.option_keys) <= OPTIONS.keys()


def test_a_kind_has_those_options_alone_that_it_takes() -> None:
    taken = {key for kind in OPERATIONS.values() for key in kind.option_keys}
    assert taken == OPTIONS.keys()
    assert STOP_NODE.option_keys == ("how", "waits", "order")
    assert OPERATIONS["cancel_sync"].options is OperationOptions
    of_add_node: Any = OPERATIONS["add_node"].options
    with pytest.raises(TypeError):
        of_add_node(offline=True)


def test_options_of_another_kind_are_refused() -> None:
    assert StopOptions.of(operation("stop_node", "all", how="kill")).how == "kill"
    with pytest.raises(AssertionError):
        StopOptions.of(operation("start_node", "all"))


def test_a_possible_operation_is_no_obstacle() -> None:
    assert reasons(STOP) == []
    assert reasons(STOP + '[[operation]]\nkind = "start_node"\ntarget = "last stopped"\n') == []
    assert reasons('[[operation]]\nkind = "add_node"\ntarget = "rmq4"\n') == []
    assert reasons('[[operation]]\nkind = "delete_policy"\n') == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            'kind = "start_node"\ntarget = "all"',
            "operation 1: target 'all' matches no host: no operation stops a host",
        ),
        (
            'kind = "stop_node"\ntarget = "rmq9"',
            "operation 1: no host 'rmq9' (there are rmq1, rmq2, rmq3)",
        ),
        (
            'kind = "reset_node"\ntarget = "uninvolved"',
            "operation 1: target 'uninvolved' matches no host: every host holds a copy",
        ),
        (
            'kind = "add_node"\ntarget = "rmq1"',
            "operation 1: 'rmq1' is no spare host (there are rmq4)",
        ),
        (
            'kind = "add_node"\ntarget = "spare"\nthrough = "rmq9"',
            "operation 1: no host 'rmq9' to go through (there are rmq1, rmq2, rmq3)",
        ),
        (
            'kind = "add_node"\ntarget = "spare"\nthrough = "master of orders"',
            "operation 1: no host 'master of orders' to go through (there are rmq1, rmq2, rmq3)",
        ),
        (
            'kind = "delete_policy"\nname = "other"',
            "operation 1: there is no policy 'other' (there are mqproof)",
        ),
    ],
)
def test_operations_on_absent_parts_of_a_layout_are_reported(text: str, reason: str) -> None:
    assert reasons(f"[[operation]]\n{text}\n") == [reason]


def test_a_layout_without_spares_mirrors_or_policies_says_so() -> None:
    bare = replace(LAYOUT, copies=1)
    add = '[[operation]]\nkind = "add_node"\ntarget = "spare"\n'
    assert reasons(add, bare) == ["operation 1: the layout has no spare host"]
    assert reasons('[[operation]]\nkind = "delete_policy"\n', bare) == [
        "operation 1: there is no policy 'mqproof' (there are none)"
    ]
    mirror = STOP.replace("master of", "mirror of")
    assert reasons(mirror, bare) == [
        "operation 1: target 'mirror of orders' matches no host: queues have one copy, no mirror"
    ]
    third = STOP.replace("master of", "mirror 3 of")
    assert reasons(third, replace(LAYOUT, copies=3)) == [
        "operation 1: target 'mirror 3 of orders' matches no host: queues have 3 copies, "
        "no mirror 3"
    ]
    assert reasons(third, replace(LAYOUT, copies=4)) == []


def test_a_policy_by_which_brokers_may_drop_messages_is_not_applicable() -> None:
    limited = (
        '[[operation]]\nkind = "set_policy"\ndefinition = { ha-mode = "all", max-length = 9 }\n'
    )
    system = replace(SYSTEM, policy_keys=("ha-mode",))
    assert reasons(limited, system=system) == [
        "operation 1: set_policy with 'max-length': rabbitmq-mirrored allows ha-mode; by other "
        "keys a broker may drop messages, which mqproof would report as lost"
    ]
    assert reasons(limited.replace(", max-length = 9", ""), system=system) == []


def test_feature_missing_in_a_system_or_deployment_has_a_reason() -> None:
    poor = replace(SYSTEM, cannot={"stop_node": "it never sleeps"}, deployments=("local",))
    assert reasons(STOP, system=poor, deployment="local") == [
        "operation 1: rabbitmq-mirrored has no stop_node: it never sleeps"
    ]
    promote = '[[operation]]\nkind = "promote"\ntarget = "orders"\n'
    here = replace(SYSTEM, cannot={}, deployments=("local", "external"))
    assert reasons(promote, system=here, deployment="local") == []
    assert reasons(promote, system=here, deployment="external") == [
        "operation 1: external offers no promote: brokers that are there are operated by their "
        "owner"
    ]
    poor = replace(SYSTEM, cannot={"promote": "no broker can"})
    assert reasons(promote, system=poor) == [
        "operation 1: rabbitmq-mirrored has no promote: no broker can"
    ]
    bare = replace(LAYOUT, copies=1)
    assert reasons(promote, bare) == [
        "operation 1: 'orders' has one copy, no mirror that could become its master"
    ]
