"""`python -m harness` is `mqproof`: exit code 1 is kept for broken promises.

Python ends with 1 by itself where a module cannot be loaded; that is no verdict.
"""

import sys

INTERRUPTED, CRASH = 130, 255  # harness/judging/exits.py may be what could not be loaded


def main() -> int:
    try:
        from harness import cli

        return cli.main()
    except KeyboardInterrupt:  # while it loads, or as it ends
        print("mqproof: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception:
        import traceback

        traceback.print_exc()
        return CRASH


if __name__ == "__main__":
    sys.exit(main())
