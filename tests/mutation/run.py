"""Makes the mutants of one part, tries each, and says which survived.

    python tests/mutation/run.py tests/mutation/definition.toml definition.sqlite

1. Run it in a copy of the repository: a mutant stands in the file while it is tried.
2. A session that is there already is gone on with, so an interrupted one loses nothing.
"""

import sys
from collections import Counter
from pathlib import Path

import choice
import cosmic_ray.commands
import cosmic_ray.modules
import operators
from cosmic_ray.config import load_config
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome


def main(config_file: str, session_file: str) -> None:
    operators.register()
    config = load_config(config_file)
    is_new = not Path(session_file).exists()
    outcome, words = run_tests(config.test_command, config.timeout)
    if outcome is not TestOutcome.SURVIVED:
        sys.exit(f"the tests fail without any mutant:\n{words}")
    with use_db(session_file) as session:
        if is_new:
            modules = cosmic_ray.modules.find_modules(map(Path, config["module-path"]))
            cosmic_ray.commands.init(modules, session, {})
            choice.leave_out(session)
        cosmic_ray.commands.execute(session, config)
        report(session)


def report(session: WorkDB) -> None:
    """One line a module, then every survivor with its change."""
    made, killed = Counter[str](), Counter[str]()
    survivors = []
    for item, result in session.completed_work_items:
        (mutant,) = item.mutations
        module = str(mutant.module_path)
        if result.worker_outcome is WorkerOutcome.SKIPPED:
            continue
        made[module] += 1
        if result.test_outcome is TestOutcome.SURVIVED:
            survivors.append((module, mutant.start_pos, mutant.operator_name, result.diff))
        else:
            killed[module] += 1
    print("| module | mutants | killed | survivors |")
    for module in sorted(made):
        alive = made[module] - killed[module]
        print(f"| {module} | {made[module]} | {killed[module]} | {alive} |")
    for module, (line, column), operator, diff in sorted(survivors):
        changed = [text for text in (diff or "").splitlines() if text[:2] in ("+ ", "- ")]
        print(f"\n{module}:{line}:{column} {operator}", *changed, sep="\n    ")


if __name__ == "__main__":
    main(*sys.argv[1:])
