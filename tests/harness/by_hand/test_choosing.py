"""The words of `mqproof up` become clusters, or one error with all that is wrong."""

from pathlib import Path

import pytest

from faults.core.mechanisms import COMPOSE, LOCAL
from harness.by_hand.choosing import absolute, chosen
from harness.deploy.by_hand_files import ByHandCluster, ByHandClusters
from harness.deploy.by_hand_layouts import EVERY_QUEUE, fingerprint, standing
from harness.plan.problems import PlanError


def names(*words: str, deployment: str | None = None) -> tuple[str, list[str]]:
    by, found = chosen(words, deployment)
    return by, [f"{one.system.name}:{one.layout.label}" for one in found]


def problems(*words: str, deployment: str | None = None) -> list[str]:
    with pytest.raises(PlanError) as error:
        chosen(words, deployment)
    return [str(one) for one in error.value.problems]


def test_without_words_both_brokers_and_both_references_are_started() -> None:
    by, found = names()
    assert by == COMPOSE
    assert [one.partition(":")[0] for one in found] == [
        "rabbitmq-mirrored",
        "reference-2m2s",
        "reference-mirrored",
        "rocketmq-2m2s",
    ]


def test_without_docker_both_references_are_started() -> None:
    by, found = names(deployment=LOCAL)
    assert by == LOCAL
    assert [one.partition(":")[0] for one in found] == ["reference-2m2s", "reference-mirrored"]


def test_references_alone_need_no_docker() -> None:
    assert names("reference-mirrored:unmirrored@T=2") == (
        LOCAL,
        ["reference-mirrored:unmirrored@T=2"],
    )
    assert names("reference-mirrored", "rabbitmq-mirrored")[0] == COMPOSE


def test_policies_of_clusters_by_hand_mean_every_queue() -> None:
    _, (one,) = chosen(["rabbitmq-mirrored"], None)
    assert [policy.pattern for policy in one.layout.policies] == [EVERY_QUEUE]


def test_all_problems_of_all_words_are_reported_at_once() -> None:
    found = problems(
        *("rabbitmq", "rabbitmq-mirrored:nolayout", "reference-2m2s", "reference-2m2s"),
        "reference-2m2s:",
        deployment="docker",
    )
    assert len(found) == 5
    for part in ("twice", "'docker'", "'rabbitmq'", "'nolayout'", "no layout after the colon"):
        assert any(part in one for one in found), found


@pytest.mark.parametrize(
    ("layout", "why"),
    [("all-automatic-haproxy", "haproxy"), ("all-automatic-toxiproxy", "peer links")],
)
def test_a_layout_that_only_a_run_has_is_refused(layout: str, why: str) -> None:
    (found,) = problems(f"rabbitmq-mirrored:{layout}")
    assert why in found and "what to do: " in found


def test_real_brokers_do_not_run_as_subprocesses() -> None:
    (found,) = problems("rabbitmq-mirrored", deployment=LOCAL)
    assert "cannot be deployed by local" in found


def test_a_layout_may_end_in_a_version() -> None:
    word = "rabbitmq-quorum:three@T=60+4.0.5"
    assert names(word) == (COMPOSE, [word])
    _, (one,) = chosen([word], None)
    assert (one.layout.version, one.layout_word) == ("4.0.5", "three@T=60+4.0.5")
    assert names("rabbitmq-quorum:three@T=60+3.10.8")[1] == ["rabbitmq-quorum:three@T=60"]
    (rocket,) = names("rocketmq-2m2s:colocated@compressed+5.4.0")[1]
    assert rocket == "rocketmq-2m2s:colocated@compressed+5.4.0"


def test_containers_run_two_versions_of_one_system() -> None:
    words = ("rabbitmq-quorum:three@T=60", "rabbitmq-quorum:three@T=60+4.0.5", "rabbitmq-stream")
    _, found = chosen(words, None)
    assert [one.name for one in found] == [*words[:2], "rabbitmq-stream"]
    assert len({one.folder for one in found}) == 3
    (twice,) = problems(words[0], "rabbitmq-quorum:three@T=60+3.10.8")
    assert "'rabbitmq-quorum:three@T=60' is named twice" in twice


def test_clusters_that_need_other_kernel_settings_of_their_proxy_are_refused() -> None:
    words = ("rocketmq-2m2s:colocated@default", "rocketmq-2m2s:colocated-tcp-retries2-9@default")
    (found,) = problems(*words)
    assert f"{words[0]}: the default, {words[1]}: 9" in found


def test_a_version_of_an_image_that_a_layout_file_names_is_known(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('like = "three"\nname = "mine"\ntitle = "t"\nimage = "mine:1"\n')
    _, (one,) = chosen([f"rabbitmq-quorum:{path}@T=60+4.1.0"], None)
    assert (one.layout.image, one.layout.version) == ("mine:1", "4.1.0")


def test_subprocesses_run_one_cluster_of_a_system() -> None:
    (found,) = problems("reference-mirrored", "reference-mirrored:unmirrored")
    assert "'reference-mirrored' is named twice" in found


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("rabbitmq-quorum:three+4.0.4", "no image of rabbitmq-quorum is known in version '4.0.4'"),
        ("reference-mirrored:all-automatic+4.0.5", "no version of reference-mirrored"),
        ("rabbitmq-mirrored:all-automatic+4.0.5", "RabbitMQ 4.0 removed mirrored queues"),
        ("rabbitmq-quorum:three+image", "'three+image' does not say which image"),
        ("rabbitmq-quorum:four+4.0.5", "rabbitmq-quorum has no layout 'four'"),
    ],
)
def test_a_version_that_cannot_be_started_is_refused(word: str, why: str) -> None:
    (found,) = problems(word)
    assert why in found
    assert "--version" not in found and "--layout" not in found


def test_a_run_finds_the_version_that_was_started() -> None:
    _, (one,) = chosen(["rabbitmq-quorum:three@T=60+4.0.5"], None)
    cluster = ByHandCluster(
        "rabbitmq-quorum", one.layout.label, "t", "mqproof-1", "", (), "", one.layout_word
    )
    (found,) = standing(ByHandClusters("1 x", COMPOSE, True, (cluster,)))
    assert fingerprint(found) == fingerprint(one.layout)


def test_a_missing_layout_file_is_named_with_its_word() -> None:
    (found,) = problems("rabbitmq-mirrored:/nowhere/mine.toml")
    assert found.startswith("SYSTEM[:LAYOUT]: there is no layout file /nowhere/mine.toml")


def test_a_layout_file_keeps_its_place_in_another_folder() -> None:
    assert absolute("rabbitmq-mirrored:/mine.toml@T=2") == "rabbitmq-mirrored:/mine.toml@T=2"
    for word in ("mine.toml", "mine.toml@T=2", "mine.toml@T=2+4.0.5"):
        found = absolute(f"rabbitmq-mirrored:{word}")
        assert found.startswith("rabbitmq-mirrored:/") and found.endswith(f"/{word}")
        assert absolute(f"rabbitmq-mirrored:job@2/{word}").endswith(f"/job@2/{word}")
    assert absolute("rabbitmq-mirrored:unmirrored@T=10") == "rabbitmq-mirrored:unmirrored@T=10"
