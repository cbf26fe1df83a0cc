"""The part of a night's numbers that one test plays.

MQPROOF_SHARE=3/20 in the environment: this machine plays the third of twenty shares. Without it
this machine plays all. Each share is played in chunks, one test each, so that workers divide them.
"""

import os

SHARE = "MQPROOF_SHARE"
CHUNKS = 20


def share(text: str, numbers: range) -> range:
    """Return the K-th of N equal shares of the numbers, of the text "K/N", from 1/N to N/N."""
    part, _, of = text.partition("/")
    if not (part.isdecimal() and of.isdecimal() and 1 <= int(part) <= int(of)):
        raise ValueError(f"share {text!r}: expected K/N with 1 <= K <= N, such as 3/20")
    first, end = (len(numbers) * it // int(of) for it in (int(part) - 1, int(part)))
    return numbers[first:end]


def chunk_of_night(chunk: int, numbers: range) -> range:
    """Return the chunk, from 0 to CHUNKS - 1, of this machine's share of a night's numbers."""
    of_night = share(os.environ.get(SHARE, "1/1"), numbers)
    return share(f"{chunk + 1}/{CHUNKS}", of_night)
