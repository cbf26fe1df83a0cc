"""`python -m harness.workers NAME`: one worker process; the harness owns its life.

1. SIGTERM and SIGINT are ignored: a Ctrl-C at the terminal reaches the harness, and the harness
   tells its workers; an orphan stops by itself.
2. NAME is for lists of processes; everything else comes by the control channel.
"""

import asyncio
import gc
import os
import signal
import sys
from typing import NoReturn

from harness.workers.session import Session


async def live() -> NoReturn:
    code = await Session().live()
    # Not by returning: a name look-up that hangs in a thread would be waited for.
    os._exit(code)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python -m harness.workers NAME", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what was imported lives as long as we do: collections need not look at it
    return asyncio.run(live())


if __name__ == "__main__":
    sys.exit(main())
