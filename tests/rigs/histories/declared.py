"""What histories by hand declare of a healthy system, beside what is their own."""

from collections.abc import Mapping

from harness.histories.history import FactValue

# Of every system: confirms of durable messages, and one consumer that acknowledges.
LASTING: Mapping[str, FactValue] = {
    "progress_kept_by": "brokers",
    "confirms": True,
    "confirm_waits_for_mirrors": True,
    "durable": True,
    "persistent": True,
    "consumers": 1,
    "acknowledges": True,
    "no_ack": False,
    "client_endpoint": "hosts",
    "operations": 0,
}
MIRRORED: Mapping[str, FactValue] = {**LASTING, "copies": 3, "masters": 1, "elects": True}
