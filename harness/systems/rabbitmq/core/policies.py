"""PURE: what a layout's policies say, and whether `copies` and `synchronise` say the same.

1. Claims take `copies` for a fact: it is held against the policy that will govern runs' queues.
2. A policy governs all queues of runs or none of them: else no number would be true of all.
3. Patterns are matched as a broker does: PCRE, with a limit of steps.
4. Keys are those of RabbitMQ 3.10 for classic queues. A layout mirrors on all hosts or on so many;
   on named nodes only an operation can (set_policy).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from harness.cluster.started_clients import OURS
from harness.outside.text import brief
from harness.plan.files.tables import Table
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem, none_of
from harness.plan.problems import nearest
from harness.systems.rabbitmq.core.cluster_state import DROPPING
from reference_impl.metadata import patterns

_MODE, _PARAMS, _SYNC_MODE = "ha-mode", "ha-params", "ha-sync-mode"
_ALL, _EXACTLY = "all", "exactly"
_WORDS = {
    _MODE: (_ALL, _EXACTLY),
    _SYNC_MODE: ("manual", "automatic"),
    "ha-promote-on-shutdown": ("when-synced", "always"),
    "ha-promote-on-failure": ("always", "when-synced"),
    "queue-mode": ("default", "lazy"),
    "queue-master-locator": ("min-masters", "client-local", "random"),
    "overflow": ("drop-head", "reject-publish", "reject-publish-dlx"),
}
_LEAST = {
    _PARAMS: 1,
    "ha-sync-batch-size": 1,
    "queue-version": 1,
    "max-length": 0,
    "max-length-bytes": 0,
    "message-ttl": 0,
    "expires": 1,
}
PATTERN_MAX = 1_000  # characters
_KEYS_SEEN_MAX = 64  # of one definition
_MOST = 2**63 - 1
_TEXTS = ("dead-letter-exchange", "dead-letter-routing-key")
KEYS = (*_WORDS, *_LEAST, *_TEXTS)
_QUEUES = (f"{OURS}a-1-0000.a", f"{OURS}unsynchronised-mirror-1000-ffff.orders_2")


@dataclass(frozen=True, slots=True)
class Mirrored:
    """How many copies of a queue there will be, how they synchronise, and by what."""

    copies: int
    synchronise: str
    why: str


class PolicyTable(Table):
    """A policy that the cluster starts with."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")] = Field(
        description="name of the policy"
    )
    pattern: Annotated[str, Field(max_length=PATTERN_MAX)] = Field(
        title="regular expression", description="the queues that it applies to"
    )
    definition: Annotated[dict[str, Any], Field(max_length=_KEYS_SEEN_MAX)] = Field(
        title="table",
        description="the policy's definition, in the broker's format. If the pattern matches "
        "the queues of runs, no key may let the broker drop messages (such as `max-length`)",
    )

    @property
    def governs(self) -> bool:
        """Whether it applies to the queues of runs."""
        return self.pattern is not None and all(
            patterns.matches(self.pattern, one) for one in _QUEUES
        )

    def pattern_problem(self) -> tuple[str, str] | None:
        """Return what is wrong with the pattern, and the right one if there is one."""
        pattern = self.pattern
        if pattern is None or len(pattern) > PATTERN_MAX:
            return None
        try:
            patterns.check(pattern)
        except patterns.PatternError as error:
            return f"{brief(pattern)} is no regular expression: {error}", ""
        try:
            fits = [patterns.search(pattern, queue) for queue in _QUEUES]
        except patterns.PatternError:
            limit = f"takes more than {patterns.STEPS_MAX:,} steps to match the name of a queue"
            advice = "nested repetitions such as `(a+)+` cause that; write it without them"
            return f"{brief(pattern)} {limit}: {advice}", ""
        if any(fits) and not all(fits):
            mistake = f"{brief(pattern)} fits some queues of runs and not others"
            return f"{mistake}: copies says what all have", f"^{re.escape(OURS)}"
        return None


