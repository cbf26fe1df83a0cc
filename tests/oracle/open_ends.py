"""The reasons why a missing message of a queue may still exist.

1. A consumer that died may have received the missing message; an incomplete drain may have left it
   behind; a place that could not be read may hold it.
"""

from spark_analysis.schema.facts import Facts


class OpenEnds:
    """The open ends of one run's queues."""

    def __init__(self, facts: Facts) -> None:
        self._logs_closed = all(w.log_closed for w in facts.workers if w.role == "consumer")
        self._drained = {end.queue for end in facts.queues if end.drained}
        self._unreadable = {end.queue for end in facts.queues if end.unreadable}

    def why(self, queue: str) -> str:
        """The first that holds; "" where nothing is open."""
        if not self._logs_closed:
            return "consumer_log"
        if queue not in self._drained:
            return "drain"
        return "unreadable" if queue in self._unreadable else ""
