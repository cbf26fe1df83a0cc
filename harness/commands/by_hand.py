"""`mqproof up`, `status`, `fault`, `down`: clusters by hand, and faults on them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.shell import Shell, print_lines
from harness.judging.exits import Exit
from harness.plan.problems import PlanError, Problem

if TYPE_CHECKING:
    from harness.by_hand.requests import KeptClusters
    from harness.deploy.by_hand_files import ByHandCluster, ByHandClusters
    from harness.report.display import Display

_NEXT = (
    'inject a fault:  mqproof fault freeze "master of orders" --for 30s',
    "take them down:  mqproof down",
)


def up(
    context: typer.Context,
    systems: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SYSTEM[:LAYOUT]]...", help="Clusters to start."),
    ] = None,
    deployment: Annotated[
        str | None, typer.Option(help="compose, or local: subprocesses, without Docker.")
    ] = None,
) -> int:
    """Start clusters side by side, for your own clients. They run until `mqproof down`.

    By default: RabbitMQ with mirrored queues, RocketMQ with two masters and two slaves, and the
    reference of each.
    """
    from harness.by_hand import requests
    from harness.by_hand.choosing import chosen

    shell: Shell = context.obj
    words = tuple(systems or ())
    deployment, _ = chosen(words, deployment)
    display = shell.display()
    try:
        clusters = requests.up(words, deployment, _hearing(display))
    finally:
        display.close()
    print_lines(shell.out, [*_described(clusters, {}), *_NEXT])
    return 0


def status(context: typer.Context) -> int:
    """Show the clusters that run, how to reach them, and active faults."""
    from harness.by_hand import requests

    shell: Shell = context.obj
    one = requests.running()
    assert one.clusters is not None, "it runs"
    found = requests.status(one)
    print_lines(shell.out, [*_described(one.clusters, _states(found)), *_faults(found)])
    clean = all(cluster["clean"] for cluster in found["clusters"]) and not found["faults"]
    return Exit.PASSED if clean else Exit.FAILED


def fault(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="Kind of fault; see `mqproof list faults`.")],
    target: Annotated[str, typer.Argument(help='Where: "master of orders", a host, ...')],
    lasts: Annotated[str, typer.Option("--for", metavar="TIME", help="How long: 30s.")],
    system: Annotated[
        str,
        typer.Option(
            help="The cluster of this system, or SYSTEM:LAYOUT, if several are possible."
        ),
    ] = "",
    options: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="An option of the kind; repeatable."),
    ] = None,
) -> int:
    """Inject a fault, verify it from outside, and undo it when its time is over or at Ctrl-C."""
    from harness.by_hand import requests
    from harness.plan.one_fault import read_fault

    shell: Shell = context.obj
    given = {"kind": kind, "target": target, "lasts": lasts, **_options(options or ())}
    read_fault(given)
    one = requests.running()
    display = shell.display()
    try:
        return requests.fault(one, given, system, _hearing(display))
    finally:
        display.close()


def down(context: typer.Context) -> int:
    """Undo every fault, and remove the clusters that `mqproof up` started."""
    from harness.by_hand import requests

    shell: Shell = context.obj
    display = shell.display()
    found = requests.kept()
    if not found:
        display.message("no clusters by hand are running")
    try:
        return max((_taken_down(one, display) for one in found), default=Exit.PASSED)
    finally:
        display.close()


def _taken_down(one: "KeptClusters", display: "Display") -> Exit:
    from harness.by_hand import requests

    code = requests.down(one, _hearing(display))
    if code is Exit.PASSED:
        display.message("the clusters are down")
    return code


def _options(words: Sequence[str]) -> dict[str, object]:
    """Return options by key. Raise PlanError."""
    pairs = [word.partition("=") for word in words]
    wrong = [word for word, pair in zip(words, pairs, strict=True) if not all(pair)]
    keys = [key for key, _, _ in pairs]
    problems = [Problem("--set", f"{word!r} has not the form KEY=VALUE") for word in wrong]
    problems += [
        Problem(f"--set {key}", "is given twice")
        for key in dict.fromkeys(keys)
        if keys.count(key) > 1
    ]
    problems += [
        Problem(f"--set {key}", "has an argument of its own")
        for key in keys
        if key in ("kind", "target", "lasts")
    ]
    if problems:
        raise PlanError(problems)
    return {key: int(value) if value.isdecimal() else value for key, _, value in pairs}


def _hearing(display: "Display") -> Any:
    from harness.deploy import by_hand_lines as lines
    from harness.report.display import Steps

    steps = Steps(display)

    def hear(message: Mapping[str, Any]) -> None:
        if message["say"] == lines.STEP:
            steps.begin(str(message["text"]))
            return
        steps.end()
        if "text" in message:
            display.message(str(message["text"]))

    return hear


def _described(clusters: "ByHandClusters", states: Mapping[str, str]) -> Iterator[str]:
    """Yield a block of lines for each cluster. `states`: by system, or by system and layout if
    it has several clusters: what follows its title."""
    for cluster in clusters.clusters:
        of_system = states.get(cluster.system, cluster.title)
        state = states.get(f"{cluster.system}:{cluster.layout}", of_system)
        yield f"{cluster.system} {cluster.layout}: {state}"
        rows = [*_reach(cluster)]
        width = max(len(name) for name, _ in rows)
        yield from (f"  {name:{width}}  {where}" for name, where in rows)
        yield ""


def _reach(cluster: "ByHandCluster") -> Iterator[tuple[str, str]]:
    for port in cluster.ports:
        at = f"{port.address}:{port.port}"
        yield port.place, at if port.clients else f"http://{at}/"
    if cluster.hosts_file:
        yield "names for Java", f"-Djdk.net.hosts.file={cluster.hosts_file}"
    token = f" (Authorization: Bearer {cluster.token})" if cluster.token else ""
    yield "Toxiproxy", f"http://{cluster.proxy}/proxies{token}"


def _states(found: Mapping[str, Any]) -> dict[str, str]:
    return {one["system"]: _state(one, found) for one in found["clusters"]}


def _state(cluster: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return `clean`, or why it is not: docs/by-hand.md says what clean means."""
    active = sum(one["system"] == cluster["system"] for one in found["faults"])
    doubts = list(cluster["doubts"])
    if active:
        doubts.insert(0, f"{active} active {'fault' if active == 1 else 'faults'}, see below")
    return f"NOT CLEAN: {'; '.join(doubts)}" if doubts or not cluster["clean"] else "clean"


def _faults(found: Mapping[str, Any]) -> Iterator[str]:
    if found["run"]:
        yield f"a run uses {found['run']}"
    for one in found["faults"]:
        seen = "verified active" if one["verified"] else "not verified yet"
        yield f"{one['system']}: {one['title']}: {seen}, {one['left_s']:.0f} s left"
