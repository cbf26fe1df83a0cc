"""The demo: three runs that need nothing but Python, for somebody who is new here.

1. The same two deaths on a layout that keeps its promise and on one that does not, and a client
   link that hangs. It is a full experiment: drained, audited, judged by Spark, with a report.
2. Expectations judge it: the second layout has to fail, or the demo fails.
3. Its scenarios lie apart from the others: they are short, and no list shows them. `mqproof run`
   takes their names.
4. The system declares its demo and the layouts for it.
"""

from harness.plan import experiment
from harness.plan.model import Experiment, Scenario
from harness.request import run_request
from harness.systems.port import Demo
from harness.systems.registry import registry

DEATHS, LINK = "demo-unsynchronised-mirror", "demo-client-link-hang"


def shown() -> tuple[str, Demo]:
    """The system that shows it, and where."""
    return next(
        (name, own.demo)
        for name, own in registry().systems.items()  # ours are the first, and one of them has one
        if own.demo is not None
    )


def experiment_of(seed: int, name: str) -> Experiment:
    """Runs that share a cluster stand together: the good layout's first."""
    (_, demo), deaths, link = shown(), run_request.scenario(DEATHS), run_request.scenario(LINK)
    good = _plan(seed, name, (deaths, link), demo.keeps)
    bad = _plan(seed, name, (deaths,), demo.breaks, len(good.runs))
    return Experiment(name, seed, (*good.runs, *bad.runs), ())


def replay(seed: int) -> str:
    return f"mqproof demo --seed {seed}"


def repeat(seed: int) -> str:
    """Return the command that repeats the run of the layout that breaks, alone. `seed`: of the
    demo; a run's own seed depends on its cell, and on no other run."""
    system, demo = shown()
    words = ["--system", system, "--layout", demo.breaks, "--judge", "expectations"]
    return f"mqproof run {DEATHS} {' '.join(words)} --seed {seed}"


def _plan(
    seed: int, name: str, scenarios: tuple[Scenario, ...], layout: str, after: int = 0
) -> Experiment:
    """Return the runs of one layout. `after`: how many runs come before them."""
    system, demo = shown()
    request = experiment.ExperimentOptions(
        name,
        seed,
        scenarios,
        systems=(system,),
        layouts=(layout,),
        deployment=demo.deployment,
        after=after,
    )
    return experiment.plan(
        request, experiment.Catalogue(run_request.systems(), run_request.layouts())
    )