def policy_problems(policies: Sequence[PolicyTable]) -> Iterator[TomlProblem]:
    """Yield what is wrong with policies, whatever else the layout says."""
    seen: set[str] = set()
    for place, name in enumerate(policy.name for policy in policies):
        if name is not None and name in seen:
            text = f"{brief(name)} is another policy's name: the later would replace the earlier"
            yield TomlProblem(("policies", place, "name"), text)
        seen.add(name)
    for place, policy in enumerate(policies):
        if wrong := policy.pattern_problem():
            text, right = wrong
            path = ("policies", place, "pattern")
            yield TomlProblem(path, text, (right,) if right else ())
    for place, policy in enumerate(policies):
        if policy.definition is not None:
            path = ("policies", place, "definition")
            yield from _definition(path, policy.definition)
            yield from _dropped(path, policy)


def _definition(path: Path, definition: Mapping[str, Any]) -> Iterator[TomlProblem]:
    if not definition:
        yield TomlProblem(path, "says nothing", KEYS)
    for key, value in islice(definition.items(), _KEYS_SEEN_MAX):
        yield from _value((*path, key), key, value)
    mirrors = [key for key in definition if key.startswith("ha-") and key in KEYS]
    if mirrors and _MODE not in definition:
        yield TomlProblem((*path, mirrors[0]), f"{mirrors[0]} needs {_MODE}", _WORDS[_MODE])
    if definition.get(_MODE) == _ALL and _PARAMS in definition:
        yield TomlProblem((*path, _PARAMS), f"{_MODE} = {_ALL!r} takes no {_PARAMS}")
    if definition.get(_MODE) == _EXACTLY and _PARAMS not in definition:
        text = f"{_MODE} = {_EXACTLY!r} needs {_PARAMS}: how many copies"
        yield TomlProblem((*path, _MODE), text)


def _dropped(path: Path, policy: PolicyTable) -> Iterator[TomlProblem]:
    """Claims about loss mean queues that keep what they confirmed."""
    if policy.pattern_problem() is not None or not policy.governs:
        return
    for key in policy.definition:
        if key in KEYS and key in DROPPING:
            text = "by this the broker drops messages, which mqproof would report as lost"
            yield TomlProblem((*path, key), f"{text}: leave it out for the queues of runs")


def _value(path: Path, key: str, value: object) -> Iterator[TomlProblem]:
    if key not in KEYS:
        yield TomlProblem(path, "no policy has such a key", KEYS, nearest(key, KEYS))
    elif key in _WORDS:
        if value not in _WORDS[key]:
            yield none_of(path, value, _WORDS[key])
    elif key in _LEAST:
        if type(value) is not int or not _LEAST[key] <= value <= _MOST:
            text = f"must be a whole number from {_LEAST[key]} on, not {brief(value)}"
            yield TomlProblem(path, text)
    elif not isinstance(value, str) or len(value) > PATTERN_MAX:
        yield TomlProblem(path, f"must be a text, not {brief(value)}")


def mirrored(policy: PolicyTable | None, members: int) -> Mirrored:
    """Return what the policy that governs queues makes of them. `members`: hosts of the cluster as
    it begins, spares left out."""
    table = (policy.definition or {}) if policy is not None else {}
    if policy is None or _MODE not in table:
        return Mirrored(1, "none", "no policy mirrors the queues of runs")
    wanted = members if table[_MODE] == _ALL else min(table[_PARAMS], members)
    mode = table[_MODE] if table[_MODE] == _ALL else f"{_EXACTLY} {table[_PARAMS]}"
    why = f"the policy {brief(policy.name)} says {mode} on {members} hosts"
    if wanted == 1:
        return Mirrored(1, "none", f"{why}, which leaves one copy")
    synchronise = table.get(_SYNC_MODE, "manual")
    return Mirrored(wanted, synchronise, f"{why}, synchronised {synchronise}")
