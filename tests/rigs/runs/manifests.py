"""The manifest of a calm run, as it is before the run begins."""

from harness.run_folder.manifest import Manifest, WorkerRecord


def manifest() -> Manifest:
    return Manifest(
        run="calm-1-00ff",
        run_number=255,
        scenario="calm",
        system="rabbitmq-mirrored",
        layout="all-automatic@T=10",
        client="pika",
        deployment="compose",
        repeat=1,
        seed=7,
        scenario_source="",
        schedule={},
        deadline_ns=5_000_000_000,
        paced=True,
        confirms=True,
        workers=[WorkerRecord("publisher-1", 1, "publisher"), WorkerRecord("harness", 0, "none")],
    )
