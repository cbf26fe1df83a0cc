"""The documentation's page of clients, as Markdown: a table a family, what each can and cannot.

`python -m tests.rigs.pages.client_matrix > docs/clients.md` generates the page; a test compares.
"""

from collections.abc import Iterable, Iterator, Sequence

from harness.plan.clients.declaration import CAPABILITIES, Client
from harness.plan.clients.registry import OURS
from harness.report import markdown
from harness.view.grouping import by_key
from tests.rigs.pages.names import code

_HEAD = """\
# Clients, and what each can do

*Made by `python -m tests.rigs.pages.client_matrix > docs/clients.md`; a test compares.*

The libraries are unmodified. Where the list says "mqproof's own", the client is no library: the
number in its name is the version of the client that it behaves like. If a workload needs a
capability that its client lacks, the cell is NOT APPLICABLE, with the reason given below.
`mqproof list clients` also shows clients of other packages. To add one, see docs/extending.md."""


def page(clients: Iterable[Client]) -> str:
    parts = [_HEAD]
    for name, own in by_key(clients, lambda one: one.family.name).items():
        got = (f"- `{one.name}`: {one.title}. Installation: {one.how_to_get}" for one in own)
        parts += ["", f"## {name}", "", *got, "", *lines(own)]
    return "\n".join((*parts, ""))


def lines(clients: Sequence[Client]) -> Iterator[str]:
    """Yield the table of a family, then each reason once with the clients that it applies to."""
    yield from markdown.head("capability", "what it is", *(f"`{one.name}`" for one in clients))
    for capability, title in CAPABILITIES.items():
        offers = ("-" if each.why_not(capability) else "yes" for each in clients)
        yield markdown.row((capability, title, *offers))
    sizes = ("any" if each.body_max is None else f"{each.body_max:,}" for each in clients)
    yield markdown.row(("longest body", "in bytes", *sizes))
    yield ""
    for capability in CAPABILITIES:
        lacking = [(why, one.name) for one in clients if (why := one.why_not(capability))]
        for why, found in by_key(lacking, lambda one: one[0]).items():
            every = len(found) == len(clients) > 1
            whom = "all of them" if every else code(name for _, name in found)
            yield f"- `{capability}` is missing in {whom}: {why}."


if __name__ == "__main__":
    print(page(OURS.values()), end="")
