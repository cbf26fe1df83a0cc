"""How fast the analysis is: our Spark pipeline against DuckDB, on the same runs.

1. Both sides run in processes of their own, one after the other, and answer the same questions;
   where their answers differ, the figures mean nothing and the script fails.
2. DuckDB answers fewer (no stages, no service or charges, one provenance of duplicates, outages of
   the run but of no queue and no publisher, not what ended them), which favours it.
3. Its questions are the rules of findings.py and service.py, as far as these runs go: one attempt
   is confirmed of nearly every message, one connection, one window, no two publishes at once.

    python tests/benchmarks/analysis_speed.py [--runs 4] [--messages 250000] [--folder F] [--alone]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[2]))

from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.facts import Facts, QueueEnd, Window, Worker
from spark_analysis.schema.service import STRETCH_NS
from spark_analysis.schema.tables import TABLES
from tests.benchmarks.analysis_sql import ANSWER, PREPARE, SETTINGS

MS = 1_000_000
STEP_NS = MS // 10
SECOND = 1_000 * MS
DEADLINE_NS = 500 * MS
ACKNOWLEDGED = 8  # tags of one acknowledgement frame
SAMPLE_S = 0.2
Answers = dict[str, list[int]]


def main() -> None:
    arguments = parse()
    if arguments.side:
        folders = sorted(
            path for path in arguments.folder.iterdir() if path.name.startswith("run")
        )
        print(json.dumps({"spark": by_spark, "duckdb": by_duckdb}[arguments.side](folders)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for number in range(arguments.runs):
            write_run(folder / f"run{number:03}", arguments.messages, number)
        if arguments.alone:
            print({**measured("spark", folder), "rows": rows(folder)})
            return
        report(arguments, {side: measured(side, folder) for side in ("duckdb", "spark")})


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--messages", type=int, default=250_000, help="of each run")
    parser.add_argument("--folder", type=Path, help="kept; a temporary one by itself")
    parser.add_argument("--alone", action="store_true", help="Spark's side, and how many rows")
    parser.add_argument("--side", choices=["spark", "duckdb"], help=argparse.SUPPRESS)
    return parser.parse_args()


def report(arguments: argparse.Namespace, found: dict[str, dict[str, object]]) -> None:
    print(f"{arguments.runs} runs of {arguments.messages:,} messages")
    for side, each in found.items():
        print(f"{side:7}", {name: value for name, value in each.items() if name != "answers"})
    duckdb, spark = found["duckdb"], found["spark"]
    if duckdb["answers"] != spark["answers"]:
        sys.exit(f"they differ:\n{duckdb['answers']}\n{spark['answers']}")
    print(f"answers agree: {spark['answers']}")
    ratio = spark["job_s"] / duckdb["job_s"]  # type: ignore[operator]
    print(f"Spark needs {ratio:.2f} of DuckDB's time, its session not counted")


def measured(side: str, folder: Path) -> dict[str, object]:
    """What one side says, and the most memory that it and its children had together."""
    command = [sys.executable, __file__, "--side", side, "--folder", str(folder)]
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, resident_mb(process.pid))
            try:
                process.wait(SAMPLE_S)
            except subprocess.TimeoutExpired:
                continue
        assert process.stdout is not None
        answer: dict[str, object] = json.loads(process.stdout.read().splitlines()[-1])
    whole_s = round(time.monotonic() - started, 2)
    return {**answer, "process_s": whole_s, "peak_mb": peak}


def rows(folder: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in folder.glob("run*/raw/*.parquet"))


def resident_mb(root: int) -> int:
    """Memory of a process and all below it; pages that they share count once for each."""
    pages, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        pages[int(stat.parent.name)] = int(fields[21])
    family = {root}
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(pages.get(pid, 0) for pid in family) * 4096 // 2**20


# --- the runs ---


def write_run(folder: Path, messages: int, seed: int) -> None:
    """Two producers, an outage, and a little of all that goes wrong."""
    assert messages * STEP_NS > 3 * STRETCH_NS, "no good stretch before the outage, and after it"
    (folder / "raw").mkdir(parents=True)
    draw = np.random.default_rng(seed)
    number = np.arange(messages)
    intended = number * STEP_NS
    end = messages * STEP_NS
    outage = (intended > end * 0.4) & (intended < end * 0.45)
    sent = intended + draw.integers(0, MS, messages)
    settled = sent + draw.integers(MS, 5 * MS, messages) + np.where(outage, DEADLINE_NS, 0)
    known = draw.random(messages) > 0.001
    delivered = draw.random(messages) > 0.0005
    received = settled + np.where(draw.random(messages) < 0.003, 60 * MS, 0)
    identity = {"producer": number % 2, "sequence": number // 2}
    retried = np.flatnonzero(known & (draw.random(messages) < 0.001))
    tried = np.concatenate([number, retried])
    attempt = np.concatenate([np.ones(messages, int), np.full(len(retried), 2)])
    first = {"intended_ns": np.where(attempt == 1, intended[tried], -1), "attempt": attempt}
    write(folder, "attempts", tried, identity, first, sent_ns=sent, connection=1)
    known = known[tried]
    confirmed = {"outcome": 1, "strength": 1}
    write(
        folder,
        "settlements",
        tried[known],
        identity,
        {"attempt": attempt[known]},
        settled_ns=settled,
        **confirmed,
    )
    copies = np.flatnonzero(draw.random(messages) < 0.001)
    copied = np.concatenate([np.flatnonzero(delivered), copies])
    again = received[copies] + np.where(draw.random(len(copies)) < 0.5, MS, 2 * SECOND)
    received = np.concatenate([received[delivered], again])
    order = np.argsort(received, kind="stable")
    flag = np.concatenate([np.zeros(delivered.sum(), int), np.ones(len(copies), int)])[order]
    times = {"received_ns": received[order], "redelivered": flag, "tag": np.arange(len(order))}
    checks = {"header_ok": 1, "payload_ok": 1, "run_ok": 1, "via": 1, "offset": -1}
    strayed = draw.random(len(order)) < 0.001
    write(
        folder,
        "deliveries",
        copied[order],
        identity,
        times,
        strayed,
        connection=1,
        attempt=1,
        **checks,
    )
    acknowledge(folder, received[order], draw)
    facts = {"facts": facts_of(folder.name, end).to_json()}
    (folder / "manifest.json").write_text(json.dumps(facts))


def acknowledge(folder: Path, received_ns: np.ndarray, draw: np.random.Generator) -> None:
    """So many tags with one frame, but for a few frames; then the connection is closed."""
    first = np.arange(0, len(received_ns), ACKNOWLEDGED)
    first = first[draw.random(len(first)) > 0.005]
    last = np.minimum(first + ACKNOWLEDGED, len(received_ns)) - 1
    tags = {"first_tag": first, "last_tag": last, "written_ns": received_ns[last] + MS}
    write(folder, "acknowledgements", first, {}, tags, connection=1)
    kind = {"kind": pa.array(["closed"]), "at_ns": received_ns[-1:] + SECOND}
    write(folder, "client_events", first[:1], {}, kind, connection=1)


def write(
    folder: Path,
    table: str,
    number: np.ndarray,
    by_message: dict[str, object],
    row_times: Mapping[str, np.ndarray | pa.Array] | None = None,
    strayed: np.ndarray | int = 0,
    **values: object,
) -> None:
    """Columns that are not given are 0; those by message are picked by its number. What strayed is
    in the other queue."""
    given = {**values, **(row_times or {})}
    columns = []
    for field in arrow_schema(TABLES[table]):
        if pa.types.is_dictionary(field.type):
            if field.name in given:
                columns.append(given[field.name].dictionary_encode().cast(field.type))
                continue
            codes = pa.array((number // 2 + strayed) % 2, pa.int32())
            columns.append(pa.DictionaryArray.from_arrays(codes, ["orders", "audit"]))
            continue
        value = given.get(field.name, 0)
        if field.name == "key":
            value = number % 64
        elif field.name in by_message:
            value = by_message[field.name]
            value = value[number] if isinstance(value, np.ndarray) else value
        elif isinstance(value, np.ndarray) and len(value) != len(number):
            value = value[number]
        columns.append(pa.array(np.broadcast_to(value, len(number))).cast(field.type))
    found = pa.Table.from_arrays(columns, schema=arrow_schema(TABLES[table]))
    pq.write_table(found, folder / "raw" / f"{table}.parquet", compression="zstd")


def facts_of(run: str, end: int) -> Facts:
    origin = int(end * 0.4)
    return Facts(
        run=run,
        scenario="benchmark",
        system="none",
        layout="none",
        client="none",
        repeat=1,
        load_started_ns=0,
        load_ended_ns=end,
        deadline_ns=DEADLINE_NS,
        paced=True,
        confirms=True,
        clock_problem="",
        workers=(Worker(0, "publisher", True), Worker(1, "publisher", True)),
        windows=(
            Window(1, "kill", origin, origin + MS, origin + MS, True, True, "", origin + MS),
        ),
        queues=tuple(QueueEnd(queue, True, True, "", ()) for queue in ("orders", "audit")),
        competing_leaders=(),
    )


# --- the two sides ---


def by_spark(folders: list[Path]) -> dict[str, object]:
    from spark_analysis.engine.pipeline import analyse
    from spark_analysis.engine.session import session, stop

    started = time.monotonic()
    spark = session()
    ready = time.monotonic()
    with tempfile.TemporaryDirectory() as marts:
        analyse(spark, [str(folder) for folder in folders], marts)
        done = time.monotonic()
        answers = {folder.name: spark_answers(Path(marts), folder.name) for folder in folders}
    stop(spark)
    return {
        "session_s": round(ready - started, 2),
        "job_s": round(done - ready, 2),
        "answers": answers,
    }


def spark_answers(marts: Path, run: str) -> list[int]:
    def of_run(mart: str) -> list[dict[str, object]]:
        return pq.read_table(marts / mart, filters=[("run", "=", run)]).to_pylist()

    counts = of_run("counts")
    wanted = (
        *("lost", "lost_indeterminate", "duplicated", "reordered", "reorder_unknown", "missed"),
        *("attempt_lost", "not_redelivered", "misrouted"),
    )
    after_ack = [row["count"] for row in counts if row["detail"] == "redelivery_after_ack"]
    outages = [row for row in of_run("outages") if row["scope"] == "run"]
    whole = [row for row in of_run("availability") if (row["window"], row["queue"]) == (0, "")]
    seconds = of_run("seconds")
    return [
        *(sum(row["count"] for row in counts if row["measure"] == name) for name in wanted),  # type: ignore[misc]
        sum(after_ack),  # type: ignore[arg-type]
        len(outages),
        *(sum(row[name] for row in outages) for name in ("from_ns", "until_ns", "bad")),  # type: ignore[misc]
        whole[0]["silence_ns"],  # type: ignore[list-item]
        *(sum(row[name] for row in seconds) for name in ("confirmed", "delivered")),  # type: ignore[misc]
        len(seconds),
    ]


def by_duckdb(folders: list[Path]) -> dict[str, object]:
    import duckdb

    started = time.monotonic()
    answers = {}
    for folder in folders:
        facts = json.loads((folder / "manifest.json").read_text())["facts"]
        names = {**facts["windows"][0], **facts, "raw": folder / "raw"}
        with duckdb.connect(config={**SETTINGS, "memory_limit": "4GB"}) as connection:
            for statement in PREPARE:
                connection.execute(statement.format(**names))
            answers[folder.name] = [
                int(value)
                for statement in ANSWER
                for value in connection.execute(statement.format(**names)).fetchall()[0]
            ]
    return {"job_s": round(time.monotonic() - started, 2), "answers": answers}


if __name__ == "__main__":
    main()
