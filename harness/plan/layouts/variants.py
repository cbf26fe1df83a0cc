"""PURE: a layout in the versions and images that a user wants.

1. A version is played by every chosen system that knows it. A system that knows none of them is
   played in its default, if another one knows them.
2. The default version leaves a layout's label as it is; another one stands at its end.
3. In an image of the user's own any version may be named: it is compared with what is in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.outside.text import brief
from harness.plan.layouts.layout_values import OF_DISTRIBUTION, OF_IMAGE, VersionedLayout
from harness.plan.layouts.versions import Versions, is_version
from harness.plan.model import Layout, System
from harness.plan.problems import Problem, nearest, twice

VERSION, IMAGE, LAYOUT = "--version", "--image", "--layout"
MARK = "+"  # in a label, before the version
_NUMBER = "a version as its makers number it, such as 4.0.5"
_OWN_IMAGE = "another version needs an image of it: `--image {}=IMAGE`; see docs/systems.md"


def split(label: str) -> tuple[str, str]:
    """Return a layout's label without its version, and the version; "" if it has none."""
    word, _, version = label.rpartition(MARK)
    if word and is_version(version):
        return word, version
    unnumbered = word and version in (OF_IMAGE, OF_DISTRIBUTION)
    return (word, "") if unnumbered else (label, "")


def of(
    layout: Layout,
    system: System,
    versions: Sequence[str],
    images: Sequence[tuple[str, str]],
) -> list[Layout]:
    """Return the layout in each version that the system knows; as it is declared if in none. An
    image of `images` replaces that of the layout's file."""
    own = system.versions
    if own is None:
        return [layout]
    image = dict(images).get(own.product, "") or layout.image
    wanted = [one for one in versions if image or own.knows(one)]
    return [_variant(layout, one, image, own.default) for one in wanted or [layout.version]]


def _variant(layout: Layout, version: str, image: str, default: str) -> Layout:
    declared = layout.file_version or default
    if version in ("", declared) and not image:
        return replace(layout, version="", image="")
    parts = layout.own
    if isinstance(parts, VersionedLayout) and version:
        parts = parts.in_version(version)
    return replace(layout, version=version, image=image, own=parts)


def problems(
    versions: Sequence[str],
    images: Sequence[tuple[str, str]],
    systems: Sequence[System],
    layouts: Sequence[str] = (),
    has_image: bool = False,
) -> Iterator[Problem]:
    """Yield what is wrong with the versions and images that were named for these systems.
    `layouts`: labels, which may end in versions of their own. `has_image`: one of the layouts
    names the user's image in its file."""
    yield from twice(VERSION, versions)
    words = {word: LAYOUT for _, word in map(split, layouts) if word}
    words |= dict.fromkeys(versions, VERSION)
    yield from twice(IMAGE, [product for product, _ in images])
    known = [one.versions for one in systems if one.versions is not None]
    products = {one.product for one in known if one.takes_images}
    names = ", ".join(one.name for one in systems)
    yield from _image_problems(dict(images), products, names)
    if words and not known:
        text = f"no version of {names} can be chosen: mqproof brings the only one"
        yield Problem(VERSION, text, advice="leave it out, or choose another `--system`")
        return
    open_to_any = bool(products & dict(images).keys()) or has_image
    if open_to_any and len(words) > 1:
        yield Problem(VERSION, "one image holds one version; name that one, or none")
    for word, place in words.items():
        if not is_version(word):
            choices = _every(known)
            yield Problem(place, f"{brief(word)} is no version", choices, expected=_NUMBER)
        elif not open_to_any and not any(own.knows(word) for own in known):
            choices = _every(known)
            text = f"no image of {names} is known in version {brief(word)}"
            advice = _OWN_IMAGE.format(" or ".join(sorted(products))) if products else ""
            alike = tuple(one for one in choices if _line(one) == _line(word))
            yield Problem(place, text, choices, nearest(word, alike), advice=advice)


def _line(version: str) -> str:
    """Return `4.0` of `4.0.5`: a number of another line is no misspelling."""
    return version.rpartition(".")[0]


def _image_problems(
    images: Mapping[str, str], products: set[str], systems: str
) -> Iterator[Problem]:
    if images and not products:
        yield Problem(IMAGE, f"{systems} runs no image of a user's", advice="leave it out")
        return
    for product in images:
        if product not in products:
            text = f"{brief(product)} is no product that {systems} runs from an image"
            yield Problem(IMAGE, text, tuple(sorted(products)), expected="PRODUCT=IMAGE")


def _every(known: Iterable[Versions]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for one in known for word in one.choices))
