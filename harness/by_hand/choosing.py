"""The words of `mqproof up`: SYSTEM or SYSTEM:LAYOUT become layouts of clusters by hand.

1. Every unknown word and every layout that cannot run so is a problem; all are reported at once.
   A layout may end in a version, as in `three@T=60+4.0.5`.
2. Policies mean every queue: people name their queues as they like.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faults.core.mechanisms import COMPOSE, LOCAL, TOXIPROXY
from harness.deploy.by_hand_layouts import named, of_every_queue
from harness.outside.text import brief
from harness.plan.checks.applicability import layout_obstacles
from harness.plan.layouts import variants
from harness.plan.layouts.layout_values import OF_DISTRIBUTION, OF_IMAGE
from harness.plan.model import Layout, System
from harness.plan.problems import PlanError, Problem, twice, unknown
from harness.systems import catalogue

PLACE = "SYSTEM[:LAYOUT]"
DEPLOYMENTS = (COMPOSE, LOCAL)
DOCS = "see docs/by-hand.md"
_VERSIONS = "leave the version out, or name an image in a layout file; see docs/systems.md"


@dataclass(frozen=True, slots=True)
class ByHandChoice:
    """A chosen cluster. `alias`: `SYSTEM:LAYOUT`, if several clusters of the system are chosen."""

    system: System
    layout: Layout
    layout_word: str  # by which the layout was named
    alias: str = ""

    @property
    def name(self) -> str:
        """The name that no other cluster has, as `--system` takes it."""
        return self.alias or self.system.name

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.name.replace(":", "-")


def chosen(words: Sequence[str], deployment: str | None) -> tuple[str, tuple[ByHandChoice, ...]]:
    """Return the deployment and the clusters. Raise PlanError with every problem.

    Without a deployment it is Compose, or local if that is the default of every named system.
    """
    problems: list[Problem] = []
    if deployment is not None and deployment not in DEPLOYMENTS:
        problems.append(unknown("--deployment", "deployment", deployment, DEPLOYMENTS))
        deployment = None
    found: list[ByHandChoice] = []
    for word in words:
        try:
            found.append(_choice(word))
        except PlanError as error:
            problems += error.problems
    deployment = deployment or _deployment(found)
    found = found if words else [*_by_default(deployment)]
    problems += [*_twice(found, deployment), *_unlike_kernels(found, deployment)]
    problems += [one for choice in found for one in _obstacles(choice, deployment)]
    if problems:
        raise PlanError(problems)
    return deployment, tuple(_distinct(found))


def _twice(found: Sequence[ByHandChoice], deployment: str) -> Iterator[Problem]:
    """Yield clusters that are named twice. Only containers run several of one system."""
    if deployment == COMPOSE:
        yield from twice(PLACE, map(_alias, found))
    else:
        yield from twice(PLACE, (one.system.name for one in found))


def _unlike_kernels(found: Sequence[ByHandChoice], deployment: str) -> Iterator[Problem]:
    """Yield clusters that would share the kernel settings of one proxy, and need other ones."""
    retries = {_alias(one): one.layout.client_tcp_retries2 for one in found}
    if deployment == COMPOSE and len(set(retries.values())) > 1:
        named = ", ".join(
            f"{name}: {'the default' if number is None else number}"
            for name, number in retries.items()
        )
        text = f"clusters by hand have one proxy, and these need several tcp_retries2 ({named})"
        yield Problem(PLACE, text, advice="start them one after the other")


def _distinct(found: Sequence[ByHandChoice]) -> Iterator[ByHandChoice]:
    counted = Counter(one.system.name for one in found)
    for one in found:
        yield replace(one, alias=_alias(one)) if counted[one.system.name] > 1 else one


def _alias(choice: ByHandChoice) -> str:
    return f"{choice.system.name}:{choice.layout.label}"


def _by_default(deployment: str) -> Iterator[ByHandChoice]:
    for name in catalogue.system_names():
        system = catalogue.load_system(name)
        if system.by_hand and deployment in system.deployments:
            yield _choice(name)


def absolute(word: str) -> str:
    """Return the same word for a process in another folder: a layout may be a file."""
    name, _, label = word.partition(":")
    file = catalogue.split_profile(variants.split(label)[0])[0]
    return f"{name}:{Path(label).absolute()}" if catalogue.is_path(file) else word


def _deployment(found: Sequence[ByHandChoice]) -> str:
    everywhere = found and all(one.system.deployments[0] == LOCAL for one in found)
    return LOCAL if everywhere else COMPOSE


def _choice(word: str) -> ByHandChoice:
    name, separator, label = word.partition(":")
    names = catalogue.system_names()
    if name not in names:
        spoilt = catalogue.spoilt().get(name, "")
        raise PlanError(
            [Problem(PLACE, spoilt, names) if spoilt else unknown(PLACE, "system", name, names)]
        )
    system = catalogue.load_system(name)
    if separator and not label:
        raise PlanError([Problem(PLACE, f"{brief(word)} names no layout after the colon")])
    layout = _layout(system, label or system.default_layout)
    return ByHandChoice(system, of_every_queue(layout), label or system.default_layout)


def _layout(system: System, word: str) -> Layout:
    has_image = _has_image(system, variants.split(word)[0])
    if wrong := [*variants.problems((), (), [system], [word], has_image)]:
        raise PlanError(replace(one, place=PLACE, advice=_VERSIONS) for one in wrong)
    try:
        layout = named(system, word)
    except PlanError as error:
        # Of a word, not of an option; what is wrong inside a file has its line.
        inside = (catalogue.FLAG, "")
        raise PlanError(
            replace(one, place=PLACE) if one.place in inside else one for one in error.problems
        ) from None
    mark = word.rpartition(variants.MARK)[2]
    if mark in (OF_IMAGE, OF_DISTRIBUTION) and not layout.label.endswith(mark):
        text = f"{brief(word)} does not say which {mark}"
        advice = f"name the {mark} in a layout file; see docs/systems.md"
        raise PlanError([Problem(PLACE, text, advice=advice)])
    return layout


def _has_image(system: System, word: str) -> bool:
    try:
        return bool(named(system, word).image)
    except PlanError:
        return False  # what is wrong with the layout is reported when it is read


def _obstacles(choice: ByHandChoice, deployment: str) -> Iterator[Problem]:
    system, layout = choice.system, choice.layout
    place = f"{system.name}:{layout.label}"
    for reason in layout_obstacles(system, layout, deployment):
        advice = f"`mqproof list layouts --system {system.name}` shows others; {DOCS}"
        yield Problem(place, reason, advice=advice)
    if layout.balancers:
        text = f"clients connect through {layout.client_endpoint}, which only a run has"
        yield Problem(place, text, advice="take a layout without balancers")
    if deployment == COMPOSE and layout.peer_links == TOXIPROXY:
        text = "its peer links lead through the proxy, which only a run has"
        yield Problem(place, text, advice="take a layout with direct peer links")
