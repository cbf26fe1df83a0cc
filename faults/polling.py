"""Questions with deadlines, repeated until they are answered or a limit has passed.

1. Every question has a deadline; a question that fails is a doubt, never an error of ours.
2. The kind of a fault says how long questions are repeated: processes take a moment to be seen
   dead, and one that got SIGTERM takes its own time.
3. The last doubt is reported when the limit has passed.
4. Kinds of faults wait by what stands here, and by nothing else: so they are pure beside it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from faults.core.model import FaultError, Proof, Reply
from faults.core.witness import SeesWays

QUESTION_LIMIT_S = 30.0
INTERVAL_S = 0.25

Question = Callable[[], Awaitable[Proof]]
Way = tuple[str, str]

gather = asyncio.gather  # several questions at once


async def until_proven(question: Question, limit_s: float) -> Proof:
    attempts = AsyncRetrying(
        stop=stop_after_delay(limit_s),
        wait=wait_fixed(INTERVAL_S),
        retry=retry_if_result(lambda proof: not proof.ok),
    )
    try:
        proof: Proof = await attempts(_bounded, question)
    except RetryError as error:
        last: Proof = error.last_attempt.result()
        return last
    return proof


async def repeated(question: Question, round_s: float, pause_s: float) -> Proof:
    """Return the first proof that is ok, or the last one of a round."""
    until = time.monotonic() + round_s
    while True:
        proof = await question()
        if proof.ok or time.monotonic() >= until:
            return proof
        await asyncio.sleep(pause_s)


async def reaches(
    witness: SeesWays, ways: Iterable[Way], wait_s: float | None = None
) -> dict[Way, Reply]:
    """One attempt on each way, all at once."""
    ways = list(ways)
    replies = await asyncio.gather(*(witness.reach(*way, wait_s) for way in ways))
    return dict(zip(ways, replies, strict=True))


async def _bounded(question: Question) -> Proof:
    try:
        async with asyncio.timeout(QUESTION_LIMIT_S):
            return await question()
    except TimeoutError:
        return Proof(ok=False, detail="", doubt=f"no evidence within {QUESTION_LIMIT_S:g} s")
    except FaultError as error:
        return Proof(ok=False, detail="", doubt=str(error))
