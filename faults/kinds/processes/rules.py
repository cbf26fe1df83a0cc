"""Verify that the processes of a host were killed, stopped or frozen, and are back.

What has ended is the fault, by one rule (docs/verdicts.md 2.1): whether the cluster lists the host
again, and whether it serves, is what the broker does.
"""

from collections.abc import Mapping

from faults.core.model import ProcessState, Proof, Reply
from faults.core.replies import SILENCE_S, doubt, passed, proven, silent

KILLED = 137  # 128 + SIGKILL
ENDED = (0, 143)  # an orderly end on SIGTERM, or by the SIGTERM (128 + 15) itself
_ENDED = " or ".join(map(str, ENDED))


def kill_held(state: ProcessState) -> Proof:
    if state.running:
        return doubt("the process still runs")
    if state.exit_code != KILLED:
        return doubt(f"the process ended with exit code {state.exit_code}, not {KILLED} (SIGKILL)")
    return proven(f"the process ended with exit code {KILLED} (SIGKILL)")


def stop_held(state: ProcessState) -> Proof:
    """A broker that had to be killed, or that failed while it ended, was not stopped."""
    if state.running:
        return doubt("the process has not ended")
    if state.exit_code not in ENDED:
        return doubt(f"the process ended with exit code {state.exit_code}, not {_ENDED} (SIGTERM)")
    return proven(f"the process ended with exit code {state.exit_code}")


def freeze_held(state: ProcessState, greets: Reply | None) -> Proof:
    """`greets` is None where the process is not frozen: its answer would say nothing."""
    if not state.running:
        return doubt(f"the process does not run (exit {state.exit_code})")
    if not state.frozen or greets is None:
        return doubt("the process is not frozen")
    if not silent(greets):
        return doubt(f"the process is frozen, but its port is not silent: {greets.detail}")
    return proven(f"the process is frozen, its port silent for {SILENCE_S:g} s")


def lasted(states: Mapping[str, ProcessState], ended: bool) -> Proof:
    """Return whether no process came back by itself. `ended`: the fault ends processes, else it
    freezes them."""
    if ended:
        back = [place for place, state in states.items() if state.running]
        return doubt(f"{', '.join(back)} runs again") if back else proven("nothing runs again")
    back = [place for place, state in states.items() if not (state.running and state.frozen)]
    return doubt(f"{', '.join(back)} is not frozen any more") if back else proven("still frozen")


def freeze_gone(state: ProcessState, greets: Reply | None) -> Proof:
    """A refusal will do: a broker that its peers gave up meanwhile may take no clients."""
    if not state.running:
        return doubt(f"the process does not run (exit {state.exit_code})")
    if state.frozen or greets is None:
        return doubt("the process is still frozen")
    if not passed(greets):
        return doubt(f"the process runs on, but: {greets.detail}")
    said = "" if greets.answered else f": {greets.detail}"
    return proven(f"the process runs on, and its port is no longer silent{said}")


def kill_gone(state: ProcessState, greets: Reply | None) -> Proof:
    """Return whether a kill, or a stop, has ended: a process that still starts does not answer.
    `greets` is None if the process does not run and cannot be queried."""
    if not state.running or greets is None:
        return doubt(f"the process does not run (exit {state.exit_code})")
    if not greets.answered:
        return doubt(f"the process runs, but: {greets.detail}")
    return proven("the process runs and answers")
