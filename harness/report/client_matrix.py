"""The documentation's page of clients, as Markdown: a table a family, what each can and cannot.

`python -m harness.report.client_matrix > docs/clients.md` generates the page; a test compares.
"""

from collections.abc import Iterable, Iterator, Sequence

from harness.plan.clients.declaration import CAPABILITIES, Client
from harness.plan.clients.registry import OURS

_HEAD = """\
# Clients, and what each can do

*Made by `python -m harness.report.client_matrix > docs/clients.md`; a test compares.*

The libraries are unmodified. Where the list says "mqproof's own", the client is no library: the
number in its name is the version of the client that it behaves like. If a workload needs a
capability that its client lacks, it is NOT APPLICABLE, with the reason given below.
`mqproof list clients` also shows clients of other packages. To add one, see docs/extending.md."""


def page(clients: Iterable[Client]) -> str:
    """docs/clients.md."""
    families: dict[str, list[Client]] = {}
    for client in clients:
        families.setdefault(client.family.name, []).append(client)
    parts = [_HEAD]
    for name, own in families.items():
        parts += ["", f"## {name}", "", *(_got(client) for client in own), "", *lines(own)]
    return "\n".join((*parts, ""))


def _got(client: Client) -> str:
    return f"- `{client.name}`: {client.title}. Installation: {client.how_to_get}"


def lines(clients: Sequence[Client]) -> Iterator[str]:
    """Yield the table of a family, then each reason once with the clients that it applies to."""
    names = [f"`{client.name}`" for client in clients]
    yield f"| capability | what it is | {' | '.join(names)} |"
    yield f"| --- | --- |{' --- |' * len(names)}"
    for capability, title in CAPABILITIES.items():
        offers = ("-" if each.why_not(capability) else "yes" for each in clients)
        yield f"| {capability} | {title} | {' | '.join(offers)} |"
    sizes = ("any" if each.body_max is None else f"{each.body_max:,}" for each in clients)
    yield f"| longest body | in bytes | {' | '.join(sizes)} |"
    yield ""
    for capability in CAPABILITIES:
        kept: dict[str, list[str]] = {}
        for client in clients:
            if why := client.why_not(capability):
                kept.setdefault(why, []).append(f"`{client.name}`")
        for why, whom in kept.items():
            everyone = "any of them" if len(whom) == len(clients) > 1 else ", ".join(whom)
            yield f"- No {capability} with {everyone}: {why}."


if __name__ == "__main__":
    print(page(OURS.values()), end="")
