"""Plays the pairs of faults that were not played yet: several batches at once.

`python -m tests.rigs.runs.play_fault_pairs --processes 4`. It may be stopped and run again: each
batch's results are written as soon as it ends. Pairs that a batch leaves open are played again at
the end, alone. If it was killed, `mqproof heal` removes the clusters that it left.
"""

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from faults.core.mechanisms import COMPOSE, LOCAL
from harness.plan.model import RunPlan
from tests.rigs.runs import fault_pairs_results as stored
from tests.rigs.runs.fault_pairs import BATCH, Pair, batches, pairs, planned
from tests.rigs.runs.fault_pairs_played import Reasons, play_batch


def play_all(batches: Sequence[Sequence[Pair]], options: argparse.Namespace) -> list[Pair]:
    """Play these batches and store what is verified. Return the pairs that are left."""
    left: list[Pair] = []
    with ProcessPoolExecutor(options.processes) as pool:
        playing = {pool.submit(play_batch, batch, options.deployment): batch for batch in batches}
        for number, done in enumerate(as_completed(playing), start=1):
            batch, found = playing[done], done.result()
            left += [pair for pair in batch if found.get(pair, "not played")]
            _store(found, options, final=len(batch) == 1)
            print(f"{number} of {len(batches)} batches, {len(left)} pairs left", flush=True)
            if time.monotonic() > options.until:
                pool.shutdown(cancel_futures=True)
                break
    return left


def _store(found: Reasons, options: argparse.Namespace, final: bool) -> None:
    """Only a pair that was played alone counts as open."""
    kept = {(options.deployment, pair): why for pair, why in found.items() if final or not why}
    stored.save({**stored.load(), **kept})
    if options.log is not None:
        with options.log.open("a") as log:
            log.writelines(
                json.dumps([pair.name, why, final]) + "\n" for pair, why in found.items()
            )


def _to_play(options: argparse.Namespace) -> Iterable[Pair]:
    results = stored.load()
    for pair in pairs(options.deployment):
        reason = results.get((options.deployment, pair))
        new = reason is None or (options.open and reason != "")
        named = not options.kinds or {*pair.kinds} & {*options.kinds}
        named = named and not {*pair.kinds} & {*options.without}
        if new and named and isinstance(planned(pair, options.deployment), RunPlan):
            yield pair


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deployment", choices=(LOCAL, COMPOSE), default=LOCAL)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--size", type=int, default=BATCH, help="pairs in one batch")
    parser.add_argument("--kinds", nargs="*", default=(), help="pairs with one of these kinds")
    parser.add_argument("--without", nargs="*", default=(), help="pairs with none of these kinds")
    parser.add_argument("--open", action="store_true", help="play open pairs again, too")
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="begin none after that")
    parser.add_argument("--log", type=Path, help="a file for every attempt and its reason")
    options = parser.parse_args()
    options.until = time.monotonic() + 60 * options.minutes
    return options


def main() -> None:
    options = _options()
    left = play_all(batches(_to_play(options), options.size), options)
    if left and time.monotonic() < options.until:
        play_all([(pair,) for pair in left], options)


if __name__ == "__main__":
    main()
