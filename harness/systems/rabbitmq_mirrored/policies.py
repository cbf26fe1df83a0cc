"""PURE: what a layout's policies say, and whether `copies` and `synchronise` say the same.

1. Claims take `copies` for a fact: it is held against the policy that will govern runs' queues.
2. A policy governs all queues of runs or none of them: else no number would be true of all.
3. Patterns are matched as a broker does: PCRE, with a limit of steps.
4. Keys are those of RabbitMQ 3.10 for classic queues. A layout mirrors on all hosts or on so many;
   on named nodes only an operation can (set_policy).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from harness.cluster.started_clients import OURS
from harness.outside.text import brief
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem, none_of
from harness.plan.problems import nearest
from harness.systems.layout_parts import tables
from harness.systems.likeness import LIKE
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
class _Mirrored:
    """How many copies of a queue there will be, how they synchronise, and by what."""

    copies: int
    synchronise: str
    why: str


def mistakes(document: Mapping[str, Any], members: int) -> Iterator[TomlProblem]:
    """`members`: hosts of the cluster as it begins, spares left out."""
    own = [*_names(document), *_patterns(document)]
    for place, policy in tables(document, "policies"):
        own += _definition(("policies", place, "definition"), policy.get("definition"))
    yield from own
    if members and not own and LIKE not in document:
        yield from _against_policies(document, members)


def _names(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    seen: set[str] = set()
    for place, policy in tables(document, "policies"):
        name = policy.get("name")
        if isinstance(name, str) and name in seen:
            text = f"{brief(name)} is another policy's name: the later would replace the earlier"
            yield TomlProblem(("policies", place, "name"), text)
        elif isinstance(name, str):
            seen.add(name)


def _patterns(document: Mapping[str, Any]) -> Iterator[TomlProblem]:
    for place, policy in tables(document, "policies"):
        pattern = policy.get("pattern")
        if not isinstance(pattern, str) or len(pattern) > PATTERN_MAX:
            continue
        path = ("policies", place, "pattern")
        try:
            patterns.check(pattern)
        except patterns.PatternError as error:
            yield TomlProblem(path, f"{brief(pattern)} is no regular expression: {error}")
            continue
        try:
            fits = [patterns.search(pattern, queue) for queue in _QUEUES]
        except patterns.PatternError:
            limit = f"takes more than {patterns.STEPS_MAX:,} steps to match the name of a queue"
            advice = "nested repetitions such as `(a+)+` cause that; write it without them"
            yield TomlProblem(path, f"{brief(pattern)} {limit}: {advice}")
            continue
        if any(fits) and not all(fits):
            mistake = f"{brief(pattern)} fits some queues of runs and not others"
            text = f"{mistake}: copies says what all have"
            yield TomlProblem(path, text, (f"^{re.escape(OURS)}",))


def _definition(path: Path, definition: object) -> Iterator[TomlProblem]:
    if not isinstance(definition, dict):
        return
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


def _against_policies(document: Mapping[str, Any], members: int) -> Iterator[TomlProblem]:
    """Only what is right by itself is compared."""
    governing = [
        (place, policy)
        for place, policy in tables(document, "policies")
        if _governs(policy.get("pattern"))
    ]
    if len(governing) > 1:
        place, _ = governing[-1]
        text = "a second policy matches the queues of runs, and its rank is undefined; keep one"
        yield TomlProblem(("policies", place, "pattern"), text)
        return
    found = _mirrored(governing[0][1] if governing else {}, members)
    copies, synchronise = document.get("copies"), document.get("synchronise")
    if isinstance(copies, int) and not isinstance(copies, bool) and copies != found.copies:
        text = f"copies = {copies}, but {found.why}: {found.copies}"
        yield TomlProblem(("copies",), text, (str(found.copies),))
    if isinstance(synchronise, str) and synchronise != found.synchronise:
        text = f"synchronise = {brief(synchronise)}, but {found.why}: {found.synchronise!r}"
        yield TomlProblem(("synchronise",), text, (found.synchronise,))


def _governs(pattern: object) -> bool:
    return isinstance(pattern, str) and all(patterns.matches(pattern, one) for one in _QUEUES)


def _mirrored(policy: Mapping[str, Any], members: int) -> _Mirrored:
    definition = policy.get("definition")
    table = definition if isinstance(definition, dict) else {}
    if _MODE not in table:
        return _Mirrored(1, "none", "no policy mirrors the queues of runs")
    wanted = members if table[_MODE] == _ALL else min(table[_PARAMS], members)
    mode = table[_MODE] if table[_MODE] == _ALL else f"{_EXACTLY} {table[_PARAMS]}"
    why = f"the policy {brief(policy.get('name'))} says {mode} on {members} hosts"
    if wanted == 1:
        return _Mirrored(1, "none", f"{why}, which leaves one copy")
    synchronise = table.get(_SYNC_MODE, "manual")
    return _Mirrored(wanted, synchronise, f"{why}, synchronised {synchronise}")
