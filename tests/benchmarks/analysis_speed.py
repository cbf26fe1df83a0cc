"""How fast the analysis is: our Spark pipeline against DuckDB, on the same runs.

1. Both sides run in processes of their own, one after the other, and answer the same questions;
   where their answers differ, the figures mean nothing and the script fails.
2. DuckDB answers fewer (no stages, no provenance of duplicates), which favours it.

    python tests/benchmarks/analysis_speed.py [--runs 4] [--messages 250000] [--folder F]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[2]))

from spark_analysis.schema.arrow import arrow_schema
from spark_analysis.schema.facts import Facts, QueueEnd, Window, Worker
from spark_analysis.schema.tables import TABLES

MS = 1_000_000
STEP_NS = MS // 10
DEADLINE_NS = 500 * MS
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
        report(arguments, {side: measured(side, folder) for side in ("duckdb", "spark")})


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--messages", type=int, default=250_000, help="of each run")
    parser.add_argument("--folder", type=Path, help="kept; a temporary one by itself")
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
    identity = {"producer": number % 2, "sequence": number // 2, "attempt": 1}
    write(folder, "attempts", number, identity, intended_ns=intended, sent_ns=sent, connection=1)
    write(
        folder, "settlements", number[known], identity, settled_ns=settled, outcome=1, strength=1
    )
    copies = np.flatnonzero(draw.random(messages) < 0.001)
    copied = np.concatenate([np.flatnonzero(delivered), copies])
    received = np.concatenate([received[delivered], received[copies] + MS])
    order = np.argsort(received, kind="stable")
    flag = np.concatenate([np.zeros(delivered.sum(), int), np.ones(len(copies), int)])[order]
    times = {"received_ns": received[order], "redelivered": flag, "tag": np.arange(len(order))}
    checks = {"header_ok": 1, "payload_ok": 1, "run_ok": 1, "via": 1, "offset": -1}
    write(folder, "deliveries", copied[order], identity, row_times=times, connection=1, **checks)
    facts = {"facts": facts_of(folder.name, end).to_json()}
    (folder / "manifest.json").write_text(json.dumps(facts))


def write(
    folder: Path,
    table: str,
    number: np.ndarray,
    by_message: dict[str, object],
    row_times: dict[str, np.ndarray] | None = None,
    **values: object,
) -> None:
    """Columns that are not given are 0; those by message are picked by its number."""
    given = {**values, **(row_times or {})}
    columns = []
    for field in arrow_schema(TABLES[table]):
        if pa.types.is_dictionary(field.type):
            codes = pa.array(number // 2 % 2, pa.int32())
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
        clock_doubt="",
        workers=(Worker(0, "publisher", True), Worker(1, "publisher", True)),
        windows=(Window(1, "kill", origin, origin + MS, origin + MS, True, True, ""),),
        queues=tuple(QueueEnd(queue, True, True, "", ()) for queue in ("orders", "audit")),
        rivals=(),
    )


# --- the two sides ---


def by_spark(folders: list[Path]) -> dict[str, object]:
    from spark_analysis.engine.pipeline import analyse
    from spark_analysis.engine.session import session

    started = time.monotonic()
    spark = session()
    ready = time.monotonic()
    with tempfile.TemporaryDirectory() as marts:
        analyse(spark, [str(folder) for folder in folders], marts)
        done = time.monotonic()
        answers = {folder.name: spark_answers(Path(marts), folder.name) for folder in folders}
    spark.stop()
    return {
        "session_s": round(ready - started, 2),
        "job_s": round(done - ready, 2),
        "answers": answers,
    }


def spark_answers(marts: Path, run: str) -> list[int]:
    def of_run(mart: str) -> list[dict[str, object]]:
        return pq.read_table(marts / mart, filters=[("run", "=", run)]).to_pylist()

    counts = of_run("counts")
    wanted = ("lost", "lost_indeterminate", "duplicated", "reordered", "missed")
    whole = [row for row in of_run("availability") if (row["window"], row["queue"]) == (0, "")]
    seconds = of_run("seconds")
    return [
        *(sum(row["count"] for row in counts if row["measure"] == name) for name in wanted),  # type: ignore[misc]
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
        with duckdb.connect(config={"threads": 2, "memory_limit": "4GB"}) as connection:
            for statement in PREPARE:
                connection.execute(statement.format(raw=folder / "raw", **facts))
            answers[folder.name] = [
                int(value)
                for statement in ANSWER
                for value in connection.execute(statement.format(**facts)).fetchall()[0]
            ]
    return {"job_s": round(time.monotonic() - started, 2), "answers": answers}


PREPARE = (
    """CREATE TABLE messages AS
    SELECT a.producer, a.sequence, a.key, a.queue, a.connection, a.intended_ns, a.sent_ns,
           min(s.settled_ns) AS confirmed_ns
    FROM '{raw}/attempts.parquet' a
    LEFT JOIN '{raw}/settlements.parquet' s
      ON s.producer = a.producer AND s.sequence = a.sequence AND s.outcome = 1
    WHERE a.attempt = 1 GROUP BY ALL""",
    """CREATE TABLE first_deliveries AS
    SELECT producer, sequence, count(*) AS copies,
           min((received_ns, consumer, connection, tag)) AS place,
           arg_min(redelivered, (received_ns, consumer, connection, tag)) AS redelivered
    FROM '{raw}/deliveries.parquet'
    WHERE header_ok = 1 AND run_ok = 1 AND via IN (1, 2) GROUP BY producer, sequence""",
    """CREATE TABLE journeys AS
    SELECT m.*, copies, place, place[1] AS received_ns, redelivered
    FROM messages m LEFT JOIN first_deliveries USING (producer, sequence)""",
)
ANSWER = (
    """SELECT count(*) FILTER (confirmed_ns IS NOT NULL AND copies IS NULL),
           count(*) FILTER (confirmed_ns IS NULL AND copies IS NULL),
           sum(copies - 1) FILTER (copies > 1) FROM journeys""",
    """SELECT count(*) FROM (
        SELECT place > min(place) OVER (
            PARTITION BY producer, key, queue, connection ORDER BY sequence DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS overtaken
        FROM journeys WHERE confirmed_ns IS NOT NULL AND redelivered = 0) WHERE overtaken""",
    """SELECT count(*) FROM journeys
    WHERE confirmed_ns IS NULL OR confirmed_ns > intended_ns + {deadline_ns}""",
    """SELECT max(until_ns - from_ns) FROM (
        SELECT at_ns AS until_ns, lag(at_ns) OVER (ORDER BY at_ns) AS from_ns FROM (
            SELECT confirmed_ns AS at_ns FROM journeys WHERE confirmed_ns <= {load_ended_ns}
            UNION ALL VALUES ({load_started_ns}::BIGINT), ({load_ended_ns}::BIGINT)))""",
    """SELECT sum(confirmed), sum(delivered), count(*) FROM (
        SELECT second, sum(confirmed) AS confirmed, sum(delivered) AS delivered FROM (
            SELECT intended_ns // 1000000000 AS second, 0 AS confirmed, 0 AS delivered
                FROM journeys
            UNION ALL SELECT confirmed_ns // 1000000000, 1, 0 FROM journeys
                WHERE confirmed_ns IS NOT NULL
            UNION ALL SELECT received_ns // 1000000000, 0, 1 FROM journeys
                WHERE copies IS NOT NULL) GROUP BY second)""",
)

if __name__ == "__main__":
    main()
