"""The documentation's table of RocketMQ's clients, as Markdown: what each can do, and why not.

`python -m harness.report.client_matrix` prints it; compose/rocketmq-java/CLIENTS.md holds it (a
test compares).
"""

from collections.abc import Iterator

from harness.plan.clients import CAPABILITIES, CLIENTS


def lines() -> Iterator[str]:
    """The table; each reason stands below it once, with all whom it keeps from it."""
    names = [f"`{name}`" for name in CLIENTS]
    yield f"| capability | what it is | {' | '.join(names)} |"
    yield f"| --- | --- |{' --- |' * len(names)}"
    for capability, title in CAPABILITIES.items():
        offers = ("-" if capability in each.cannot else "yes" for each in CLIENTS.values())
        yield f"| {capability} | {title} | {' | '.join(offers)} |"
    sizes = (f"{each.body_max:,}" for each in CLIENTS.values())
    yield f"| longest body | in bytes | {' | '.join(sizes)} |"
    yield ""
    for capability in CAPABILITIES:
        kept: dict[str, list[str]] = {}
        for client in CLIENTS.values():
            if capability in client.cannot:
                kept.setdefault(client.cannot[capability], []).append(f"`{client.name}`")
        for why, whom in kept.items():
            everyone = "any of them" if len(whom) == len(CLIENTS) else ", ".join(whom)
            yield f"- No {capability} with {everyone}: {why}."


if __name__ == "__main__":
    print("\n".join(lines()))
