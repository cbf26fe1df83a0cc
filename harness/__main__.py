"""`python -m harness` is `mqproof`: exit code 1 is kept for broken promises.

Python ends with 1 by itself where a module cannot be loaded; that is no verdict.
"""

import sys
import traceback

CRASH = 255  # harness/judging/exits.py, which may be what could not be loaded


def main() -> int:
    try:
        from harness import cli

        return cli.main()
    except Exception:
        traceback.print_exc()
        return CRASH


if __name__ == "__main__":
    sys.exit(main())
