"""The policies that RabbitMQ accepts (docs/behaviour/rabbitmq.md items 2, 4, 8 to 10, 12, 44).

1. A key that RabbitMQ has and this broker has not is refused in so many words: nothing that
   an operator sets is silently ignored.
2. ha-params belong to the mode: `all` has none, `exactly` a count, `nodes` a list of names.
"""

from typing import Any

import msgspec

from reference_impl.metadata import patterns
from reference_impl.metadata.patterns import PatternError
from reference_impl.metadata.tables import Policy
from reference_impl.node.http import UNREADABLE

_CHOICES = {
    "ha-mode": ("all", "exactly", "nodes"),
    "ha-sync-mode": ("manual", "automatic"),
    "ha-promote-on-shutdown": ("when-synced", "always"),
    "ha-promote-on-failure": ("always", "when-synced"),
    "queue-master-locator": ("min-masters", "client-local", "random"),
}
_NOT_IMPLEMENTED = frozenset(
    {
        "alternate-exchange",
        "consumer-timeout",
        "dead-letter-exchange",
        "dead-letter-routing-key",
        "dead-letter-strategy",
        "delivery-limit",
        "expires",
        "federation-upstream",
        "federation-upstream-set",
        "max-in-memory-bytes",
        "max-in-memory-length",
        "max-length",
        "max-length-bytes",
        "message-ttl",
        "overflow",
        "queue-leader-locator",
        "queue-mode",
        "queue-version",
        "shards-per-node",
    }
)


class PolicyError(Exception):
    """A policy that cannot be; the text says why."""


class _Document(msgspec.Struct, rename="kebab"):
    pattern: str
    definition: dict[str, Any]
    priority: int = 0
    apply_to: str = "all"


def parsed(name: str, body: bytes) -> Policy:
    """The body of a PUT. Raises PolicyError."""
    try:
        document = msgspec.json.decode(body, type=_Document)
        patterns.check(document.pattern)
    except UNREADABLE as error:
        raise PolicyError(str(error)) from error
    except PatternError as error:
        raise PolicyError(f"{document.pattern} is no regular expression: {error}") from error
    _require(document.apply_to in ("all", "queues", "exchanges"), f"apply-to {document.apply_to}")
    _check(document.definition)
    return Policy(
        name, document.pattern, document.definition, document.priority, document.apply_to
    )


def _check(definition: dict[str, Any]) -> None:
    _require(bool(definition), "no policy settings given")
    for key, value in definition.items():
        if key in _CHOICES:
            wanted = ", ".join(_CHOICES[key])
            _require(value in _CHOICES[key], f"{key} must be one of {wanted}, not {value!r}")
        elif key == "ha-sync-batch-size":
            _require(_is_count(value), f"{key} must be an integer above 0, not {value!r}")
        elif key != "ha-params":
            is_known = key in _NOT_IMPLEMENTED
            why = "is not implemented by the reference" if is_known else "is not a policy setting"
            raise PolicyError(f"{key} {why}")
    if "ha-mode" in definition:
        _check_params(definition["ha-mode"], definition.get("ha-params"))
    else:
        for key in definition:
            _require(not key.startswith("ha-"), f"{key} needs ha-mode")


def _check_params(mode: str, params: Any) -> None:
    match mode:
        case "all":
            _require(params is None, "ha-mode all takes no ha-params")
        case "exactly":
            _require(_is_count(params), f"ha-params must be an integer above 0, not {params!r}")
        case "nodes":
            is_names = isinstance(params, list) and all(isinstance(it, str) for it in params)
            _require(is_names and params, f"ha-params must be names of nodes, not {params!r}")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise PolicyError(f"Validation failed: {otherwise}")
