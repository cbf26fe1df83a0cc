"""Each shipped claim applies to some run that can be planned, or it is known why not."""

from functools import cache

import pytest

from harness.claims.claims import Claim, shipped
from harness.claims.state import KnownFacts
from harness.claims.values import NotApplicable, holds
from harness.plan.declared import declared
from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.facts import DECLARED, OPERATED
from harness.plan.model import FaultPlan, RunPlan
from harness.request.run_request import layouts, scenario, scenario_names, systems

# Nothing that is offered can test it: why. Remove an entry when you add a fault that can.
NO_POWER_LOSS = "no fault takes what was written and not yet synced"
BY_NO_FAULT = {
    "confirmed-is-on-disk": NO_POWER_LOSS,
    "streams-may-lose-what-was-not-flushed": NO_POWER_LOSS,
}
ROLES = {
    "master of": "master",
    "leader of": "master",
    "mirror ": "mirror",
    "follower ": "mirror",
    "name_server_of": "name server",
    "name servers": "name server",
    "leading controller": "name server",
    "active balancer": "balancer",
}
PROFILES = {
    "rabbitmq-mirrored": "T=10",
    "rabbitmq-quorum": "T=10",
    "rabbitmq-stream": "T=60",  # a claim is about the timer as RabbitMQ comes
    "rocketmq-2m2s": "compressed",
    "rocketmq-dledger": "compressed",
    "rocketmq-controller": "compressed",
}
WORDS = ("fault_kind", "fault_target_role", "fault_resource")
TRAITS = {"page_cache_lost": "takes_page_cache", "broker_ended": "ends_broker"}


@cache
def planned() -> tuple[RunPlan, ...]:
    """Every scenario on every layout with these timers, on the systems that are no model."""
    scenarios = tuple(map(scenario, scenario_names()))
    catalogue = Catalogue(systems(), layouts())
    found: list[RunPlan] = []
    for system, profile in PROFILES.items():
        chosen = ExperimentOptions("all", 1, scenarios, (system,), (f"*@{profile}",))
        found += plan(chosen, catalogue).runs
    return tuple(found)


def known(fault: FaultPlan) -> dict[str, str | bool]:
    """Facts of its window that the plan alone decides."""
    role = next(
        (role for word, role in ROLES.items() if fault.target.word.startswith(word)), "other"
    )
    words = dict(zip(WORDS, (fault.kind.name, role, fault.options.exhausted), strict=True))
    return words | {fact: getattr(fault.kind, trait) for fact, trait in TRAITS.items()}


def may_apply(claim: Claim, run: RunPlan) -> bool:
    """Whether nothing that is known beforehand keeps the claim from being asked."""
    state, operated = KnownFacts.from_json(declared(run)), bool(run.schedule.steps)
    for condition in claim.precondition:
        if condition.fact in OPERATED and not operated:
            return False
        if condition.fact in DECLARED:
            value = state.value(condition.fact, 0)
            if isinstance(value, NotApplicable):
                return False
            if holds(value, condition.comparator, condition.wanted) is False:
                return False
    faults = (known(window.fault) for window in run.schedule.windows)
    return not claim.of_windows or any(of_fault(claim, fault) for fault in faults)


def of_fault(claim: Claim, fault: dict[str, str | bool]) -> bool:
    chosen = (one for one in claim.precondition if one.fact in fault)
    return all(holds(fault[one.fact], one.comparator, one.wanted) for one in chosen)


@pytest.mark.parametrize("claim", shipped(), ids=lambda claim: claim.name)
def test_claim_applies_to_a_plannable_run_or_has_a_reason(claim: Claim) -> None:
    applying = (run.scenario.name for run in planned() if may_apply(claim, run))
    assert bool(next(applying, "")) is (claim.name not in BY_NO_FAULT)
