"""What the entries of a queue's copy leave, as a simulated disk keeps them."""

from collections.abc import Iterable

from reference_impl.mirrored.store import Emptied, Entry, Put, Removed


def replayed(entries: Iterable[Entry]) -> dict[int, Put]:
    """Return what they leave, by number, in the order of numbers."""
    held: dict[int, Put] = {}
    for entry in entries:
        match entry:
            case Put(number=number):
                held[number] = entry
            case Removed(numbers=numbers):
                for number in numbers:
                    held.pop(number, None)
            case Emptied(kept=kept):
                held = {number: held[number] for number in kept if number in held}
    return dict(sorted(held.items()))
