"""The documented way on Kubernetes, against a stand-in for `kubectl`: pods are reference nodes.

The stand-in knows what the shipped script asks, and nothing else. It shows that the words of the
example do, undo and verify faults; not how a kubelet or the network of a pod behave.
"""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from faults.core.commands import DO, UNDO
from faults.core.model import FaultError
from faults.executors.commands import Commands
from harness.plan.layouts.topology import Topology
from harness.run_folder.seal import seal
from harness.systems.rabbitmq.foreign.core.own import own
from harness.systems.topologies import layout_of, read_topology
from tests.rigs.clusters import external as rig
from tests.rigs.clusters.external import Owner, performed
from tests.rigs.clusters.topologies import HEAD, SYSTEMS
from tests.rigs.runs.plans import fault, plan

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[4] / "examples" / "external"
PODS = ("rabbitmq-0", "rabbitmq-1", "rabbitmq-2")
KUBECTL = """#!{python}
import json, os, subprocess, sys
from pathlib import Path

folder = Path({folder!r})
nodes = json.loads((folder / "pods.json").read_text())  # pod -> the words that find its node


def node(word, pod):
    return subprocess.run([*nodes[pod][:2], word, *nodes[pod][2:]], stdout=sys.stderr).returncode


words = sys.argv[1:]
if (folder / "broken").exists():
    sys.exit("Unable to connect to the server")  # status 1, as kubectl's own
if words[0] == "exec" and words[2:5] == ["-c", "rabbitmq", "--"]:
    script = words[7]
    if script.startswith("grep -q"):
        print("no" if node("frozen", words[1]) else "yes")
        sys.exit(0)
    signal = {{"kill -KILL -1": "KILL", "kill -STOP -1": "STOP", "kill -CONT -1": "CONT"}}[script]
    sys.exit(node(signal, words[1]))
if words[0] == "exec" and words[2:6] == ["-c", "netadmin", "--", "sh"]:
    assert words[6] == "/scripts/cut.sh"
    cut = folder / (words[1] + ".cut")
    if words[7] == "verify":
        print("yes" if cut.exists() else "no")
        sys.exit(0 if cut.exists() else 1)
    if words[7] == "heal":
        cut.unlink(missing_ok=True)
        sys.exit(node("CONT", words[1]))
    cut.write_text(" ".join(words[7:]))
    sys.exit(node("STOP", words[1]) if words[7] == "black-hole" else 0)
if words[:2] == ["get", "pod"]:
    print("true" if node("down", words[2]) else "false", end="")
    sys.exit(0)
if words[0] == "wait":
    sys.exit(node("start", words[2].removeprefix("pod/")))
sys.exit("the stand-in does not know: " + " ".join(words))
"""


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        found.mirror()
        yield found


@pytest.fixture
def folder(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where mqproof runs: the example's scripts beside it, and `kubectl` on the path."""
    place = tmp_path / "here"
    shutil.copytree(EXAMPLES, place)
    words = {
        pod: [str(word) for word in owner.words("kill", node, ("do",))["do"]]
        for pod, node in zip(PODS, owner.nodes, strict=True)
    }
    (place / "pods.json").write_text(
        json.dumps({pod: [*w[:2], *w[3:]] for pod, w in words.items()})
    )
    kubectl = place / "kubectl"
    python = words[PODS[0]][0]
    kubectl.write_text(KUBECTL.format(python=python, folder=str(place)))
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")
    monkeypatch.chdir(place)
    return place


def example() -> Topology:
    return read_topology(
        "kubernetes", (EXAMPLES / "kubernetes.toml").read_text(), ("rabbitmq-quorum",)
    )


def on(owner: Owner) -> Topology:
    """The example's commands, for the nodes that play its pods."""
    base = owner.topology(kinds=(), head=HEAD.replace("10 s", "60 s"))
    brokers = tuple(
        replace(mine, host=its.host, commands=its.commands)
        for mine, its in zip(base.brokers, example().brokers, strict=True)
    )
    urls = {its.host: node.api for its, node in zip(brokers, owner.nodes, strict=True)}
    topology = replace(base, brokers=brokers, own=replace(own(base), management=urls))
    # A note of it is read again: it must say the same.
    assert read_topology("staging", base.source, SYSTEMS).system == topology.system
    return topology


def commands(folder: Path) -> Commands:
    return Commands("mqproof-1", example().commands, folder / "commands.jsonl", (), str(folder))


@pytest.mark.parametrize("kind", ["kill", "freeze", "partition", "black_hole"])
def test_each_fault_is_done_verified_and_undone_by_the_example(folder: Path, kind: str) -> None:
    known = commands(folder)

    async def verified() -> bool:
        result = await known.verify_result(PODS[1], kind)
        assert result is not None
        return result.in_force

    async def story() -> None:
        assert not await verified()
        await known.act(PODS[1], kind, DO)
        assert await verified()
        for _ in range(2):  # the undo is harmless if it runs twice
            await known.act(PODS[1], kind, UNDO)
        assert not await verified()

    asyncio.run(story())


def test_a_partition_names_the_other_pods(folder: Path) -> None:
    asyncio.run(commands(folder).act(PODS[0], "partition", DO))
    cut = (folder / f"{PODS[0]}.cut").read_text()
    asyncio.run(commands(folder).act(PODS[0], "partition", UNDO))
    assert cut.split()[0] == "partition"
    assert [word.partition(".")[0] for word in cut.split()[1:]] == [PODS[1], PODS[2]]


@pytest.mark.parametrize("kind", ["kill", "freeze", "partition"])
def test_a_kubectl_that_fails_is_no_answer(folder: Path, kind: str) -> None:
    (folder / "broken").touch()
    with pytest.raises(FaultError, match="ended with 126"):
        asyncio.run(commands(folder).verify_result(PODS[0], kind))
    with pytest.raises(FaultError, match="Unable to connect"):
        asyncio.run(commands(folder).act(PODS[0], kind, DO))


@pytest.mark.parametrize("kind", ["kill", "black_hole"])
def test_a_run_on_pods_is_verified_without_loss(
    owner: Owner, folder: Path, tmp_path: Path, kind: str
) -> None:
    of = plan(fault(kind, "mirror of orders"), lasts_s=6.0)
    of = replace(of, layout=layout_of(on(owner)), deployment="external")
    asyncio.run(asyncio.wait_for(performed(of, tmp_path), 240))
    manifest = seal(tmp_path / "runs" / of.name)
    (window,) = manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert manifest.failure == ""
