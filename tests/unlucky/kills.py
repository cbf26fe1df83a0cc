"""Kills at random moments of runs: whom, when, what was left, and whether what was recorded reads.

    PYTHONPATH=. python -m tests.unlucky.kills --local 100 --both 20 --docker 20 --side-by-side 3

1. Every choice is fixed by the seed and the try's number; a try that went wrong names both.
2. Whichever process dies, in the end nothing of the run is left. If harness and guardian die
   together, the standby undoes the faults within STANDBY_LIMIT_S.
3. What was recorded stays readable: each run's folder is judged or said to be none, never a crash,
   and each delivery that says whose it is has its attempt in the log.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.executors import local_processes as processes
from harness.analyse.marts import judge_one
from harness.plan.seeds import stream
from harness.run_folder.whole import NotWhole, whole
from tests.rigs.machine.left_behind import guardians, java, standbys

ROOT = Path(__file__).parents[2]
END_LIMIT_S = 420.0  # two faults that are not verified ended take two minutes each
GONE_LIMIT_S = 60.0
STANDBY_LIMIT_S = 30.0  # from the kill of harness and guardian until no fault holds any more
MOMENT_S_MAX = {"local": 24.0, "compose": 45.0}  # of a run's life; later ones find it judged
SCENARIO = """
title = "A freeze and a kill that overlap, for tests that kill it"
[workload]
queues = ["orders"]
publishers = 2
consumers = 1
rate = 200
publisher_endpoint = "master of orders"
consumer_endpoint = "uninvolved"
[[fault]]
kind = "freeze"
target = "master of orders"
opens = "0 s"
lasts = "5 s"
[[fault]]
kind = "kill"
target = "mirror of orders"
opens = "1 s"
lasts = "3 s"
[phases]
baseline = "3 s"
recovery = "2 s"
settle = "1 s"
drain_limit = "20 s"
"""
HARNESS, GUARDIAN, BOTH = "harness", "guardian", "harness and guardian"
WORKER, NODE, PROXY, AGENT, JAVA = "worker", "node", "proxy", "agent", "Java"
LOCAL = (HARNESS, HARNESS, HARNESS, GUARDIAN, WORKER, NODE, NODE, PROXY, AGENT, JAVA)


@dataclass(frozen=True, slots=True)
class Try:
    """One run and its kill. `wrong`: what should not be; empty where all was well."""

    number: int
    deployment: str
    victim: str
    after_s: float
    killed: bool  # whether there was somebody to kill
    exit_code: int
    clean_s: float  # from the kill until nothing was left; of a run that goes on: from its end
    deliveries: int
    wrong: tuple[str, ...]


def attempt(seed: int, number: int, deployment: str, victims: Sequence[str]) -> Try:
    chance = stream(seed, "kills", deployment, str(number))
    victim = chance.choice(victims)
    after_s = chance.uniform(0.5, MOMENT_S_MAX[deployment] + (20 if victim == JAVA else 0))
    goes_on = chance.random() < 0.3
    folder = Path(tempfile.mkdtemp(prefix=f"unlucky-{number}-"))
    process = _run(folder, deployment)
    killed = _strike(process, folder, victim, after_s)
    since_s = time.monotonic()
    if HARNESS not in victim and not (goes_on or victim == JAVA) and process.poll() is None:
        process.send_signal(signal.SIGINT)
    wrong = []
    try:
        said, _ = process.communicate(timeout=END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        wrong.append(f"it had not ended after {END_LIMIT_S:g} s")
    since_s = since_s if HARNESS in victim and killed else time.monotonic()
    if victim == BOTH:
        wrong += _frozen_too_long(folder)
    left = _left(folder, deployment)
    wrong += [f"left behind: {', '.join(left)}"] if left else []
    clean_s = time.monotonic() - since_s
    wrong += _ended_badly(process.returncode, victim, said)
    deliveries, unreadable = _read(folder)
    wrong += unreadable
    if not wrong:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        (folder / "said.txt").write_text(said, encoding="utf-8")
        wrong.append(f"see {folder}")
    code = process.returncode
    return Try(
        number, deployment, victim, after_s, killed, code, clean_s, deliveries, tuple(wrong)
    )


def _run(folder: Path, deployment: str) -> "subprocess.Popen[str]":
    (folder / "short.toml").write_text(SCENARIO, encoding="utf-8")
    cell = ("--system", "reference-mirrored", "--layout", "all-automatic-ignore@T=2")
    return subprocess.Popen(
        [sys.executable, "-m", "harness", "run", "short.toml", *cell, "--deployment", deployment],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


# --- whom ----------------------------------------------------------------------------------------


def _strike(process: "subprocess.Popen[str]", folder: Path, victim: str, after_s: float) -> bool:
    """Wait so long, or until a process can be killed; return False if there was none."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(after_s)
    while process.poll() is None:
        found = [pid for one in victim.split(" and ") for pid in _pids(one, process.pid, folder)]
        if len(found) >= len(victim.split(" and ")):
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return True
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    return False


