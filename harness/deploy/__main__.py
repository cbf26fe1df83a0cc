"""Prints a compose file: `python -m harness.deploy SYSTEM [LAYOUT]`, or `all` for side by side."""

import sys

from harness.cluster.port import DeployError
from harness.deploy.beside import by_hand_file
from harness.deploy.compose.compose_layouts import by_hand, compose_layout
from harness.deploy.compose.core.render import distinct, render
from harness.outside.text import visible
from harness.plan.model import Layout
from harness.systems.catalogue import CatalogueError, load_layout, load_system, system_names

ALL = "all"


def main(arguments: list[str]) -> int:
    try:
        print(_text(arguments), end="")
    except (CatalogueError, DeployError) as error:
        print(visible(str(error)), file=sys.stderr)
        return 254
    return 0


def default_layouts() -> list[Layout]:
    """Return the default layout of every system that runs in containers, with distinct hosts."""
    systems = [load_system(name) for name in system_names()]
    layouts = [
        load_layout(system.name, system.default_layout)
        for system in systems
        if "compose" in system.deployments
    ]
    return distinct(layouts)


def _text(arguments: list[str]) -> str:
    if arguments == [ALL]:
        return by_hand_file(default_layouts())
    system = load_system(arguments[0] if arguments else "")
    layout = load_layout(system.name, (arguments[1:] or [system.default_layout])[0])
    return render(compose_layout(layout), by_hand([layout]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
