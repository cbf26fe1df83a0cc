"""The demo: three runs that need nothing but Python, for somebody who is new here.

1. The same two deaths on a layout that keeps its promise and on one that does not, and a client
   link that hangs. It is a full experiment: drained, audited, judged by Spark, with a report.
2. It is judged by what is known of these cells: the second layout has to fail, or the demo does.
3. Its scenarios lie apart from the others: they are short, and nobody needs to choose them.
"""

from importlib import resources

from harness.plan import experiment
from harness.plan.model import Experiment, Scenario
from harness.plan.toml import read_scenario
from harness.request import asking

SYSTEM = "reference-mirrored"
DEPLOYMENT = "local"
GOOD, BAD = "all-automatic@T=10", "exactly-2-manual@T=10"
DEATHS, LINK = "demo-unsynchronised-mirror", "demo-client-link-hang"
_FOLDER = "scenarios/demo"


def experiment_of(seed: int, name: str) -> Experiment:
    """Runs that share a cluster stand together: the good layout's first."""
    deaths, link = _scenario(DEATHS), _scenario(LINK)
    good = _plan(seed, name, (deaths, link), GOOD)
    bad = _plan(seed, name, (deaths,), BAD)
    return Experiment(name, seed, (*good.runs, *bad.runs), ())


def replay(seed: int) -> str:
    return f"mqproof demo --seed {seed}"


def _plan(seed: int, name: str, scenarios: tuple[Scenario, ...], layout: str) -> Experiment:
    request = experiment.Request(
        name, seed, scenarios, systems=(SYSTEM,), layouts=(layout,), deployment=DEPLOYMENT
    )
    return experiment.plan(request, experiment.Catalogue(asking.systems(), asking.layouts()))


def _scenario(name: str) -> Scenario:
    file = resources.files("harness.plan").joinpath(_FOLDER).joinpath(f"{name}.toml")
    return read_scenario(name, file.read_text(encoding="utf-8"))
