"""Makes the mutants of one part, tries a sample of them, and says which survived.

    python tests/mutation/run.py PART SESSION [--sample N] [--since REVISION] [--histories N]
        [--minutes M] [--again]

1. The sample is the same for the same code. A session is gone on with: what was tried in it of
   modules that have not changed since is not tried again; `--again` tries those that lived.
2. Only a verdict counts; what ended without one stays to be tried.
3. The share that survived has its exact bound (Clopper-Pearson); equivalent ones are counted in.
4. `--since`: only mutants of lines that differ from those of a git revision, by more than blanks.
"""

import argparse
import difflib
import hashlib
import json
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(Path.cwd())]

from mutants import Mutant, mutants, unchanged  # noqa: E402
from scipy.stats import binomtest  # noqa: E402
from trials import KILLED, SURVIVED, TIMED_OUT, Part, Trials, Tried  # noqa: E402

from harness.plan.seeds import stream  # noqa: E402

SEED = 16
Results = dict[Mutant, dict[str, Any]]
_FILE = re.compile(r"\+\+\+ b/(.+)")
_LINES = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def main(arguments: argparse.Namespace) -> None:
    until_s = time.monotonic() + arguments.minutes * 60
    part = Part(**tomllib.loads((HERE / "parts.toml").read_text())[arguments.part])
    made = mutants(part.modules, part.without)
    if arguments.since:
        changed = _changed(arguments.since)
        made = [each for each in made if (each.path, each.line) in changed]
    sample = stream(SEED, arguments.part).sample(made, min(arguments.sample, len(made)))
    session = Path(arguments.session)
    known = _read(session)
    if arguments.again:
        known = {
            each: result
            for each, result in known.items()
            if result["verdict"] == KILLED or each == unchanged(each.path)
        }
    control = unchanged(made[0].path)
    waiting = [each for each in (control, *sample) if each not in known]
    if waiting and arguments.minutes:
        trials = Trials(part, session.parent / "answers", arguments.histories)
        print(f"{until_s - time.monotonic():.0f} s left for mutants", flush=True)
        with session.open("a") as written:
            for tried in trials.of(waiting, until_s, arguments.cores):
                known[tried.mutant] = _as_row(tried)
                print(json.dumps(known[tried.mutant]), file=written, flush=True)
                if tried.mutant == control and tried.verdict != SURVIVED:
                    sys.exit(f"the tests fail without any mutant:\n{tried.words}")
    _report(made, {each: known[each] for each in sample if each in known})


def _changed(revision: str) -> set[tuple[str, int]]:
    """Return the lines of today that the revision does not have; a renamed file keeps its own."""
    words = ["git", "diff", "--no-ext-diff", "-U0", "-w", "-M", revision]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    path, lines = "", set()
    for line in text.splitlines():
        if found := _FILE.fullmatch(line):
            path = found[1]
        elif found := _LINES.match(line):
            first, number = int(found[1]), int(found[2] or 1)
            lines |= {(path, each) for each in range(first, first + number)}
    return lines


def _as_row(tried: Tried) -> dict[str, Any]:
    before = Path(tried.mutant.path).read_text().splitlines()
    lines = difflib.unified_diff(before, tried.mutant.code().splitlines(), lineterm="", n=0)
    change = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return {
        "mutant": asdict(tried.mutant),
        "source": _digest(tried.mutant.path),
        "verdict": tried.verdict,
        "change": change,
        "words": tried.words,
    }


def _read(session: Path) -> Results:
    """What the session holds of modules as they are now; the last word on each counts."""
    lines = session.read_text().splitlines() if session.exists() else []
    rows = [json.loads(line) for line in lines]
    return {
        Mutant(**each["mutant"]): each
        for each in rows
        if each["source"] == _digest(each["mutant"]["path"])
    }


def _digest(path: str) -> str:
    file = Path(path)
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16] if file.exists() else ""


def _report(made: list[Mutant], tried: Mapping[Mutant, Mapping[str, Any]]) -> None:
    """One line a module, the whole with its bound, then every mutant that did not die."""
    by_module: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mutant in made:
        by_module[mutant.path]["made"] += 1
    for mutant, result in tried.items():
        by_module[mutant.path]["tried"] += 1
        by_module[mutant.path][result["verdict"]] += 1
    columns = ("made", "tried", KILLED, TIMED_OUT, SURVIVED)
    print("| module |", " | ".join(columns), "|")
    for module, count in sorted(by_module.items()):
        print(f"| {module} |", " | ".join(str(count[column]) for column in columns), "|")
    whole = sum(by_module.values(), Counter[str]())
    print("| all |", " | ".join(str(whole[column]) for column in columns), "|")
    if tried:
        bound = binomtest(whole[SURVIVED], len(tried)).proportion_ci(0.95, method="exact")
        share = whole[SURVIVED] / len(tried)
        print(f"survived: {share:.1%} of those tried, {bound.low:.1%} to {bound.high:.1%}")
    for mutant, result in sorted(tried.items(), key=lambda each: (each[0].path, each[0].line)):
        if result["verdict"] != KILLED:
            place = f"{mutant.path}:{mutant.line}:{mutant.column}"
            print(
                f"\n{place} {mutant.operator} {result['verdict']}", *result["change"], sep="\n    "
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("part")
    parser.add_argument("session")
    parser.add_argument("--sample", type=int, default=sys.maxsize)
    parser.add_argument("--since", default="")
    parser.add_argument("--histories", type=int, default=sys.maxsize)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    main(parser.parse_args())
