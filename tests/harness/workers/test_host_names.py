"""What the names of hosts mean to one worker alone."""

from pathlib import Path

import pytest

from harness.workers import host_names
from harness.workers.host_names import HOSTS_FILE, jvm_flags, own_table


def test_a_table_has_the_form_of_the_systems_own(tmp_path: Path) -> None:
    table = tmp_path / "publisher-1.hosts"
    table.write_text("127.70.1.130 rkt1 rkt2\n\n127.70.1.131 rkt3\n")
    found = own_table({HOSTS_FILE: str(table)})
    assert found == {"rkt1": "127.70.1.130", "rkt2": "127.70.1.130", "rkt3": "127.70.1.131"}


def test_worker_without_a_table_uses_names_unchanged() -> None:
    assert own_table({}) == {}


def test_a_jvm_gets_the_same_host_table_or_none() -> None:
    assert jvm_flags({HOSTS_FILE: "/run/one.hosts"}) == ("-Djdk.net.hosts.file=/run/one.hosts",)
    assert jvm_flags({}) == ()


def test_missing_host_table_is_an_error_without_fallback(
    tmp_path: Path,
) -> None:
    with pytest.raises(FileNotFoundError):
        own_table({HOSTS_FILE: str(tmp_path / "none")})


def test_libc_reads_table_and_machine_names_through_nss_wrapper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_names = tmp_path / "hosts"
    own_names.write_text("127.0.0.1 localhost\n")
    monkeypatch.setattr(host_names, "SYSTEM_HOSTS", own_names)
    table, library = tmp_path / "publisher-1.hosts", tmp_path / "libnss_wrapper.so"
    found = host_names.variables(
        {"rkt1": "127.70.1.130"}, table, library, {"LD_PRELOAD": "libother.so"}
    )
    assert found["LD_PRELOAD"] == f"{library} libother.so"
    read_by_libc = Path(found[host_names.LIBC_HOSTS_FILE]).read_text()
    assert read_by_libc == "127.70.1.130 rkt1\n127.0.0.1 localhost\n"
    assert own_table(found)["rkt1"] == "127.70.1.130"
    assert host_names.libc_obstacle(found) == ""


@pytest.mark.parametrize(
    ("brokers", "found"),
    [
        ({"rkt1": "127.70.1.130"}, {"rkt1": "127.70.1.130", "laptop": "127.0.0.1"}),
        ({"laptop": "127.70.1.130"}, {"laptop": "127.70.1.130"}),
    ],
)
def test_a_table_has_this_machines_name_for_a_jvm_without_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, brokers: dict[str, str], found: dict[str, str]
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "laptop")
    made = host_names.variables(brokers, tmp_path / "publisher-1.hosts")
    assert own_table(made) == found


def test_libc_client_is_refused_if_only_a_table_resolves_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_names, "wrapper", lambda: None)
    found = host_names.variables({"rkt1": "127.70.1.130"}, tmp_path / "publisher-1.hosts")
    assert "apt-get install libnss-wrapper" in host_names.libc_obstacle(found)
    assert host_names.libc_obstacle({}) == ""
