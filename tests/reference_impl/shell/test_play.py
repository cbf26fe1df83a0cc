"""The configurations of a cluster to play with."""

from pathlib import Path

import msgspec

from reference_impl.node.config import parsed
from reference_impl.shell.play import Playing, configs


def test_every_node_gets_the_cookie_and_the_peers_addresses(tmp_path: Path) -> None:
    cookie = "drawn for these nodes"
    made = configs(Playing(3, 6000, 60.0, "ignore"), tmp_path, cookie)
    assert [config.cookie for config in made] == [cookie] * 3
    assert {config.name: set(config.peers) for config in made} == {
        "ref1": {"ref2", "ref3"},
        "ref2": {"ref1", "ref3"},
        "ref3": {"ref1", "ref2"},
    }
    for config in made:
        assert parsed(msgspec.json.encode(config)) == config