def _pids(victim: str, harness: int, folder: Path) -> list[int]:
    """Return one of them, the first by its number, or None if there is none."""
    roles = {
        WORKER: processes.WORKER,
        NODE: processes.NODE,
        PROXY: processes.PROXY,
        AGENT: processes.AGENT,
    }
    if victim == HARNESS:
        return [harness]
    if victim in roles:
        mine = [one for one in _mine(folder) if one.mark(processes.ROLE) == roles[victim]]
        return [one.pid for one in mine[:1]]
    return (java if victim == JAVA else guardians)(folder)[:1]


def _mine(folder: Path) -> list[processes.Running]:
    return [
        one for one in processes.every() if one.mark(processes.EXPERIMENT).startswith(str(folder))
    ]


# --- leftovers -----------------------------------------------------------------------------------


def _frozen_too_long(folder: Path) -> list[str]:
    """Name hosts that are still frozen STANDBY_LIMIT_S after the kill."""
    frozen = _frozen(folder)
    return [f"frozen after {STANDBY_LIMIT_S:g} s: {', '.join(frozen)}"] if frozen else []


@retry(
    stop=stop_after_delay(STANDBY_LIMIT_S),
    wait=wait_fixed(0.1),
    retry=retry_if_result(bool),
    retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
)
def _frozen(folder: Path) -> list[str]:
    return [one.mark(processes.HOST) for one in _mine(folder) if one.stopped]


@retry(
    stop=stop_after_delay(GONE_LIMIT_S),
    wait=wait_fixed(0.2),
    retry=retry_if_result(bool),
    retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
)
def _left(folder: Path, deployment: str) -> list[str]:
    """Return what remains after the permitted time."""
    left = [f"{one.mark(processes.ROLE)} {one.mark(processes.HOST)}" for one in _mine(folder)]
    left += ["a guardian" for _ in guardians(folder)]
    left += ["a standby" for _ in standbys(folder)]
    left += ["Java" for _ in java(folder)]
    left += [str(path) for path in (folder / "results").glob("*/deployments/*/data")]
    return left + (_of_the_engine(folder) if deployment == "compose" else [])


def _of_the_engine(folder: Path) -> list[str]:
    from docker.models.containers import Container
    from docker.models.networks import Network
    from docker.models.volumes import Volume

    from harness.deploy import engine, labels

    client = engine.connect()
    found: list[Container | Network | Volume] = [
        *client.containers.list(all=True, ignore_removed=True),
        *client.networks.list(),
        *client.volumes.list(),
    ]

    def mark(one: Container | Network | Volume) -> str:
        attributes = one.attrs
        marks = attributes.get("Labels") or attributes.get("Config", {}).get("Labels") or {}
        return str(marks.get(labels.EXPERIMENT, ""))

    return [str(one.name) for one in found if mark(one).startswith(str(folder))]


