"""How long a cluster takes until it serves, and what it holds in memory then.

`python -m tests.benchmarks.ready_times [SYSTEM LAYOUT]...`: a line for each, as a table's rows;
without words RocketMQ's systems by containers. Ready is: every process answers and is listed, and
what the layout promises is there; images have been built before.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout

USUAL = (
    ("rocketmq-2m2s", "colocated@compressed"),
    ("rocketmq-2m2s", "separated@default"),
    ("rocketmq-dledger", "colocated@compressed"),
    ("rocketmq-dledger", "separated@default"),
    ("rocketmq-dledger", "two-groups@compressed"),
    ("rocketmq-controller", "colocated@compressed"),
    ("rocketmq-controller", "controllers-apart@default"),
)
REST_S = 5.0  # after it is ready


async def measured(system: str, label: str) -> tuple[float, int]:
    """Seconds, and octets of all hosts."""
    layout = load_layout(system, label)
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.monotonic()
        cluster = await ComposeDeployment(equip).up(layout, Path(folder), lambda _: None)
        ready_s = time.monotonic() - began_s
        try:
            await asyncio.sleep(REST_S)
            names, held = {host.name for host in layout.hosts}, dict[str, int]()
            async for sample in cluster.resources():
                if sample.host in names:
                    held[sample.host] = sample.memory_bytes
                if len(held) == len(names):
                    break
            return ready_s, sum(held.values())
        finally:
            await cluster.down()


def main(words: list[str]) -> None:
    cells = list(zip(words[::2], words[1::2], strict=True)) or USUAL
    print("| system | layout | ready after | memory of all hosts then |")
    print("| --- | --- | --- | --- |")
    for system, label in cells:
        seconds, octets = asyncio.run(measured(system, label))
        print(f"| `{system}` | `{label}` | {seconds:.1f} s | {octets >> 20} MiB |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
