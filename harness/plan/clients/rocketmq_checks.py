"""Checks of several keys of `[workload.rocketmq]` together: every problem, and what is valid.

1. The shape finds missing and ill-typed keys. A key that has no effect without another one is a
   mistake: its author meant something by it.
2. Oneway is how this protocol goes without confirms, so both keys must agree.
3. The publisher must still run when a broker asks for a transaction's fate: publishers live until
   the load has settled, and a broker asks once a minute. It also asks about transactions that were
   committed at once: END_TRANSACTION is oneway, so a fault may have lost it.
"""

from collections.abc import Iterator
from typing import Any

from harness.plan.files import spans
from harness.plan.files.fault_options import kind_of
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem

SENDS = ("sync", "async", "oneway", "ordered")
CONSUMES = ("concurrent", "orderly", "pull")
FATES = ("commit", "rollback", "commit when checked", "rollback when checked")
# transactionTimeOut 6 s and transactionCheckInterval 60 s by default (docs/behaviour/rocketmq.md
# 1): a half that is too young for one check waits for the next.
QUERIED_WITHIN_S = 70.0
_SECTION: Path = ("workload", "rocketmq")


def send_of(confirms: bool) -> str:
    """How a workload is sent whose file does not say it."""
    return "async" if confirms else "oneway"


def problems(document: dict[str, Any]) -> Iterator[TomlProblem]:
    """Each mistake in a scenario's document."""
    workload = document.get("workload")
    section = workload.get("rocketmq") if isinstance(workload, dict) else None
    if not isinstance(workload, dict) or not isinstance(section, dict):
        return
    confirms = workload.get("confirms", True)
    if isinstance(confirms, bool):
        yield from _send_problems(section, confirms)
    yield from _share_problems(section)
    yield from _attach_problems(section, workload)
    if section.get("transactional_percent"):
        yield from _settle_problem(document.get("phases"))
        yield from _crash_problems(document.get("fault"))


def _send_problems(section: dict[str, Any], confirms: bool) -> Iterator[TomlProblem]:
    send = section.get("send", send_of(confirms))
    path = (*_SECTION, "send")
    if confirms and send == "oneway":
        others = tuple(each for each in SENDS if each != "oneway")
        yield TomlProblem(
            path, "what is sent oneway is never confirmed: it takes confirms = false", others
        )
    elif not confirms and send in SENDS and send != "oneway":
        yield TomlProblem(
            path, f"{send} sends are confirmed; without confirms they are oneway", ("oneway",)
        )
    if send == "ordered" and section.get("latency_fault") is True:
        text = "what is sent ordered takes its queue by its key, so that no broker is left out"
        yield TomlProblem((*_SECTION, "latency_fault"), text, ("false",))
    for key, what in (("delayed_percent", "delayed"), ("transactional_percent", "transactional")):
        if not section.get(key):
            continue
        if send == "ordered":
            yield TomlProblem((*_SECTION, key), f"what is {what} keeps no order", ("0",))
        elif what == "transactional" and send == "oneway":
            yield TomlProblem(
                (*_SECTION, key), "a transaction is confirmed: it takes confirms = true", ("0",)
            )


def _attach_problems(section: dict[str, Any], workload: dict[str, Any]) -> Iterator[TomlProblem]:
    """Check that there are not more hosts than clients: each client uses one host."""
    for who in ("publishers", "consumers"):
        key = f"{who}_attach"
        hosts, count = section.get(key), workload.get(who)
        if isinstance(hosts, list) and isinstance(count, int) and len(hosts) > count:
            text = f"{len(hosts)} hosts are more than there are {who}, {count}"
            yield TomlProblem((*_SECTION, key), text)


def _share_problems(section: dict[str, Any]) -> Iterator[TomlProblem]:
    shares = {"delay_level": "delayed_percent", "fates": "transactional_percent"}
    for key, share in shares.items():
        if key in section and section.get(share, 0) == 0:
            yield TomlProblem((*_SECTION, key), f"says nothing without {share}")
    given = [section.get(share, 0) for share in shares.values()]
    if all(isinstance(each, int) for each in given) and sum(given) > 100:
        text = f"{' and '.join(shares.values())} are over 100 together: no message is both"
        yield TomlProblem((*_SECTION, "delayed_percent"), text)


def _settle_problem(phases: object) -> Iterator[TomlProblem]:
    settle = phases.get("settle", "5 s") if isinstance(phases, dict) else "5 s"
    try:
        least_s = spans.parse(settle).seconds
    except ValueError:
        return  # the shape says so
    if least_s < QUERIED_WITHIN_S:
        text = f"must be at least {QUERIED_WITHIN_S:g} s where brokers may ask for fates"
        yield TomlProblem(("phases", "settle"), text, (f"{QUERIED_WITHIN_S:g} s",))


def _crash_problems(faults: object) -> Iterator[TomlProblem]:
    for index, fault in enumerate(faults if isinstance(faults, list) else ()):
        kind = kind_of(fault) if isinstance(fault, dict) else None
        if kind is not None and kind.ends_client:
            text = "no broker can query a dead client for the fates of its transactions"
            yield TomlProblem(("fault", index, "kind"), text)
