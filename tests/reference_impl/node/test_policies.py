"""What is taken as a policy, and what is not (docs/behaviour/rabbitmq.md items 2, 4, 8 to 10, 12,
44)."""

from typing import Any

import msgspec
import pytest

from reference_impl.metadata.tables import Policy
from reference_impl.node.policies import PolicyError, parsed


def policy(definition: dict[str, Any], **fields: Any) -> Policy:
    document = {"pattern": "^q", "definition": definition, **fields}
    return parsed("p", msgspec.json.encode(document))


def test_a_policys_priority_and_apply_to_default_as_in_rabbitmq() -> None:
    assert policy({"ha-mode": "all"}) == Policy("p", "^q", {"ha-mode": "all"}, 0, "all")
    given = policy({"ha-mode": "all"}, priority=7, **{"apply-to": "queues"})
    assert given == Policy("p", "^q", {"ha-mode": "all"}, 7, "queues")


@pytest.mark.parametrize(
    "definition",
    [
        {"ha-mode": "exactly", "ha-params": 2},
        {"ha-mode": "nodes", "ha-params": ["rabbit@a"]},
        {"ha-mode": "all", "ha-sync-mode": "automatic", "ha-sync-batch-size": 50},
        {"ha-mode": "all", "ha-promote-on-shutdown": "always"},
        {"ha-mode": "all", "ha-promote-on-failure": "when-synced"},
        {"queue-master-locator": "min-masters"},
    ],
)
def test_supported_policies_are_accepted(definition: dict[str, Any]) -> None:
    assert policy(definition).definition == definition


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ({}, "no policy settings"),
        ({"ha-mode": "axactly"}, "ha-mode must be one of all, exactly, nodes"),
        ({"ha-mode": ["all"]}, "ha-mode must be one of"),
        ({"ha-params": 2}, "ha-params needs ha-mode"),
        ({"ha-sync-mode": "manual"}, "ha-sync-mode needs ha-mode"),
        ({"ha-mode": "all", "ha-params": 2}, "all takes no ha-params"),
        ({"ha-mode": "exactly"}, "integer above 0"),
        ({"ha-mode": "exactly", "ha-params": 0}, "integer above 0"),
        ({"ha-mode": "exactly", "ha-params": True}, "integer above 0"),
        ({"ha-mode": "exactly", "ha-params": "2"}, "integer above 0"),
        ({"ha-mode": "nodes", "ha-params": []}, "names of nodes"),
        ({"ha-mode": "nodes", "ha-params": "a"}, "names of nodes"),
        ({"ha-mode": "nodes", "ha-params": [1]}, "names of nodes"),
        ({"ha-mode": "all", "ha-sync-mode": "x"}, "ha-sync-mode must be one of"),
        ({"ha-mode": "all", "ha-sync-batch-size": 0}, "ha-sync-batch-size"),
        ({"message-ttl": 1000}, "message-ttl is not implemented by the reference"),
        ({"max-lenght": 5}, "max-lenght is not a policy setting"),
    ],
)
def test_impossible_policies_are_refused_with_the_reason(
    definition: dict[str, Any], reason: str
) -> None:
    with pytest.raises(PolicyError, match=reason):
        policy(definition)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "truncated"),
        (b'{"definition": {"ha-mode": "all"}}', "pattern"),
        (b'{"pattern": "(", "definition": {"ha-mode": "all"}}', "no regular expression"),
        (b'{"pattern": "q", "definition": {"ha-mode": "all"}, "apply-to": "x"}', "apply-to x"),
        (b'{"pattern": "q", "definition": {"ha-mode": "all"}, "priority": "x"}', "int"),
        (b'{"pattern": "\xff", "definition": {"ha-mode": "all"}}', "(?i)utf-8"),
        (b'{"pattern": "q", "definition": {"x":' + b"[" * 100_000, "recursion"),
        (b'{"pattern": "a{9999999999}", "definition": {"ha-mode": "all"}}', "number too big"),
    ],
)
def test_a_document_that_is_none_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(PolicyError, match=reason):
        parsed("p", body)
