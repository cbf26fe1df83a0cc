"""Images of RabbitMQ's versions: one Debian release has each."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy import images
from harness.systems.catalogue import CatalogueError, load_layout, load_system
from harness.systems.rabbitmq.containers import rabbitmq_image
from harness.systems.rabbitmq.core.versions import DEFAULT, RELEASES, release_of

SYSTEMS = ("rabbitmq-mirrored", "rabbitmq-quorum")


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_version_that_a_system_lists_has_a_release(name: str) -> None:
    versions = load_system(name).versions
    assert versions is not None
    assert versions.known == tuple(RELEASES)
    assert versions.default == DEFAULT


def test_mirrored_queues_end_with_4_0_and_quorum_queues_do_not() -> None:
    mirrored, quorum = (load_system(name).versions for name in SYSTEMS)
    assert mirrored is not None and quorum is not None
    assert "rabbitmq-quorum" in "".join(mirrored.obstacles("4.0.5"))
    assert not list(mirrored.obstacles("3.8.9"))
    assert not list(quorum.obstacles("4.3.x"))


def test_the_unstable_release_has_every_number_of_its_series() -> None:
    assert release_of("4.3.6") == "sid"
    assert release_of("4.2.1") == ""


def test_each_version_has_its_own_image_on_the_base_of_its_release() -> None:
    layout = load_layout("rabbitmq-quorum", "three@T=60")
    tags = {images.tag_of(rabbitmq_image(replace(layout, version=one))) for one in RELEASES}
    assert len(tags) == len(RELEASES)
    newer = rabbitmq_image(replace(layout, version="4.0.5"))
    assert newer.alias == "mqproof/rabbitmq:4.0.5"
    assert newer.base is not None
    assert newer.base.official == "debian:trixie-slim"
    assert rabbitmq_image(layout).base is None


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_layout_file_may_name_a_version(name: str, tmp_path: Path) -> None:
    like = load_system(name).default_layout.partition("@")[0]
    file = tmp_path / "mine.toml"
    file.write_text(f'like = "{like}"\nname = "mine"\ntitle = "t"\nversion = "3.8.9"\n')
    assert load_layout(name, str(file)).label.endswith("+3.8.9")
    file.write_text(f'like = "{like}"\nname = "mine"\ntitle = "t"\nversion = "4.0.4"\n')
    with pytest.raises(
        CatalogueError, match=r"no image of RabbitMQ '4\.0\.4'; there are 3\.10\.8"
    ):
        load_layout(name, str(file))


@pytest.mark.parametrize("name", [*SYSTEMS, "rabbitmq-stream"])
def test_a_layout_file_may_name_an_image(name: str, tmp_path: Path) -> None:
    like = load_system(name).default_layout.partition("@")[0]
    file = tmp_path / "mine.toml"
    head = f'like = "{like}"\nname = "mine"\ntitle = "t"\n'
    file.write_text(f'{head}image = "rabbitmq:4.1-management"\n')
    found = load_layout(name, str(file))
    assert found.image == rabbitmq_image(found).users == "rabbitmq:4.1-management"
    assert found.label.endswith("+image")
    for wrong, why in (
        ('image = "--help"', "image: "),
        ('image = "a b"', "image: "),
        ('image = "mine:1"\nversion = "3.8.9"', "version: is read from the image"),
    ):
        file.write_text(f"{head}{wrong}\n")
        with pytest.raises(CatalogueError, match=why):
            load_layout(name, str(file))


def test_the_reference_has_no_image_of_a_user(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('like = "all-automatic"\nname = "mine"\ntitle = "t"\nimage = "mine:1"\n')
    with pytest.raises(CatalogueError, match="image: there is no such key"):
        load_layout("reference-mirrored", str(file))
