"""How many schedules find each rule that is switched off: `python -m` this module prints a table
for docs/behaviour/rocketmq-elections.md 1.1. Medians of several series of seeds."""

import sys
from statistics import median

from reference_impl.rocketmq.dledger.rules import Rule
from tests.reference_impl.rocketmq.dledger.schedules import found_by, schedules_until_found

SERIES, LIMIT = 7, 400  # seeds of a series lie together, LIMIT after those of the one before


def main() -> None:
    for rule in Rule:
        mode = found_by(rule)
        firsts = range(0, SERIES * LIMIT, LIMIT)
        found = [schedules_until_found(mode, rule, first, LIMIT) or LIMIT + 1 for first in firsts]
        print(f"| `{rule}` | {mode.name} | {median(found):g} | {min(found)} to {max(found)} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
