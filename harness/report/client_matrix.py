"""The documentation's table of a family's clients, as Markdown: what each can do, and why not.

`python -m harness.report.client_matrix` prints that of RocketMQ's clients, which stands in
compose/rocketmq-java/CLIENTS.md (a test compares).
"""

from collections.abc import Iterator, Sequence

from harness.plan.clients.declaration import CAPABILITIES, Client
from harness.plan.clients.registry import of_family
from harness.plan.clients.rocketmq import ROCKETMQ


def lines(clients: Sequence[Client] = of_family(ROCKETMQ)) -> Iterator[str]:
    """The table; each reason stands below it once, with all whom it keeps from it."""
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
            everyone = "any of them" if len(whom) == len(clients) else ", ".join(whom)
            yield f"- No {capability} with {everyone}: {why}."


if __name__ == "__main__":
    print("\n".join(lines()))
