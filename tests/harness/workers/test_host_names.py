"""What the names of hosts mean to one worker alone."""

from pathlib import Path

import pytest

from harness.workers.host_names import HOSTS_FILE, jvm_flags, own_table


def test_a_table_has_the_form_of_the_systems_own(tmp_path: Path) -> None:
    table = tmp_path / "publisher-1.hosts"
    table.write_text("127.70.1.130 rkt1 rkt2\n\n127.70.1.131 rkt3\n")
    found = own_table({HOSTS_FILE: str(table)})
    assert found == {"rkt1": "127.70.1.130", "rkt2": "127.70.1.130", "rkt3": "127.70.1.131"}


def test_who_has_no_table_takes_names_as_they_are() -> None:
    assert own_table({}) == {}


def test_a_jvm_gets_the_same_host_table_or_none() -> None:
    assert jvm_flags({HOSTS_FILE: "/run/one.hosts"}) == ("-Djdk.net.hosts.file=/run/one.hosts",)
    assert jvm_flags({}) == ()


def test_a_table_that_is_gone_is_an_error_and_not_another_way_to_the_brokers(
    tmp_path: Path,
) -> None:
    with pytest.raises(FileNotFoundError):
        own_table({HOSTS_FILE: str(tmp_path / "none")})
