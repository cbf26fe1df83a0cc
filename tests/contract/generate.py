"""Asks a real Toxiproxy 2.12.0 everything that the contract covers, and writes down its answers.

usage: python -m tests.contract.generate BINARY   (from the repository's root)
BINARY is Toxiproxy's own server program, e.g. copied out of mqproof's image:
    id=$(docker create mqproof/toxiproxy:2.12.0) && docker cp "$id:/toxiproxy" . && docker rm "$id"

1. Everything is played twice and must come out the same: an answer that depends on chance is no
   contract. Nor is a scenario that could not be played.
2. What was written before is replaced as a whole; the difference is for a person to judge.
"""

import json
import sys
from pathlib import Path

from tests.contract import servers
from tests.contract.play import BROKEN_OFF, Answers, play

ANSWERS = Path(__file__).with_name("answers.json")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    first, second = (play(lambda: servers.real(sys.argv[1])) for _ in range(2))
    unstable = [name for name in first if first[name] != second[name]]
    broken = [name for name in first if BROKEN_OFF in str(first[name])]
    for name in unstable + broken:
        print(f"no answer: {name}\n  {first[name]}\n  {second[name]}", file=sys.stderr)
    if unstable or broken:
        return 1
    ANSWERS.write_text(json.dumps(first, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    print(f"{len(first)} cases")
    return 0


def recorded() -> Answers:
    answers: Answers = json.loads(ANSWERS.read_text())
    return answers


if __name__ == "__main__":
    sys.exit(main())
