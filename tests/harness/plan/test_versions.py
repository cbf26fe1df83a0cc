"""Versions as people name them, as brokers report them, and what a system cannot be in."""

from dataclasses import replace

import pytest

from harness.plan.layouts.versions import Versions, is_version, known_as, matches, numbers

RABBIT = Versions("rabbitmq", ("3.10.8", "4.0.5", "4.3.x"), {"4.0": "gone"})


@pytest.mark.parametrize("word", ["4.0.5", "4.3.x", "3.8", "4.1.0-rc.1", "4.1.0-beta.3"])
def test_numbers_of_makers_are_versions(word: str) -> None:
    assert is_version(word)


@pytest.mark.parametrize("word", ["", "x", "4", "4.x.1", "latest", "4.0.5 ", "-4.0", "4..0"])
def test_other_words_are_no_versions(word: str) -> None:
    assert not is_version(word)


def test_a_last_x_means_any_number_there() -> None:
    assert matches("4.3.x", "4.3.6")
    assert not matches("4.3.x", "4.30.6")
    assert not matches("4.3.5", "4.3.6")


def test_a_number_of_a_known_series_is_known() -> None:
    assert known_as("4.3.6", RABBIT.known) == "4.3.x"
    assert known_as("4.0.5", RABBIT.known) == "4.0.5"
    assert known_as("4.0.4", RABBIT.known) == ""


def test_numbers_compare_as_versions_do() -> None:
    assert numbers("3.10.8") < numbers("4.0") < numbers("4.0.5") < numbers("4.3.x")


@pytest.mark.parametrize(("version", "gone"), [("", []), ("3.13.7", []), ("4.3.x", ["gone"])])
def test_a_system_ends_with_a_version(version: str, gone: list[str]) -> None:
    assert list(RABBIT.obstacles(version)) == gone


def test_brokers_of_the_named_version_contradict_nothing() -> None:
    assert not RABBIT.contradiction("4.3.x", "", {"rabbitmq": "4.3.6", "erlang": "29"})
    assert not RABBIT.contradiction("3.10.8", "", {"rabbitmq": "3.10.8"})
    assert not RABBIT.contradiction("", "mine:1", {"rabbitmq": "4.1.2"})


@pytest.mark.parametrize(
    ("version", "image"), [("4.0.5", ""), ("4.0.5", "mine:1"), ("3.10.8", "")]
)
def test_brokers_of_another_version_are_reported(version: str, image: str) -> None:
    text = RABBIT.contradiction(version, image, {"rabbitmq": "4.1.2"})
    assert f"the brokers report rabbitmq 4.1.2, not {version}" in text
    assert "--version" in text


def test_a_layout_may_need_a_later_version() -> None:
    needs = ("4.0", "Khepri is newer")
    assert list(RABBIT.too_old("3.10.8", needs)) == [
        "rabbitmq 3.10.8 cannot have this layout: Khepri is newer; use `--version 4.0.5`"
    ]
    for version in ("4.0", "4.0.5", "4.3.x", ""):
        assert list(RABBIT.too_old(version, needs)) == []
    assert list(RABBIT.too_old("3.8.9", None)) == []


def test_a_layout_may_need_an_earlier_version() -> None:
    needs = ("4.2", "none pauses from then on")
    assert list(RABBIT.too_new("4.3.x", needs)) == [
        "rabbitmq 4.3.x cannot have this layout: none pauses from then on; use `--version 4.0.5`"
    ]
    for version in ("4.1.8", "3.10.8", ""):
        assert list(RABBIT.too_new(version, needs)) == []
    assert list(RABBIT.too_new("4.3.x", None)) == []


def test_a_system_may_be_newer_than_a_version() -> None:
    streams = replace(RABBIT, cannot_from={}, cannot_before={"3.9": "there were none"})
    assert list(streams.obstacles("3.8.9")) == ["there were none"]
    assert list(streams.obstacles("3.10.8")) == []
    assert list(streams.obstacles("")) == [], "the default, or whatever an image holds"


RELEASES = Versions("rocketmq", ("4.9.7",), any_from="4.9.0", takes_images=False)


@pytest.mark.parametrize("version", ["4.9.7", "4.9.0", "4.10.0", "5.4.0"])
def test_every_release_from_the_first_on_is_known(version: str) -> None:
    assert RELEASES.knows(version)


@pytest.mark.parametrize("version", ["4.8.9", "4.9.x", "5.x", "4.9"])
def test_earlier_releases_and_wildcards_are_unknown(version: str) -> None:
    assert not RELEASES.knows(version)


def test_a_list_of_versions_knows_no_other() -> None:
    assert not RABBIT.knows("4.0.6")
    assert RABBIT.knows("4.3.6")
    assert (RABBIT.choices, RELEASES.choices) == (RABBIT.known, ("4.9.7", "any from 4.9.0 on"))
