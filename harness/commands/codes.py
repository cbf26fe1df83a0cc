"""What each command's exit codes mean, as --help shows them.

1. 0, 1 and 2 are the command's own. 130, 254 and 255 mean the same everywhere.
"""

from harness.judging.exits import Exit

_FOUND = (
    "no promise was broken",
    "a promise was broken",
    "a promise is not decided, or a run has no decided promise",
)
_JUDGED = (
    f"{_FOUND[0]} (with --judge expectations: every verdict is the expected one)",
    f"{_FOUND[1]} (with --judge expectations: a verdict is not the expected one)",
    f"{_FOUND[2]} (with --judge expectations: a verdict has no expectation, or could not be "
    "judged though PASS or FAIL was expected)",
)
_WRITTEN = ("done",)
_OWN: dict[str, tuple[str, ...]] = {
    "run": _JUDGED,
    "analyse": _JUDGED,
    "judge": _FOUND,
    "demo": (
        "every verdict is the expected one: the first layout loses nothing, the second does",
        "a verdict differs from the expected one",
        "a claim could not be judged, as on a busy machine",
    ),
    "compare": (
        "nothing got worse",
        "something got worse",
        "nothing could be compared, or a promise is newly broken",
    ),
    "nightly": (
        "nothing is worse",
        "something is worse",
        "not everything was judged, or a cell has no baseline",
    ),
    "up": ("every cluster runs", "", "no cluster runs"),
    "status": (
        "every cluster is clean",
        "a cluster is not clean, or a fault is active",
        "no cluster runs",
    ),
    "fault": (
        "the fault was verified active and verified ended",
        "",
        "the fault was not verified, or not injected",
    ),
    "down": ("nothing is left", "", "something could not be undone or removed"),
    "heal": ("nothing is left behind", "", "something could not be undone or removed"),
    "doctor": ("nothing is missing", "", "something is missing"),
    "build": ("every image is there", "", "an image could not be fetched or built"),
    "pack": ("packed", "", "nothing was packed, or a run is damaged"),
    "serve": ("ended by Ctrl-C",),
    "list": ("listed",),
    "campaign run": ("every cell is judged", "", "some cells are not judged yet"),
    "campaign judge": _FOUND,
    "campaign page": ("done", "with --check: a page is not what its runs say"),
    "campaign expectations": ("done", "with --check: a verdict is not in the expectations"),
    "reference": ("every server ended as it should", "a server ended by itself"),
}
_EVERYWHERE = {
    Exit.INTERRUPTED: "interrupted (Ctrl-C, SIGTERM, SIGHUP)",
    Exit.BAD_INPUT: "bad input, or a cluster that contradicts it; nothing is left running",
    Exit.CRASH: "a defect of mqproof itself",
}


def epilog(command: str) -> str:
    """Return what stands below a command's options."""
    own = dict(enumerate(_OWN.get(command) or _OWN.get(command.split()[0], _WRITTEN)))
    meanings = {code: text for code, text in own.items() if text} | _EVERYWHERE
    if command == "serve":
        meanings[Exit.INTERRUPTED] = "interrupted (SIGTERM, SIGHUP)"
    return f"Exit codes: {'; '.join(f'{int(code)} {text}' for code, text in meanings.items())}."
