"""Systems and layouts: names with profiles, own files, and every mistake at once."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.layouts.layout_values import Host, PauseIfAllDown, Policy
from harness.plan.model import Layout
from harness.request import own_layouts
from harness.systems.catalogue import (
    CatalogueError,
    as_shipped,
    layout_names,
    load_layout,
    load_system,
    split_profile,
    system_names,
)

RABBIT = "rabbitmq-mirrored"
REFERENCE = "reference-mirrored"
OWN = """
name = "mine"
title = "Two nodes"
copies = 2
synchronise = "automatic"
partition_handling = "ignore"
hosts = [{name = "a", processes = ["rabbitmq"]}, {name = "b", processes = ["rabbitmq"]}]
[[policies]]
name = "mqproof"
pattern = "^mqproof\\\\."
definition = {ha-mode = "all", ha-sync-mode = "automatic"}
[profiles."T=5"]
detection_timeout_s = 5
[profiles."T=7"]
detection_timeout_s = 7
"""


def test_every_system_has_the_default_layout_that_it_names() -> None:
    for name in system_names():
        assert load_system(name).default_layout in layout_names(name)


def test_a_layout_is_what_its_file_says() -> None:
    layout = load_layout(RABBIT, "exactly-2@T=60")
    assert layout.label == "exactly-2@T=60"
    assert layout.hosts[0] == Host("rmq1", "rmq1", ("rabbitmq",))
    assert (layout.detection_timeout_s, layout.copies, layout.synchronise) == (
        60.0,
        2,
        "automatic",
    )
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


def test_reference_supports_every_partition_handling_of_the_real_broker() -> None:
    assert not load_system(REFERENCE).cannot_handle
    assert not load_system(RABBIT).cannot_handle


def test_layout_like_another_inherits_what_it_does_not_set() -> None:
    one, other = (load_layout(RABBIT, f"all-automatic{name}@T=60") for name in ("", "-autoheal"))
    assert (one.partition_handling, other.partition_handling) == ("pause_minority", "autoheal")
    own = {"name": one.name, "title": one.title, "partition_handling": "pause_minority"}
    assert replace(other, **own) == one


@pytest.mark.parametrize(("name", "count"), [("all-automatic-2", 2), ("all-automatic-5", 5)])
def test_hosts_of_a_derived_layout_replace_all_inherited_ones(name: str, count: int) -> None:
    layout = load_layout(RABBIT, name)
    assert [host.name for host in layout.hosts] == [f"rmq{n}" for n in range(1, count + 1)]
    assert layout.copies == count
    assert layout.policies == load_layout(RABBIT, "all-automatic").policies


def test_the_layout_names_the_peers_whose_loss_pauses_a_node() -> None:
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


def test_user_file_may_be_like_a_built_in_layout(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'like = "exactly-2"\nname = "mine"\ntitle = "My own"\nclient_endpoint = "one"\n'
    )
    built_in = load_layout(RABBIT, "exactly-2@T=60")
    mine = load_layout(RABBIT, f"{file}@T=60")
    assert mine == replace(built_in, name="mine", title="My own", client_endpoint="one")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            'like = "all"\ncopies = 0\n',
            [
                "line 1, like: there is no layout 'all' to be like; valid: all-automatic | ",
                "line 2, copies: must be at least 1, not 0",
            ],
        ),
        (
            'like = "all-automatic-5"\nname = "m"\ntitle = "t"\n',
            ["line 1, like: there is no layout"],
        ),
        ('like = "all-automatic"\n', ["name: is missing", "title: is missing"]),
    ],
)
def test_invalid_base_layout_is_reported_with_every_other_mistake(
    tmp_path: Path, text: str, messages: list[str]
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(CatalogueError) as caught:
        load_layout(RABBIT, str(file))
    lines = str(caught.value).splitlines()
    assert len(lines) == len(messages)
    assert all(
        line.startswith(f"{file}, {word}") for line, word in zip(lines, messages, strict=True)
    )


def test_a_system_says_which_faults_it_cannot_suffer_and_why() -> None:
    assert load_system(REFERENCE).cannot.keys() == {"promote"}
    assert load_system(RABBIT).cannot.keys() == {"promote"}


def test_a_name_alone_means_the_first_profile() -> None:
    assert load_layout(RABBIT, "unmirrored") == load_layout(RABBIT, "unmirrored@T=10")


def test_a_path_means_a_file_of_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(OWN)
    assert load_layout(RABBIT, str(file)).label == "mine@T=5"
    assert load_layout(RABBIT, f"{file}@T=7").detection_timeout_s == 7


def test_a_folder_with_the_mark_of_profiles_is_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "job@2"
    folder.mkdir()
    (folder / "two.toml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    for path in (str(folder / "two.toml"), "job@2/two.toml", "./job@2/two.toml"):
        assert load_layout(RABBIT, path).label == "mine@T=5"
        assert load_layout(RABBIT, f"{path}@T=7").label == "mine@T=7"
        (by,) = own_layouts.read([f"{path}@T=7"], [RABBIT], [load_system(RABBIT)], []).layouts
        assert by.label == "mine@T=7"
    assert split_profile("mine@T=7") == ("mine", "T=7")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("all", "rabbitmq-mirrored has no layout 'all'; "),
        (
            "all-manual@T=11",
            "--layout: layout all-manual has no profile 'T=11'; did you mean 'T=10'?; "
            "valid: T=10 | T=60",
        ),
        ("./none.toml", "--layout: there is no layout file ./none.toml"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(word: str, message: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        load_layout(RABBIT, word)
    assert message in str(caught.value)


def test_an_unknown_system_is_answered_with_the_known_ones() -> None:
    with pytest.raises(CatalogueError, match=r"valid: rabbitmq-mirrored \| "):
        load_system("rabbit")


def refused(folder: Path, text: str, system: str = RABBIT) -> list[str]:
    """What is reported of a file, a mistake a line, without its path."""
    file = folder / "wrong.toml"
    file.write_text(text)
    with pytest.raises(CatalogueError) as caught:
        load_layout(system, str(file))
    return [line.removeprefix(f"{file}, ") for line in str(caught.value).splitlines()]


def own(**changes: str) -> str:
    """OWN with other lines for these keys, or with more of them."""
    head, hosts, rest = OWN.partition("hosts = ")
    for key, value in changes.items():
        before = next((row for row in head.splitlines() if row.startswith(f"{key} = ")), "")
        line = f"{key} = {value}"
        head = head.replace(before, line) if before else f"{head}{line}\n"
    return head + hosts + rest


def test_all_mistakes_of_a_file_have_line_and_choices(
    tmp_path: Path,
) -> None:
    """Report all mistakes of a file at once."""
    text = (
        own(synchronise='"automatc"', partition_handling='"autoheal"', client_endpont='"one"')
        .replace('name = "a"', 'name = "agent"')
        .replace('name = "b"', 'name = "B!"')
        .replace('"all"', '"al"')
        .replace("detection_timeout_s = 7", "detection_timeout_s = -1")
    )
    pause = 'pause_if_all_down = {hosts = ["c"], recover = "heal"}\n'
    messages = refused(tmp_path, text.replace("hosts = [{", f"{pause}hosts = [{{", 1))
    assert [line.partition(": ")[0] for line in messages] == [
        "line 5, synchronise",
        "line 7, client_endpont",
        "line 8, pause_if_all_down",
        "line 8, [pause_if_all_down], hosts",
        "line 8, [pause_if_all_down], recover",
        "line 9, [[hosts]] 1, name",
        "line 9, [[hosts]] 2, name",
        "line 13, [[policies]] 1, definition, ha-mode",
        "line 17, [profiles.T=7], detection_timeout_s",
    ]
    for words in (
        "did you mean 'automatic'?; valid: automatic | manual | none",
        "there is no such key; did you mean 'client_endpoint'?; valid: name | title | ",
        "there is no host 'c' in the cluster; valid: agent | B!",
        "'heal' is not a valid value; did you mean 'autoheal'?; valid: ignore | autoheal",
        "no host may be called 'agent'",
        "'al' is not a valid value; did you mean 'all'?; valid: all | exactly",
        "must be at least 0.1, not -1",
    ):
        assert any(words in line for line in messages), words


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"copies": '"2"'}, "line 4, copies: must be a whole number, not '2'"),
        ({"copies": "true"}, "line 4, copies: must be a whole number, not True"),
        ({"copies": ""}, "wrong.toml: this is not TOML: "),
        ({"name": f'"{"n" * 32}"'}, "line 2, name: has small letters, digits and hyphens, at mos"),
        ({"title": '""'}, "line 3, title: must have at least 1 character"),
        ({"peer_links": '"proxy"'}, "'proxy' is not a valid value; did you mean 'toxiproxy'?"),
        ({"partition_handling": '"pause_if_all_down"'}, "needs `hosts` and `recover`"),
        ({"pause_if_all_down": '{hosts = ["a"], recover = "ignore"}'}, "is only for partition_ha"),
        ({"policies": '"all"'}, "this is not TOML: "),
        ({"copies": "3"}, "copies = 3, but the policy 'mqproof' says all on 2 hosts"),
        ({"copies": "1"}, "synchronised automatic: 2; valid: 2"),
        (
            {"synchronise": '"manual"'},
            "line 5, synchronise: synchronise = 'manual', but the polic",
        ),
    ],
)
def test_invalid_or_contradictory_value_of_a_key_is_refused(
    tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(own(**changes))
    with pytest.raises(CatalogueError) as caught:
        load_layout(RABBIT, str(file))
    assert message in str(caught.value)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "detection_timeout_s = 5",
            'detection_timeout_s = "10"',
            "[profiles.T=5], detection_timeout_s: must be a number",
        ),
        (
            "detection_timeout_s = 5",
            "detection_timeout_s = inf",
            "[profiles.T=5], detection_timeout_s: must be a finite number",
        ),
        ("detection_timeout_s = 5", "detection_timeout_s = nan", "must be a finite number"),
        (
            "detection_timeout_s = 5",
            "detection_timeout_s = 3601",
            "must be at most 3600, not 3601",
        ),
        ('profiles."T=5"', 'profiles."T*"', "a profile's name has letters, digits and = . _ -"),
        ('name = "b"', 'name = "a"', "[[hosts]] 2, name: every host needs a name of its own"),
        ('name = "b"', 'name = "localhost"', "no host may be called 'localhost'"),
        ('name = "b"', 'name = "publisher-1"', "no host may be called 'publisher-1'"),
        ('name = "b"', 'name = "uninvolved"', "no host may be called 'uninvolved'"),
        ('name = "b", ', 'name = "b", spare = "yes", ', "spare: must be true or false"),
        ('"b", processes = ["rabbitmq"]', '"b", processes = "rabbitmq"', "must be a list, not 'r"),
        (
            '"b", processes = ["rabbitmq"]',
            '"b", processes = ["nonsense", "more"]',
            '[[hosts]] 2, processes: a host of this system carries ["rabbitmq"], not [\'nonsen',
        ),
        (
            '"b", processes = ["rabbitmq"]',
            '"b", processes = ["../../etc"]',
            "not ['../../etc']; valid: [\"rabbitmq\"]",
        ),
        ('pattern = "^mqproof', 'pattern = "((^mqproof', "is no regular expression: compilation"),
        ("^mqproof\\\\.", "(.+)+[!?]$", "more than 100,000 steps to match the name of a queue"),
        ("mqproof\\\\.", "mqproof.*orders", "fits some queues of runs and not others"),
        ('ha-mode = "all"', 'ha-mod = "all"', "ha-mod: no policy has such a key; did you mean 'h"),
        ('ha-mode = "all"', "ha-mode = 1", "definition, ha-mode: 1 is not a valid value; valid:"),
        ('ha-mode = "all"', 'ha-mode = "exactly"', "ha-mode = 'exactly' needs ha-params"),
        ('"all"', '"all", ha-params = 2', "ha-params: ha-mode = 'all' takes no ha-params"),
        ('"all"', '"exactly", ha-params = "2"', "must be a whole number from 1 on, not '2'"),
        ('"all"', '"exactly", ha-params = 1', "which leaves one copy: 1; valid: 1"),
        ('ha-mode = "all", ', "", "ha-sync-mode needs ha-mode; valid: all | exactly"),
        ("{ha-mode", "{max-length = -1, ha-mode", "must be a whole number from 0 on, not -1"),
        ("{ha-mode", "{message-ttl = 5, ha-mode", "message-ttl: by this the broker drops mess"),
        ("{ha-mode", "{dead-letter-exchange = 1, ha-mode", "must be a text, not 1"),
        ('"^mqproof\\\\."', '"^others$"', "no policy mirrors the queues of runs: 1; valid: 1"),
        (
            "[profiles",
            '[[policies]]\nname = "mqproof"\npattern = "^x"\ndefinition = {expires = 9}\n'
            "[profiles",
            "[[policies]] 2, name: 'mqproof' is another policy's name",
        ),
        (
            "[profiles",
            '[[policies]]\nname = "p"\npattern = ""\ndefinition = {queue-version = 1}\n[profiles',
            "[[policies]] 2, pattern: a second policy matches the queues of runs",
        ),
    ],
)
def test_contradictory_mirrored_layouts_are_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in OWN
    found = "\n".join(refused(tmp_path, OWN.replace(old, new, 1)))
    assert message in found


def test_a_layout_of_spares_alone_is_no_cluster(tmp_path: Path) -> None:
    messages = refused(tmp_path, OWN.replace('", processes', '", spare = true, processes'))
    assert "hosts: every host is a spare one: there is no cluster to add it to" in messages[0]


def test_hosts_run_the_processes_of_the_system_they_represent(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OWN.replace('"rabbitmq"', '"broker"'))
    assert load_layout(REFERENCE, str(file)).hosts[0].processes == ("broker",)
    with pytest.raises(CatalogueError, match=r'carries \["rabbitmq"\], not \[\'broker\'\]'):
        load_layout(RABBIT, str(file))


def test_layout_is_identified_with_its_products_default_timers() -> None:
    shipped = [as_shipped(RABBIT, "all-automatic"), as_shipped("rocketmq-2m2s", "colocated-v5")]
    assert [one and one.detection_timeout_s for one in shipped] == [60, 120]
    assert shipped[1] is not None
    assert load_system("rocketmq-2m2s").guarantees(shipped[1]).route_poll_s == 30


def test_unknown_layouts_have_no_shipped_timers() -> None:
    assert as_shipped(REFERENCE, "all-automatic") is None
    assert as_shipped(RABBIT, "all-automatic-spare") is None  # it has no such profile
    assert as_shipped(RABBIT, "of-somebody-else") is None
    assert as_shipped("kafka", "all-automatic") is None
