"""The documentation's page of operations, as Markdown: which deployment offers which, by what.

`python -m tests.rigs.pages.operation_matrix > docs/operations.md` generates it; a test compares.
"""

from collections.abc import Iterable, Iterator

from faults.core.mechanisms import COMPOSE, LOCAL
from harness.plan.model import System
from harness.plan.operations import OPERATIONS
from harness.report import markdown
from harness.systems.catalogue import load_system, system_names
from tests.rigs.pages.names import code

DEPLOYMENTS = (COMPOSE, LOCAL)
_HEAD = """\
# What an operator can do

*Made by `python -m tests.rigs.pages.operation_matrix > docs/operations.md`; a test compares.*

Operations share the schedule with the faults and have no undo. When the run is over, mqproof
starts the brokers that they left stopped. If the cluster no longer matches its layout, it serves
no other run. If an operation fails, its run is INCONCLUSIVE, with the reason. Under `external`
only the owner operates the brokers.
"""


def lines(systems: Iterable[System]) -> Iterator[str]:
    """The table; what a deployment or a system has not stands below it, with the reason."""
    yield from markdown.head("operation", "what it does", "aimed at", "options", *DEPLOYMENTS)
    for one in OPERATIONS.values():
        words = (code(each) or "-" for each in (one.targets, one.option_keys))
        offers = (one.offers.get(deployment, "-") for deployment in DEPLOYMENTS)
        yield markdown.row((f"`{one.name}`", one.title, *words, *offers))
    yield ""
    for one in OPERATIONS.values():
        for why in dict.fromkeys(one.why_not.values()):
            where = [name for name, reason in one.why_not.items() if reason == why]
            yield f"- No `{one.name}` under {' or '.join(f'`{name}`' for name in where)}: {why}."
    for system in systems:
        for name, why in system.cannot.items():
            if name in OPERATIONS:
                yield f"- No `{name}` on `{system.name}`: {why}."


def page(systems: Iterable[System]) -> str:
    return "\n".join((_HEAD, *lines(systems), ""))


if __name__ == "__main__":
    print(page(load_system(name) for name in system_names()), end="")
