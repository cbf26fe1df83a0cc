"""A schedule as manifests record it."""

import json
from typing import Any

import pytest

from harness.plan.model import OperationPlan
from harness.plan.operations import parse_through
from harness.run_folder.planned import recorded
from tests.rigs.runs.plans import operated, operation

RECORDED = {  # since the first manifests: with every option of every kind
    "how": "stop",
    "waits": "done",
    "order": "at once",
    "offline": False,
    "through": "",
    "name": "mqproof",
    "pattern": r"^mqproof\.",
    "definition": [],
    "priority": 0,
}
POLICY = (("ha-mode", "nodes"), ("ha-params", ("rabbit@rmq1",)))


@pytest.mark.parametrize(
    ("planned", "target", "options"),
    [
        (
            operation("stop_node", "all", how="kill", waits="no"),
            "all",
            {"how": "kill", "waits": "no"},
        ),
        (operation("cancel_sync", "orders"), "orders", {}),
        (
            operation("forget_node", "lost", offline=True, through=parse_through("last stopped")),
            "lost",
            {"offline": True, "through": "last stopped"},
        ),
        (
            operation("set_policy", definition=POLICY, priority=3),
            "",
            {"definition": [["ha-mode", "nodes"], ["ha-params", ["rabbit@rmq1"]]], "priority": 3},
        ),
    ],
)
def test_recorded_operation_has_every_option_whatever_its_kind_takes(
    planned: OperationPlan, target: str, options: dict[str, Any]
) -> None:
    document = json.loads(json.dumps(recorded(operated(planned).schedule)))
    assert document["steps"] == [
        {
            "number": 1,
            "operation": {
                "kind": planned.kind.name,
                "target": target,
                "at": {"seconds": 0.0, "timers": 0.0},
                "options": RECORDED | options,
            },
            "at_s": 0.2,
            "refers_to": 0,
        }
    ]