# --- what was recorded ---------------------------------------------------------------------------


def _ended_badly(code: int, victim: str, said: str) -> list[str]:
    wrong = []
    if code not in ((-signal.SIGKILL, 0, 1, 2, 130) if HARNESS in victim else (0, 1, 2, 130)):
        wrong.append(f"it ended with {code}")
    if "Traceback" in said or "defect of mqproof" in said:
        wrong.append("it crashed")
    return wrong


def _read(folder: Path) -> tuple[int, list[str]]:
    """How many deliveries were read, and what could not be."""
    number, wrong = 0, []
    for run in folder.glob("results/*/runs/*"):
        try:
            whole(run)  # seals what is not sealed yet
            judge_one(run)
        except NotWhole as reason:
            wrong += [f"{run.name}: {reason}"] if "damaged" in str(reason) else []
            continue
        sent, lost = _unsent(run)
        number += sent
        wrong += [f"{run.name}: {lost} deliveries without an attempt"] if lost else []
    crashes = [str(path) for path in folder.glob("results/**/crash-*")]
    return number, wrong + crashes


def _unsent(run: Path) -> tuple[int, int]:
    """Deliveries that say whose they are, and those of them whose attempt is not in the log."""
    raw = run / "raw"
    if not ((raw / "deliveries.parquet").exists() and (raw / "attempts.parquet").exists()):
        return 0, 0
    names = ["producer", "sequence", "attempt"]
    given = pq.read_table(raw / "deliveries.parquet", columns=[*names, "header_ok", "run_ok"])
    sent = pq.read_table(raw / "attempts.parquet", columns=names)
    known = set(zip(*(sent.column(name).to_pylist() for name in names), strict=True))
    rows = [row for row in given.to_pylist() if row["header_ok"] and row["run_ok"]]
    rows = [row for row in rows if row["producer"] >= 0]
    lost = [row for row in rows if tuple(row[name] for name in names) not in known]
    return len(rows), len(lost)


# --- many of them --------------------------------------------------------------------------------


def summary(tries: Sequence[Try]) -> Iterator[str]:
    """Counts by deployment and victim, the longest time until all was clean, what went wrong."""
    yield "| deployment | killed | tries | struck | longest until clean | deliveries | wrong |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    kinds = Counter((one.deployment, one.victim) for one in tries)
    for (deployment, victim), number in sorted(kinds.items()):
        own = [one for one in tries if (one.deployment, one.victim) == (deployment, victim)]
        yield (
            f"| {deployment} | {victim} | {number} | {sum(one.killed for one in own)} | "
            f"{max(one.clean_s for one in own):.1f} s | {sum(one.deliveries for one in own):,} | "
            f"{sum(bool(one.wrong) for one in own)} |"
        )
    for one in tries:
        for wrong in one.wrong:
            yield f"- try {one.number}, {one.victim} after {one.after_s:.1f} s: {wrong}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.unlucky.kills", description=__doc__)
    parser.add_argument("--local", type=int, default=100)
    parser.add_argument("--both", type=int, default=20)
    parser.add_argument("--docker", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--side-by-side", type=int, default=2)
    options = parser.parse_args()
    work: list[Callable[[], Try]] = []
    for number in range(options.local):
        work.append(lambda n=number: attempt(options.seed, n, "local", LOCAL))  # type: ignore[misc]
    for number in range(options.both):
        work.append(lambda n=number: attempt(options.seed, 1000 + n, "local", (BOTH,)))  # type: ignore[misc]
    for number in range(options.docker):
        work.append(lambda n=number: attempt(options.seed, n, "compose", (HARNESS,)))  # type: ignore[misc]
    tries = []
    with ThreadPoolExecutor(options.side_by_side) as pool:
        for one in pool.map(lambda do: do(), work):
            print(one, flush=True)
            tries.append(one)
    print("\n".join(summary(tries)))
    return int(any(one.wrong for one in tries))


if __name__ == "__main__":
    sys.exit(main())
