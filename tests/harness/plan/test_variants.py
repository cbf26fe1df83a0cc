"""Layouts in the versions and images that a user wants."""

from dataclasses import replace

import pytest

from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.layouts import variants
from harness.plan.layouts.versions import Versions
from harness.plan.problems import PlanError
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rocketmq.core.layout import own
from tests.harness.plan.test_experiment import scenario
from tests.rigs.runs.plans import LAYOUT, SYSTEM

VERSIONS = Versions("rabbitmq", ("3.10.8", "4.0.5", "4.3.x"), {"4.0": "it was removed"})
ENDLESS = replace(VERSIONS, cannot_from={})
KNOWING = replace(SYSTEM, versions=ENDLESS)
OTHER = replace(SYSTEM, name="rocketmq-2m2s", versions=None)


def labels(**options: object) -> list[str]:
    request = ExperimentOptions("e", 1, (scenario(),), **options)  # type: ignore[arg-type]
    return [run.layout.label for run in plan(request, Catalogue((KNOWING,), (LAYOUT,))).runs]


def problems(*versions: str, images: tuple[tuple[str, str], ...] = ()) -> list[str]:
    return [str(one) for one in variants.problems(versions, images, [KNOWING])]


def test_versions_stand_side_by_side_and_the_default_keeps_its_label() -> None:
    assert labels(versions=("3.10.8", "4.0.5")) == [
        "all-automatic@T=10",
        "all-automatic@T=10+4.0.5",
    ]


def test_a_layout_may_be_named_with_its_version() -> None:
    names = ("all-automatic@T=10+4.3.6", "all-automatic")
    assert labels(layouts=names) == ["all-automatic@T=10+4.3.6", "all-automatic@T=10"]


def test_the_version_of_a_layout_file_is_played_unless_another_is_named() -> None:
    named = replace(LAYOUT, version="4.0.5")
    assert variants.of(named, KNOWING, (), ()) == [named]
    assert variants.of(named, KNOWING, ("3.10.8",), ()) == [LAYOUT]


def test_a_system_that_knows_none_of_the_versions_is_played_as_it_is() -> None:
    assert variants.of(LAYOUT, OTHER, ("4.0.5",), ()) == [LAYOUT]
    assert not list(variants.problems(("4.0.5",), (), [KNOWING, OTHER]))


def test_an_image_takes_any_version_and_is_in_the_label() -> None:
    image = (("rabbitmq", "mine:1"),)
    (unknown,) = variants.of(LAYOUT, KNOWING, (), image)
    (named,) = variants.of(LAYOUT, KNOWING, ("4.1.0",), image)
    assert (unknown.image, unknown.label) == ("mine:1", "all-automatic@T=10+image")
    assert (named.image, named.label) == ("mine:1", "all-automatic@T=10+4.1.0")
    assert not problems("4.1.0", images=image)


def test_an_image_of_a_layout_file_is_played_unless_another_is_named() -> None:
    own = replace(LAYOUT, image="theirs:2")
    assert variants.of(own, KNOWING, (), ()) == [own]
    (named,) = variants.of(own, KNOWING, ("4.1.0",), ())
    assert (named.image, named.version) == ("theirs:2", "4.1.0")
    (other,) = variants.of(own, KNOWING, (), (("rabbitmq", "mine:1"),))
    assert other.image == "mine:1"


def test_a_label_splits_into_layout_and_version() -> None:
    assert variants.split("three@T=60+4.0.5") == ("three@T=60", "4.0.5")
    assert variants.split("three@T=60+image") == ("three@T=60", "")
    assert variants.split("three@T=60+foo") == ("three@T=60+foo", "")


@pytest.mark.parametrize(
    ("versions", "parts"),
    [
        (("4.0.4",), ("4.0.4", "valid: 3.10.8 | 4.0.5 | 4.3.x", "what to do")),
        (("latest",), ("'latest' is no version", "expected: ")),
        (("4.0.5", "4.0.5"), ("named twice",)),
    ],
)
def test_unknown_versions_are_refused(versions: tuple[str, ...], parts: tuple[str, ...]) -> None:
    (text,) = problems(*versions)
    assert all(part in text for part in parts)


def test_a_version_for_systems_without_any_is_refused() -> None:
    (problem,) = variants.problems(("4.0.5",), (), [OTHER])
    assert "rocketmq-2m2s" in str(problem)


def test_an_unknown_product_and_two_versions_of_one_image_are_refused() -> None:
    (text,) = problems(images=(("activemq", "mine:1"),))
    assert "'activemq'" in text
    assert "valid: rabbitmq" in text
    (text,) = problems("4.1.0", "4.0.5", images=(("rabbitmq", "mine:1"),))
    assert "one image holds one version" in text


def test_a_version_without_the_system_is_refused_with_the_reason() -> None:
    ending = replace(SYSTEM, versions=VERSIONS)
    request = ExperimentOptions("e", 1, (scenario(),), versions=("4.0.5",))
    with pytest.raises(PlanError, match="it was removed"):
        plan(request, Catalogue((ending,), (LAYOUT,)))


def test_beside_a_version_that_runs_it_is_not_applicable() -> None:
    ending = replace(SYSTEM, versions=VERSIONS)
    request = ExperimentOptions("e", 1, (scenario(),), versions=("3.10.8", "4.0.5"))
    made = plan(request, Catalogue((ending,), (LAYOUT,)))
    assert [run.layout.label for run in made.runs] == ["all-automatic@T=10"]
    assert [skip.reason for skip in made.skipped] == ["it was removed"]


def test_the_layouts_own_part_follows_the_named_version() -> None:
    system, layout = load_system("rocketmq-2m2s"), load_layout("rocketmq-2m2s", "colocated")
    (newer,) = variants.of(layout, system, ("5.4.0",), ())
    assert (newer.label, own(newer).version) == ("colocated@compressed+5.4.0", "5.4.0")
    assert (own(layout).copied_every_s, own(newer).copied_every_s) == (10, 60)


def test_the_version_of_its_file_is_a_layouts_default() -> None:
    system, layout = load_system("rocketmq-2m2s"), load_layout("rocketmq-2m2s", "colocated-v5")
    assert variants.of(layout, system, ("5.3.3",), ()) == [layout]
    (older,) = variants.of(layout, system, ("4.9.7",), ())
    assert (older.label, own(older).version) == ("colocated-v5@compressed+4.9.7", "4.9.7")


def test_a_system_without_user_images_offers_no_product() -> None:
    images = (("rocketmq", "mine:1"),)
    (text,) = map(str, variants.problems((), images, [load_system("rocketmq-2m2s")]))
    assert "rocketmq-2m2s runs no image of a user's" in text
