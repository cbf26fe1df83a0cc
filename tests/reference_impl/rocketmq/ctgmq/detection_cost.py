"""How many schedules find each rule that is switched off, and how many lose messages: `python -m`
this module prints a table for docs/behaviour/rocketmq-ctgmq.md 3; its arguments are rules, without
any all of them. Medians of several series of seeds; the losses are those of the seeds 0 to 99."""

import sys
from statistics import median

from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from tests.reference_impl.rocketmq.ctgmq.schedules import (
    found_by,
    losses,
    schedules_until_found,
)

SERIES, LIMIT = 7, 200  # seeds of a series lie together, LIMIT after those of the one before
PLAYED = 100


def main(rules: list[ReplicaRule]) -> None:
    for rule in rules:
        mode = found_by(rule)
        firsts = range(0, SERIES * LIMIT, LIMIT)
        found = [schedules_until_found(mode, rule, first, LIMIT) or LIMIT + 1 for first in firsts]
        lost = sum(bool(losses(mode, seed, rule)) for seed in range(PLAYED))
        ends = f"{min(found)} to {max(found)}"
        print(f"| `{rule}` | {mode.name} | {median(found):g} | {ends} | {lost} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main([ReplicaRule(word) for word in sys.argv[1:]] or [*ReplicaRule])
