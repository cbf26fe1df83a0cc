"""The options of a judgement beside the recorded facts."""

from dataclasses import dataclass, replace

from spark_analysis.schema.facts import RECONNECT_NS, Facts, Promise


@dataclass(frozen=True, slots=True)
class Question:
    """The options of one judgement: from the claims, and from callers that
    judge several runs of one name."""

    run: str = ""  # what the run is called in its rows; "" is its own name
    acknowledges: bool = True
    polls: bool = False
    brokers_keep_progress: bool = False
    requeues_behind: bool = False
    reconnect_ns: int = RECONNECT_NS
    promises: tuple[Promise, ...] = ()
    checks_within_ns: int | None = None

    def of(self, facts: Facts) -> Facts:
        return replace(
            facts,
            run=self.run or facts.run,
            acknowledges=self.acknowledges,
            polls=self.polls,
            brokers_keep_progress=self.brokers_keep_progress,
            requeues_behind=self.requeues_behind,
            reconnect_ns=self.reconnect_ns,
            promises=self.promises,
            checks_within_ns=self.checks_within_ns,
        )
