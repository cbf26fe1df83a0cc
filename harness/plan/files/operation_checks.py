"""Checks of a scenario's operations that need several keys.

1. All problems are reported.
2. The shape finds missing and ill-typed keys.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from harness.outside.text import brief
from harness.plan.files.targets import TargetForm
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import MISSING, TomlProblem
from harness.plan.operation_options import AT_ONCE, FIRST_FIRST, IN_TURN, LAST_FIRST, OPTIONS
from harness.plan.operations import OPERATIONS, Operation, parse_through
from harness.plan.problems import nearest


def problems(
    operations: Sequence[object], queues: Sequence[str], faults: int = 0, *, grouped: bool = False
) -> Iterator[TomlProblem]:
    """`operations`: the tables as TOML has them; `queues`: those of the workload; `faults`: how
    many the scenario has; `grouped`: whether it has consumer groups."""
    for index, table in enumerate(operations):
        if not isinstance(table, dict):
            continue
        path: Path = ("operation", index)
        kind = OPERATIONS.get(str(table.get("kind")))
        if kind is not None:
            yield from _target(path, table, kind, queues, faults)
            if grouped and TargetForm.QUEUE in kind.targets:
                text = f"a {kind.name} means one queue; with consumer groups mqproof judges none"
                yield TomlProblem((*path, "kind"), text)
            yield from _options(path, table, kind)


def _target(
    path: Path, table: dict[str, Any], kind: Operation, queues: Sequence[str], faults: int
) -> Iterator[TomlProblem]:
    word, place = table.get("target", ""), (*path, "target")
    if not isinstance(word, str):
        return  # the shape says so
    forms = _forms(kind, queues)
    if not word and forms:
        yield TomlProblem(place, MISSING, forms)
        return
    try:
        target = kind.target(word)
    except ValueError:
        refusal = "it means the whole cluster, and takes no target" if not forms else ""
        text = refusal or f"{brief(word)} is no target of a {kind.name}"
        yield TomlProblem(place, text, forms, nearest(word, forms))
        return
    if target.fault > faults:
        yield TomlProblem(place, f"there is no fault {target.fault}")
    if target.queue and queues and target.queue not in queues:
        yield TomlProblem(
            place, f"the workload has no queue {brief(target.queue)}", forms, nearest(word, forms)
        )


def _forms(kind: Operation, queues: Sequence[str]) -> tuple[str, ...]:
    """The words that it takes, with the workload's queues in their places."""
    forms: list[str] = []
    for form in kind.targets:
        named = (
            [form.replace(TargetForm.QUEUE, queue) for queue in queues]
            if TargetForm.QUEUE in form
            else []
        )
        forms += named or ["a host's name" if form is TargetForm.HOST else form.value]
    return tuple(forms)


def _options(path: Path, table: dict[str, Any], kind: Operation) -> Iterator[TomlProblem]:
    for key in sorted(OPTIONS.keys() & table.keys() - set(kind.option_keys)):
        takers = tuple(one.name for one in OPERATIONS.values() if key in one.option_keys)
        text = f"a {kind.name} takes no {key}; only {', '.join(takers)} does"
        yield TomlProblem((*path, key), text, kind.option_keys)
    for key in kind.needs:
        if not table.get(key):
            yield TomlProblem((*path, key), f"a {kind.name} needs a {key}")
    yield from _order(path, table, kind)
    if "through" in kind.option_keys and "through" in table:
        yield from _through(path, table)


def _order(path: Path, table: dict[str, Any], kind: Operation) -> Iterator[TomlProblem]:
    order, place = table.get("order", AT_ONCE), (*path, "order")
    if "order" not in kind.option_keys or order == AT_ONCE:
        return
    if table.get("target") != TargetForm.ALL:
        yield TomlProblem(place, "one host has no order; only 'all' has")
    elif order in (LAST_FIRST, FIRST_FIRST) and not kind.means_stopped:
        text = f"{brief(order)} is for hosts that are down, and a {kind.name} means those that run"
        yield TomlProblem(place, text, (AT_ONCE, IN_TURN))


def _through(path: Path, table: dict[str, Any]) -> Iterator[TomlProblem]:
    """Check a host by its name; one that is down takes only offline orders."""
    word, place = table["through"], (*path, "through")
    if not isinstance(word, str):
        return
    through = parse_through(word)
    is_down = through is not None and through.form is not TargetForm.HOST
    if is_down and not table.get("offline"):
        text = (
            f"{brief(word)} is down then, and only offline operations run on a host that is down"
        )
        yield TomlProblem(place, text, ("a host's name",))
