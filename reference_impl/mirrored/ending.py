"""The end of a process among its effects."""

from reference_impl.process import Effect, Exit


def up_to_exit(out: list[Effect]) -> list[Effect]:
    """No effect may follow an Exit."""
    for place, effect in enumerate(out):
        if type(effect) is Exit:
            return out[: place + 1]
    return out
