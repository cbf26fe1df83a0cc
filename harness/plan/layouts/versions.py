"""PURE: versions of brokers, as people name them and as brokers report them.

1. A name is a number (`4.0.5`), or a number with a last `x` for any (`4.3.x`).
2. Which versions there are is data of the system (system.toml): a list, and for some every
   release from one on. Any other is unknown; an image of the user's own may hold any.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

NUMBER = re.compile(r"\d{1,5}(\.\d{1,5}){1,3}(-?(alpha|beta|rc)\.?\d{0,5})?(\.x)?")
ANY = ".x"


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions that a system can be played in.

    `product`: the name of the software. `known`: those that mqproof names, the default first.
    `cannot_from`: a version -> why the system exists no more in it or in a later one.
    `cannot_before`: a version -> why the system exists in none that is earlier. `any_from`:
    every release from this one on is known, too; "": none is. `takes_images`: whether the system
    runs an image of the user's own.
    """

    product: str
    known: tuple[str, ...]
    cannot_from: Mapping[str, str] = field(default_factory=dict)
    cannot_before: Mapping[str, str] = field(default_factory=dict)
    any_from: str = ""
    takes_images: bool = True

    @property
    def default(self) -> str:
        return self.known[0]

    @property
    def choices(self) -> tuple[str, ...]:
        """Return those to choose from, in words."""
        return (*self.known, *([f"any from {self.any_from} on"] if self.any_from else ()))

    def knows(self, named: str) -> bool:
        if known_as(named, self.known):
            return True
        is_release = bool(self.any_from) and not named.endswith(ANY)
        return is_release and numbers(named) >= numbers(self.any_from)

    def contradiction(self, wanted: str, image: str, found: Mapping[str, str]) -> str:
        """Return what is wrong with the versions that brokers report; "" if nothing is. `wanted`:
        "": any."""
        reported = found.get(self.product, "")
        if not wanted or matches(wanted, reported):
            return ""
        text = f"the brokers report {self.product} {reported or 'without a version'}, not {wanted}"
        return f"{text}; name the version that {image or 'their image'} holds (`--version`)"

    def obstacles(self, version: str) -> Iterator[str]:
        """Yield why the system cannot be played in a version."""
        for first, why in self.cannot_from.items():
            if version and numbers(version) >= numbers(first):
                yield why
        for first, why in self.cannot_before.items():
            if version and numbers(version) < numbers(first):
                yield why

    def too_old(self, version: str, needs: tuple[str, str] | None) -> Iterator[str]:
        """Yield why a layout cannot be started in a version, if it needs a later one."""
        if version and needs is not None and numbers(version) < numbers(needs[0]):
            first, why = needs
            later = next((one for one in self.known if numbers(one) >= numbers(first)), first)
            text = f"{self.product} {version} cannot have this layout: {why}"
            yield f"{text}; use `--version {later}`"

    def too_new(self, version: str, needs: tuple[str, str] | None) -> Iterator[str]:
        """Yield why a layout cannot be started in a version, if it needs an earlier one."""
        if version and needs is not None and numbers(version) >= numbers(needs[0]):
            first, why = needs
            known = [one for one in self.known if numbers(one) < numbers(first)]
            earlier = max(known, key=numbers, default=f"before {first}")
            text = f"{self.product} {version} cannot have this layout: {why}"
            yield f"{text}; use `--version {earlier}`"


def is_version(word: str) -> bool:
    return NUMBER.fullmatch(word) is not None


def matches(named: str, found: str) -> bool:
    """Return whether a broker of version `found` is what was named."""
    if named.endswith(ANY):
        return found.startswith(named.removesuffix("x"))
    return found == named


def known_as(named: str, known: Sequence[str]) -> str:
    """Return the known version that a name means, such as `4.3.x` for `4.3.6`; "" if none."""
    return next((one for one in known if named == one or matches(one, named)), "")


def numbers(version: str) -> tuple[int, ...]:
    """Return a version for comparisons: (4, 3) of `4.3.x`, (4, 1, 0) of `4.1.0-rc.1`."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()
