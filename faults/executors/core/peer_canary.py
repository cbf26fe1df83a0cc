"""PURE: a word on the link by which a host's process reaches a peer's, and the reply to it.

1. It is sent inside the host's network namespace, to the peer by its name: that is the way of the
   broker's own words, for the names are the container's.
2. The listener there waits for words, and ends the connection at once on a word that it does not
   know; the word is the system's (peer_word) and ends no process. So the end of the connection is
   the answer, and proves that the word arrived. While the bytes on their way back are held (rate
   0) the end still passes, for no byte is before it: the answer covers the way there alone.
3. A proxy whose upstream is down accepts a connection and ends it by itself: an end before the
   word was sent is no answer.
"""

from faults.core.model import FaultError, Reply

TIMED_OUT = 124  # the status of `timeout`
EARLY_S = 0.1  # a connection without a server has ended by then
_SAY = f"""
exec 3<>"/dev/tcp/$0/$1" || exit 1
IFS= read -r -t {EARLY_S} -N 1 -u 3 && {{ echo "it spoke first"; exit 1; }}
[ $? -gt 128 ] || {{ echo "closed before a word was said"; exit 1; }}
read -r before _ </proc/uptime
printf "$2" >&3 || exit 1
IFS= read -r -N 1 -u 3
read -r after _ </proc/uptime
echo "said $before $after"
"""
# Times by /proc/uptime, a clock that is never set.
_SCRIPT = """
read -r before _ </proc/uptime
timeout "$3" bash -c "$4" "$1" "$2" "$5" 2>&1
status=$?
read -r after _ </proc/uptime
echo "$status $before $after"
"""


def command(peer: str, wait_s: float, port: int, word: str | None) -> list[str]:
    """To be run in a host's namespace: dials the peer, says the word (peer_word), waits for
    the end. Raises FaultError where no word is known that ends a connection at once."""
    if word is None:
        raise FaultError(f"{peer}: its system declares no word that ends a peer connection")
    limit = f"{wait_s + EARLY_S:g}"
    return ["bash", "-c", _SCRIPT, "word", peer, str(port), limit, _SAY, _printed(word)]


def _printed(word: str) -> str:
    """As printf takes it, whose format it is: every byte by its number."""
    return "".join(f"\\{byte:03o}" for byte in word.encode("latin-1"))


def reply_of(text: str, way: str) -> Reply:
    """Return the reply that `command` printed. The seconds of an answer count from the word on.

    Raises FaultError if the attempt did not happen.
    """
    lines = text.strip().splitlines()
    try:
        status, before, after = lines[-1].split()
        seconds = float(after) - float(before)
        if int(status) == 0:
            _, before, after = lines[-2].split()
            return Reply(True, float(after) - float(before), "answered by the end")
    except (IndexError, ValueError):
        raise FaultError(f"{way}: the attempt said {text.strip()!r}") from None
    if int(status) == TIMED_OUT:
        return Reply(False, seconds, f"silent for {seconds:.2f} s")
    return Reply(False, seconds, f"{way}: {' '.join(lines[:-1]) or f'status {status}'}")
