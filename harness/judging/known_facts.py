"""The facts that claims may name: mqproof's own, and those that packages bring.

1. A package declares a fact beside what gives its value: for the layouts of a system, or for the
   workload's section of a client family. Each run of that system or family records it.
2. For runs of other systems and families such a fact is not applicable. If a run of its own system
   or family did not record it, it is unknown. It is also unknown if the run's system or client is
   not installed here.
3. A recorded value of another type is unknown, too: perhaps another version of the package made
   the run.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.claims.state import Known, KnownFacts
from harness.claims.values import Interval, NotApplicable, Unknown
from harness.outside.text import brief
from harness.plan.brought_facts import is_of_kind, kind_text
from harness.plan.clients import registry as clients
from harness.plan.clients.client_options import name_of
from harness.plan.facts import Fact
from harness.plan.vocabulary import FACTS
from harness.run_folder.manifest import Manifest
from harness.systems import registry as systems


def every() -> dict[str, Fact]:
    """Return all facts, mqproof's own first."""
    return {**FACTS, **brought()}


def brought() -> dict[str, Fact]:
    """Return the facts that packages bring."""
    return {**clients.registry().facts, **systems.registry().facts}


def of_run(manifest: Manifest, words: Mapping[str, Any]) -> KnownFacts:
    """Return the declared and recorded facts of a run. `words`: what its raw rows say, of its
    `windows`, too."""
    document = {**manifest.state, **words}
    own, seen = (of.get("windows", {}) for of in (manifest.state, words))
    if windows := {
        number: {**own.get(number, {}), **seen.get(number, {})} for number in own | seen
    }:
        document["windows"] = windows
    known = KnownFacts.from_json(document)
    run = dict(known.run)
    others = {**not_of_system(manifest.system), **_not_of_client(manifest.client)}
    for name, fact in brought().items():
        if name in run:
            run[name] = _checked(name, fact, run[name])
        elif name in others:
            run[name] = NotApplicable(others[name])
    return replace(known, run=run)


def not_of_system(system: str) -> dict[str, str]:
    """Return the facts that only other systems have, each with why it does not apply.

    Of an unknown system nothing is known.
    """
    known = systems.registry().systems
    if system not in known:
        return {}
    return {
        name: f"{system} has no {name}; {other.name} has"
        for other in known.values()
        for name in other.facts
        if name not in known[system].facts
    }


def _not_of_client(word: str) -> dict[str, str]:
    """The same for the sections of client families; of an unknown client nothing is known."""
    found = clients.registry()
    client = found.clients.get(name_of(word))
    if client is None:
        return {}
    return {
        name: section.not_applicable
        for section in found.sections.values()
        for name in section.own_facts
        if section != client.family.section
    }


def _checked(name: str, fact: Fact, value: Known) -> Known:
    if isinstance(value, Unknown | NotApplicable):
        return value
    if isinstance(value, Interval) and fact.kind is float:
        return value
    if is_of_kind(fact, value):
        return value
    return Unknown(f"{name}: {brief(value)} was recorded, and it should be {kind_text(fact)}")
