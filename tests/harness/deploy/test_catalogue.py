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
from harness.plan.model import Host, Layout, PauseIfAllDown, Policy

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
PAUSE = 'pause_if_all_down = {hosts = ["a"], recover = "ignore"}'


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
    titled = replace(real, system=REFERENCE, title=reference.title, hosts=hosts)
    assert replace(titled, pause_if_all_down=_renamed(real)) == reference


def _renamed(real: Layout) -> PauseIfAllDown | None:
    pause = real.pause_if_all_down
    hosts = tuple(host.replace("rmq", "ref") for host in pause.hosts) if pause else ()
    return pause and replace(pause, hosts=hosts)


def test_a_system_says_which_partition_handlings_it_has_not_and_why() -> None:
    assert load_system(REFERENCE).cannot_handle.keys() == {"autoheal", "pause_if_all_down"}
    assert not load_system(RABBIT).cannot_handle


def test_a_layout_that_is_like_another_has_from_it_what_it_does_not_say_itself() -> None:
    one, other = (load_layout(RABBIT, f"all-automatic{name}@T=60") for name in ("", "-autoheal"))
    assert (one.partition_handling, other.partition_handling) == ("pause_minority", "autoheal")
    own = {"name": one.name, "title": one.title, "partition_handling": "pause_minority"}
    assert replace(other, **own) == one


@pytest.mark.parametrize(("name", "count"), [("all-automatic-2", 2), ("all-automatic-5", 5)])
def test_hosts_that_a_layout_names_itself_replace_all_of_the_others(name: str, count: int) -> None:
    layout = load_layout(RABBIT, name)
    assert [host.name for host in layout.hosts] == [f"rmq{n}" for n in range(1, count + 1)]
    assert layout.copies == count
    assert layout.policies == load_layout(RABBIT, "all-automatic").policies


def test_whose_loss_pauses_a_node_is_told_by_the_layout() -> None:
    layout = load_layout(RABBIT, "all-automatic-pause-if-all-down")
    assert layout.pause_if_all_down == PauseIfAllDown(("rmq1",), "autoheal")


def test_more_hosts_than_the_proxy_has_addresses_for_meet_directly(tmp_path: Path) -> None:
    hosts = ", ".join(f'{{name = "h{number}", processes = ["rabbitmq"]}}' for number in range(9))
    file = tmp_path / "nine.toml"
    text = f'like = "all-automatic"\nname = "nine"\ntitle = "t"\ncopies = 9\nhosts = [{hosts}]\n'
    file.write_text(f'{text}peer_links = "toxiproxy"\n')
    with pytest.raises(CatalogueError, match=r"peer_links: .* at most 8 hosts, or 'direct'"):
        load_layout(RABBIT, str(file))
    file.write_text(text)
    assert load_layout(RABBIT, str(file)).peer_links == "direct"


def test_a_users_own_file_may_be_like_a_built_in_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('like = "exactly-2"\nname = "mine"\ntitle = "My own"\ncopies = 3\n')
    built_in = load_layout(RABBIT, "exactly-2@T=60")
    mine = load_layout(RABBIT, f"{file}@T=60")
    assert mine == replace(built_in, name="mine", title="My own", copies=3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'like = "all"\ncopies = 0\n',
            [
                "like: there is no layout 'all' to be like; choose one of all-automatic, ",
                "copies: Input should be greater than or equal to 1",
            ],
        ),
        ('like = "all-automatic-5"\nname = "m"\ntitle = "t"\n', ["like: there is no layout"]),
        ('like = "all-automatic"\n', ["name: Field required", "title: Field required"]),
    ],
)
def test_what_cannot_be_like_another_is_told_with_every_other_mistake(
    tmp_path: Path, text: str, told: list[str]
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(CatalogueError) as caught:
        load_layout(RABBIT, str(file))
    lines = str(caught.value).splitlines()
    assert len(lines) == len(told)
    assert all(line.startswith(f"{file}: {word}") for line, word in zip(lines, told, strict=True))


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
        ('"ignore"', '"ignore"\npeer_links = "proxy"', "peer_links: Input should be 'direct' or"),
        ('"ignore"', '"pause_if_all_down"', "needs `hosts` and `recover`"),
        ("[profiles", f"{PAUSE}\n[profiles", "is only for partition_handling = 'pause_if_all_d"),
    ],
)
def test_what_cannot_stand_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(OWN.replace(old, new, 1))
    with pytest.raises(CatalogueError, match=told):
        load_layout(RABBIT, str(file))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('["a"]', '["c"]', "pause_if_all_down: Value error, there is no host c; there are a, b"),
        ('"ignore"', '"heal"', "pause_if_all_down.recover: Input should be 'ignore' or 'autoheal"),
    ],
)
def test_who_counts_for_a_pause_has_to_be_a_host(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    file = tmp_path / "wrong.toml"
    handling = OWN.replace('"ignore"', '"pause_if_all_down"')
    file.write_text(handling.replace("[profiles", f"{PAUSE.replace(old, new)}\n[profiles", 1))
    with pytest.raises(CatalogueError, match=told):
        load_layout(RABBIT, str(file))
