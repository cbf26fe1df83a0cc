"""Other clocks, names and orders, and records that say nothing new."""

from random import Random

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from spark_analysis.schema.facts import Worker
from spark_analysis.schema.words import Outcome
from tests.rigs.defects import harmless
from tests.rigs.defects.runs import MS, Run, S
from tests.rigs.histories.claim_names import STEADY
from tests.rigs.relations.relation import NONE, PASS, Relation, same, some_time, with_facts


def rename(run: Run, random: Random) -> Run | None:
    """Groups and client events name queues, connections and tags of their own."""
    named = any(it["queue"] or it["detail"] for it in run.table("client_events"))
    return None if named or run.facts.consumer_groups else harmless.rename(run, random)


def facts_in_another_order(run: Run, random: Random) -> Run:
    names = (
        *("workers", "queues", "absences", "competing_leaders", "clocks", "operations"),
        *("leadership_changes", "process_ends", "consumer_groups", "promises"),
    )
    listed = {name: getattr(run.facts, name) for name in names}
    shuffled = {name: tuple(random.sample(it, len(it))) for name, it in listed.items()}
    return with_facts(run, **shuffled)


def confirms_come_twice(run: Run, random: Random) -> Run:
    """A late copy of a confirm says nothing new."""
    copies = [
        {**it, "settled_ns": it["settled_ns"] + random.randint(1, 3 * S)}
        for it in run.table("settlements")
        if it["outcome"] == Outcome.CONFIRMED and random.random() < 0.3
    ]
    return run.having(settlements=[*run.table("settlements"), *copies])


def short_ticks(run: Run, random: Random) -> Run:
    """Some ticks of workers come late, by less than a stall."""
    ticks = [
        {
            "worker": it.number,
            "at_ns": some_time(run, random),
            "late_ns": random.randint(1, 20) * MS,
        }
        for it in run.facts.workers
        for _ in range(3)
    ]
    return run.having(lateness=[*run.table("lateness"), *ticks])


def an_idle_publisher(run: Run, _: Random) -> Run:
    return with_facts(run, workers=(*run.facts.workers, Worker(555, "publisher", True)))


def _same_by_whole_seconds(before: ClaimVerdict, after: ClaimOutcome) -> bool:
    """What was due in the steady state is counted by whole seconds of run time, so a claim near
    the smallest number that is enough may become NOT APPLICABLE, or PASS."""
    counted = before.claim == STEADY and {before.outcome, after} == {PASS, NONE}
    return counted or same(before, after)


SAME = (
    Relation(harmless.shift, _same_by_whole_seconds),
    *(
        Relation(change, same)
        for change in (
            *(harmless.shuffle, harmless.renumber, rename, facts_in_another_order),
            *(confirms_come_twice, short_ticks, an_idle_publisher),
        )
    ),
)
