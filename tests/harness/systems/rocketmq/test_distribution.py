"""A vendor's own build of RocketMQ: what its folder must have, and the image of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.cluster.port import DeployError
from harness.deploy import engine, images, users_images
from harness.deploy.images import containers_of
from harness.plan.layouts.layout_values import OF_DISTRIBUTION
from harness.plan.layouts.variants import split
from harness.plan.model import Experiment, Layout
from harness.plan.problems import PlanError
from harness.systems.catalogue import CatalogueError, load_layout, load_system
from harness.systems.files import shipped
from harness.systems.rocketmq.distribution import look
from tests.rigs.runs.plans import plan

SYSTEM = "rocketmq-2m2s"
JARS = ("rocketmq-namesrv-5.3.3.jar", "rocketmq-broker-5.3.3.jar", "netty.jar")
CONTROLLER = "rocketmq-controller-5.3.3.jar"


def distribution(folder: Path, *jars: str) -> Path:
    (folder / "lib").mkdir(parents=True)
    for jar in jars:
        (folder / "lib" / jar).write_text(jar)
    return folder


def layout(folder: Path) -> Layout:
    return replace(load_layout(SYSTEM, "colocated-v5@default"), distribution=str(folder))


def test_a_whole_distribution_tells_its_version(tmp_path: Path) -> None:
    found = look(distribution(tmp_path, *JARS, CONTROLLER))
    assert (found.version, found.problems) == ("5.3.3", ())


def test_a_vendors_number_may_have_words_behind_it(tmp_path: Path) -> None:
    jars = ("rocketmq-namesrv-4.9.7-acme.jar", "rocketmq-broker-4.9.7-acme.jar")
    found = look(distribution(tmp_path, *jars))
    assert (found.version, found.problems) == ("4.9.7", ())


@pytest.mark.parametrize(
    ("jars", "problems"),
    [
        (
            ("netty.jar",),
            [
                "`lib` has no rocketmq-namesrv-VERSION.jar",
                "`lib` has no rocketmq-broker-VERSION.jar",
            ],
        ),
        (JARS, ["`lib` has no rocketmq-controller-VERSION.jar"]),
        (
            (*JARS, CONTROLLER, "rocketmq-broker-4.9.7.jar"),
            [
                "`lib` has several versions: 'rocketmq-broker-4.9.7.jar', "
                "'rocketmq-broker-5.3.3.jar'"
            ],
        ),
        (
            ("rocketmq-namesrv-5.jar", "rocketmq-broker-5.jar"),
            ["the name of `rocketmq-broker-5.jar` has no version such as 5.3.3"],
        ),
    ],
)
def test_every_missing_part_is_named(
    tmp_path: Path, jars: tuple[str, ...], problems: list[str]
) -> None:
    assert list(look(distribution(tmp_path, *jars)).problems) == problems


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    assert look(tmp_path / "nowhere").problems == ("there is no such folder",)
    assert look(tmp_path).problems == ("it has no folder `lib`",)


def test_a_path_that_is_too_long_is_named(tmp_path: Path) -> None:
    found = look(tmp_path / ("x" * 300))
    assert found.problems == ("it cannot be looked at: File name too long",)


def test_a_folder_that_is_closed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    folder = distribution(tmp_path, *JARS, CONTROLLER)
    monkeypatch.setattr(Path, "is_dir", closed)
    assert look(folder).problems == ("it cannot be looked at: Permission denied",)


def test_a_jar_is_a_regular_file(tmp_path: Path) -> None:
    folder = distribution(tmp_path, *JARS)
    (folder / "lib" / "other.jar").mkdir()
    special, missing = look(folder).problems
    assert special == "`lib` has jars that are no regular files: 'other.jar'"
    assert missing == "`lib` has no rocketmq-controller-VERSION.jar"


def test_its_jars_and_their_sums_are_in_the_image(tmp_path: Path) -> None:
    folder = distribution(tmp_path, *JARS, CONTROLLER)
    image = containers_of(SYSTEM).image(layout(folder))
    with images._context(image) as context:
        copied = context / "jars" / "distribution"
        assert {one.name for one in copied.iterdir()} == {*JARS, CONTROLLER}
        sums = (context / "sums" / "distribution.sha256").read_text().splitlines()
        assert [line.split()[1] for line in sums] == sorted((*JARS, CONTROLLER))


def test_another_content_makes_another_image(tmp_path: Path) -> None:
    folder = distribution(tmp_path, *JARS, CONTROLLER)
    image = containers_of(SYSTEM).image(layout(folder))
    before = images.tag_of(image)
    assert images.tag_of(image) == before
    (folder / "lib" / "netty.jar").write_text("patched")
    assert images.tag_of(image) != before


def test_a_folder_that_went_away_is_an_error(tmp_path: Path) -> None:
    image = containers_of(SYSTEM).image(layout(tmp_path / "nowhere"))
    with pytest.raises(DeployError, match="nowhere: there is no such folder"):
        images.tag_of(image)


def test_its_label_says_so_and_is_understood(tmp_path: Path) -> None:
    label = layout(tmp_path).label
    assert label == f"colocated-v5@default+{OF_DISTRIBUTION}"
    assert split(label) == ("colocated-v5@default", "")


def file(
    tmp_path: Path, distribution: str, system: str = SYSTEM, like: str = "colocated-v5"
) -> str:
    text = (shipped(system)() / "layouts" / f"{like}.toml").read_text()
    own = text.replace(f'name = "{like}"', f'name = "own"\ndistribution = "{distribution}"')
    path = tmp_path / "own.toml"
    path.write_text(own)
    return str(path)


def test_a_layout_file_may_name_a_distribution(tmp_path: Path) -> None:
    found = load_layout(SYSTEM, file(tmp_path, "/opt/acme"))
    assert found.distribution == "/opt/acme"
    with pytest.raises(CatalogueError, match="is no absolute path of a folder"):
        load_layout(SYSTEM, file(tmp_path, "acme"))


@pytest.mark.parametrize("system", ["reference-2m2s", "reference-dledger", "reference-ctgmq"])
def test_a_reference_has_no_distribution(tmp_path: Path, system: str) -> None:
    like = load_system(system).default_layout.partition("@")[0]
    with pytest.raises(CatalogueError, match="distribution"):
        load_layout(system, file(tmp_path, "/opt/acme", system, like))


@pytest.mark.parametrize(
    ("jars", "text"),
    [
        (("netty.jar",), "`lib` has no rocketmq-broker-VERSION.jar"),
        (
            ("rocketmq-namesrv-4.9.7.jar", "rocketmq-broker-4.9.7.jar"),
            "it holds version 4.9.7, not 5.3.3; what to do: name version 4.9.7",
        ),
    ],
)
def test_a_wrong_folder_of_a_layout_is_bad_input_before_a_run(
    tmp_path: Path, jars: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "connect", lambda: pytest.fail("the engine was called"))
    folder = distribution(tmp_path / "acme", *jars)
    run = replace(plan(), system=load_system(SYSTEM), layout=layout(folder), deployment="compose")
    with pytest.raises(PlanError) as caught:
        users_images.prepare(Experiment("e", 1, (run,), ()), print)
    assert f"distribution {folder}: " in str(caught.value) and text in str(caught.value)
