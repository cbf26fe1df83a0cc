"""Makes the mutants of one part, tries each, and says which survived.

    python tests/mutation/run.py tests/mutation/definition.toml definition.sqlite

1. Run it in a copy of the repository: a mutant stands in the file while it is tried.
2. A session that is there already is gone on with, so an interrupted one loses nothing.
3. Only a verdict counts. A try without one (the server is gone, memory ran out) ends the run and
   stays to be tried; unchanged code must pass before the first mutant and after the last.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

import choice
import cosmic_ray.commands
import cosmic_ray.modules
import operators
from cosmic_ray.config import ConfigDict, load_config
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult

VERDICTS = ("passed", "died", "timed out")


def main(config_file: str, session_file: str) -> None:
    operators.register()
    config = load_config(config_file)
    is_new = not Path(session_file).exists()
    _check_unchanged(config)
    with use_db(session_file) as session:
        if is_new:
            modules = cosmic_ray.modules.find_modules(map(Path, config["module-path"]))
            cosmic_ray.commands.init(modules, session, {})
            choice.leave_out(session)
        for item in session.pending_work_items:
            result = mutate_and_test(item.mutations, config.test_command, config.timeout)
            if verdict(result) not in VERDICTS:
                sys.exit(f"no verdict, go on when this is mended:\n{result.output}")
            session.set_result(item.job_id, result)
        _check_unchanged(config)
        report(session)


def verdict(result: WorkResult) -> str:
    """What the warm server said of a mutant."""
    return (result.output or "").partition("\n")[0]


def report(session: WorkDB) -> None:
    """One line a module, then every mutant that did not die, with its change."""
    outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    alive = []
    for item, result in session.completed_work_items:
        (mutant,) = item.mutations
        module = str(mutant.module_path)
        if result.worker_outcome is WorkerOutcome.SKIPPED:
            outcomes[module]["left out"] += 1
            continue
        outcomes[module][verdict(result)] += 1
        if verdict(result) != "died":
            place = (module, mutant.start_pos, mutant.operator_name)
            alive.append((*place, verdict(result), result.diff))
    print("| module | made | left out | killed | timed out | survived |")
    for module, count in sorted(outcomes.items()):
        row = (count[word] for word in ("left out", "died", "timed out", "passed"))
        print("|", " | ".join([module, str(count.total()), *map(str, row)]), "|")
    for module, (line, column), operator, word, diff in sorted(alive):
        changed = [text for text in (diff or "").splitlines() if text[:2] in ("+ ", "- ")]
        print(f"\n{module}:{line}:{column} {operator} {word}", *changed, sep="\n    ")


def _check_unchanged(config: ConfigDict) -> None:
    _, output = run_tests(config.test_command, config.timeout)
    if not output.startswith("passed"):
        sys.exit(f"the tests fail without any mutant:\n{output}")


if __name__ == "__main__":
    main(*sys.argv[1:])
