"""The options of a judgement beside the recorded facts."""

from dataclasses import dataclass, replace

from spark_analysis.schema.facts import RECONNECT_NS, Facts, Promise


@dataclass(frozen=True, slots=True)
class Question:
    """The options of one judgement: from the claims, from callers that judge several runs of one
    name, and from the journals of older runs."""

    run: str = ""  # what the run is called in its rows; "" is its own name
    acknowledges: bool = True
    polls: bool = False
    brokers_keep_progress: bool = False
    requeues_behind: bool = False
    reconnect_ns: int = RECONNECT_NS
    promises: tuple[Promise, ...] = ()
    checks_within_ns: int | None = None
    # Windows that an older run recorded among its faults, and that are proved never to have begun.
    not_begun: tuple[int, ...] = ()

    def of(self, facts: Facts) -> Facts:
        apart = [one for one in facts.windows if one.number in self.not_begun]
        return replace(
            facts,
            windows=tuple(one for one in facts.windows if one not in apart),
            not_begun=(*facts.not_begun, *apart),
            run=self.run or facts.run,
            acknowledges=self.acknowledges,
            polls=self.polls,
            brokers_keep_progress=self.brokers_keep_progress,
            requeues_behind=self.requeues_behind,
            reconnect_ns=self.reconnect_ns,
            promises=self.promises,
            checks_within_ns=self.checks_within_ns,
        )
