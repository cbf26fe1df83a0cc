"""Prints the compose file of a layout: `python -m harness.deploy rabbitmq-mirrored [LAYOUT]`."""

import sys

from harness.deploy.catalogue import CatalogueError, load_layout, load_system
from harness.deploy.render import Settings, rabbitmq, render


def main(arguments: list[str]) -> int:
    try:
        system = load_system(arguments[0] if arguments else "")
        layout = load_layout(system.name, (arguments[1:] or [system.default_layout])[0])
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 254
    print(render(layout, Settings(), rabbitmq), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
