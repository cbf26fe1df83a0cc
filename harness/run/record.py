"""The harness's own log of a run: faults, operations, probes, resources.

1. It is a log like a worker's: append-only, whole up to its last record, sealed with the others.
2. Times come in as CLOCK_MONOTONIC ns of this machine and go in as run time.
3. A full disk is remembered, not raised into the middle of a fault: undoing comes first.
"""

from collections.abc import Mapping
from pathlib import Path

from faults.core.model import Armed, Proof, Receipt
from harness.cluster.port import HostSample, Roles
from harness.plan.distribution import NAMED_MAX
from harness.run_folder import replica_looks
from harness.run_folder.operations import OperationRecord
from harness.run_folder.seal import HARNESS
from spark_analysis.files.log import LogFull, LogWriter
from spark_analysis.schema.tables import FAULTS, OPERATIONS, PROBES, RESOURCES


class RunRecorder:
    """Appends rows to `logs/harness`; `doubt` says why it could not, "" where it could."""

    def __init__(self, logs: Path, origin_ns: int, run: str = "") -> None:
        self._log = LogWriter(logs / HARNESS, run)
        self._origin_ns = origin_ns
        self.doubt = ""

    def fault(self, armed: Armed, event: str, at_ns: int, ok: bool, detail: str = "") -> None:
        self._log.append(
            FAULTS,
            armed.window,
            event,
            at_ns - self._origin_ns,
            armed.kind,
            armed.target,
            armed.resolved,
            armed.role,
            armed.mechanism,
            int(ok),
            detail,
        )
        self.flush()

    def returned(self, armed: Armed, issued: str, returned: str, receipt: Receipt) -> None:
        """The two events of actions that returned."""
        self.fault(armed, issued, receipt.issued_ns, True)
        self.fault(armed, returned, receipt.returned_ns, True)

    def proof(self, armed: Armed, kind: str, started_ns: int, ended_ns: int, proof: Proof) -> None:
        """A verification as a probe: what was asked from outside, and what was seen."""
        self._log.append(
            PROBES,
            0,
            kind,
            armed.resolved,
            started_ns - self._origin_ns,
            ended_ns - self._origin_ns,
            int(proof.ok),
            proof.doubt or proof.detail,
        )
        self.flush()

    def replicas(self, started_ns: int, ended_ns: int, roles: Mapping[str, Roles]) -> None:
        """Record who holds each queue; of more than NAMED_MAX queues, none."""
        for queue, one in roles.items() if len(roles) <= NAMED_MAX else ():
            self._log.append(
                PROBES,
                0,
                replica_looks.KIND,
                queue,
                started_ns - self._origin_ns,
                ended_ns - self._origin_ns,
                int(one.master is not None),
                replica_looks.look_text(one.master, one.mirrors, one.synchronised),
            )
        self.flush()

    def operation(self, operation: OperationRecord) -> None:
        """One that has returned; its times are run time already."""
        assert operation.began_ns is not None, operation
        assert operation.returned_ns is not None, operation
        self._log.append(
            OPERATIONS,
            operation.number,
            operation.began_ns,
            operation.returned_ns,
            operation.kind,
            operation.target,
            operation.resolved,
            int(operation.ok),
            operation.detail,
        )
        self.flush()

    def sample(self, sample: HostSample) -> None:
        self._log.append(
            RESOURCES,
            sample.host,
            sample.at_ns - self._origin_ns,
            sample.cpu_ns,
            sample.memory_bytes,
            sample.network_received_bytes,
            sample.network_sent_bytes,
            sample.disk_read_bytes,
            sample.disk_written_bytes,
        )
        self.flush()

    def flush(self) -> None:
        try:
            self._log.flush()
        except LogFull as failure:
            self.doubt = self.doubt or f"the harness's own log: {failure}"

    def close(self) -> None:
        try:
            self._log.close()
        except LogFull as failure:
            self.doubt = self.doubt or f"the harness's own log: {failure}"
