"""Systems and layouts: names with profiles, own files, and every mistake at once."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.catalogue import (
    CatalogueError,
    layout_names,
    load_layout,
    load_system,
    system_names,
)
from harness.plan.model import Host, Policy

RABBIT = "rabbitmq-mirrored"
REFERENCE = "reference-mirrored"
OWN = """
name = "mine"
title = "Two nodes"
copies = 2
synchronise = "automatic"
partition_handling = "ignore"
hosts = [{name = "a", processes = ["rabbitmq"]}, {name = "b", processes = ["rabbitmq"]}]
[profiles."T=5"]
timer_s = 5
[profiles."T=7"]
timer_s = 7
"""


def test_every_system_has_the_default_layout_that_it_names() -> None:
    for name in system_names():
        assert load_system(name).default_layout in layout_names(name)


def test_a_layout_is_what_its_file_says() -> None:
    layout = load_layout(RABBIT, "exactly-2@T=60")
    assert layout.label == "exactly-2@T=60"
    assert layout.hosts[0] == Host("rmq1", "rmq1", ("rabbitmq",))
    assert (layout.timer_s, layout.copies, layout.synchronise) == (60.0, 2, "automatic")
    assert layout.partition_handling == "pause_minority"
    assert layout.policies == (
        Policy(
            "mqproof",
            r"^mqproof\.",
            (("ha-mode", "exactly"), ("ha-params", 2), ("ha-sync-mode", "automatic")),
        ),
    )


@pytest.mark.parametrize(
    "label", [label for label in layout_names(RABBIT) if not load_layout(RABBIT, label).spares]
)
def test_the_reference_has_every_layout_of_the_real_system(label: str) -> None:
    real, reference = load_layout(RABBIT, label), load_layout(REFERENCE, label)
    hosts = tuple(Host(f"ref{n}", f"ref{n}", ("broker",)) for n in range(1, len(real.hosts) + 1))
    assert replace(real, system=REFERENCE, hosts=hosts) == reference


def test_a_system_says_which_faults_it_cannot_suffer_and_why() -> None:
    assert load_system(REFERENCE).cannot.keys() == {
        "alarm",
        "wipe_node",
        "add_node",
        "forget_node",
        "force_boot",
        "reset_node",
    }
    assert not load_system(RABBIT).cannot


def test_a_name_alone_means_the_first_profile() -> None:
    assert load_layout(RABBIT, "unmirrored") == load_layout(RABBIT, "unmirrored@T=10")


def test_a_path_means_a_file_of_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(OWN)
    assert load_layout(RABBIT, str(file)).label == "mine@T=5"
    assert load_layout(RABBIT, f"{file}@T=7").timer_s == 7


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("all", "no layout of rabbitmq-mirrored 'all'; choose one of all-automatic@T=10"),
        ("all-manual@T=11", "no profile of layout all-manual 'T=11'; choose one of T=10, T=60"),
        ("./none.toml", "no layout file ./none.toml"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(word: str, told: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        load_layout(RABBIT, word)
    assert told in str(caught.value)


def test_an_unknown_system_is_answered_with_the_known_ones() -> None:
    with pytest.raises(CatalogueError, match=r"choose one of .*rabbitmq-mirrored"):
        load_system("rabbit")


def test_every_mistake_of_a_file_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(
        OWN.replace('"automatic"', '"sometimes"')
        .replace("timer_s = 7", "timer_s = -1")
        .replace('name = "b"', 'name = "B!"')
        + "colour = 1"
    )
    with pytest.raises(CatalogueError) as caught:
        load_layout(RABBIT, str(file))
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "synchronise",
        "hosts[2].name",
        "profiles.T=7.timer_s",
        "profiles.T=7.colour",
    ]
    assert "'automatic', 'manual' or 'none'" in lines[0]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "b"', 'name = "a"', "every host needs a name of its own"),
        ('name = "b"', 'name = "workers"', "no host may be called"),
        ("copies = 2", "copies = 3", "copies = 3 on 2 hosts"),
        ("copies = 2", "copies = ", "Invalid value"),
    ],
)
def test_what_cannot_stand_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(OWN.replace(old, new))
    with pytest.raises(CatalogueError, match=told):
        load_layout(RABBIT, str(file))
