"""PURE: the shell commands that signal clients and look at them, in the container they run in.

1. A client is found by the end of its command line: `python -m harness.workers publisher-1`.
2. All are found before the first is signalled: they are stopped as one.
"""

from faults.core.model import ProcessState

_FIND = """
found() {
    for process in /proc/[0-9]*; do
        words=$(tr '\\000' ' ' <"$process/cmdline") 2>/dev/null
        case "$words" in *" -m harness.workers $1 ") echo "${process#/proc/}" ;; esac
    done
}
"""
_SIGNAL = (
    _FIND
    + """
needed=$1 signal=$2 pids=
shift 2
for client; do
    own=$(found "$client")
    if [ -z "$own" ] && [ "$needed" = yes ]; then echo "no process of $client runs"; exit 1; fi
    pids="$pids${own:+ $own}"
done
[ -z "$pids" ] || kill -s "$signal" $pids
"""
)
_STATES = (
    _FIND
    + """
for pid in $(found "$1"); do
    stat=$(cat "/proc/$pid/stat") 2>/dev/null && rest=${stat##*) } && echo "${rest%% *}"
done
"""
)
_THAW_ALL = """
count=0
for process in /proc/[0-9]*; do
    words=$(tr '\\000' ' ' <"$process/cmdline") 2>/dev/null
    case "$words" in *" -m harness.workers "*) ;; *) continue ;; esac
    stat=$(cat "$process/stat") 2>/dev/null && rest=${stat##*) } || continue
    case "${rest%% *}" in T | t) kill -s CONT "${process#/proc/}" && count=$((count + 1)) ;; esac
done
echo "$count"
"""


def signal(name: str, clients: tuple[str, ...], needed: bool = True) -> list[str]:
    """Fails where one of the clients does not run, unless that is no error (an undo)."""
    return ["sh", "-c", _SIGNAL, "signal", "yes" if needed else "no", name, *clients]


def states(client: str) -> list[str]:
    """Return a command that prints the kernel's letter for each process of the client."""
    return ["sh", "-c", _STATES, "states", client]


def thaw_all() -> list[str]:
    """Every frozen worker runs on, whatever its name; it prints how many there were."""
    return ["sh", "-c", _THAW_ALL]


def state_of(letters: str) -> ProcessState:
    """Return the state that `states` printed; it does not say how a client ended."""
    running = [letter for letter in letters.split() if letter not in ("Z", "X")]
    frozen = bool(running) and all(letter in ("T", "t") for letter in running)
    return ProcessState(running=bool(running), exit_code=None, frozen=frozen)
