"""What brokers show over TLS is held against the topology file before anything begins."""

import asyncio
from pathlib import Path

import pytest

from harness.deploy.external.certificates import problems
from harness.plan.layouts.topology import Topology
from harness.systems.topologies import read_topology
from tests.rigs.clusters.certificates import Authority
from tests.rigs.clusters.tls_front import Front, standing
from tests.rigs.clusters.topologies import HEAD, SYSTEMS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.founded(tmp_path_factory.mktemp("authority"))


def topology(port: int, ca: Path, tls: str = "", broker: str = "", api: str = "") -> Topology:
    source = f"""{HEAD}
[tls]
ca = "{ca}"
{tls}
[[broker]]
host = "alpha"
node = "rabbit@ref1"
amqps = "127.0.0.1:{port}"
management = "{api or "http://127.0.0.1:1"}"
{broker}
"""
    return read_topology("staging", source, SYSTEMS)


def found(of: Topology) -> list[str]:
    return [str(one) for one in asyncio.run(problems(of))]


def test_a_trusted_certificate_with_the_right_name_is_no_problem(authority: Authority) -> None:
    with standing(Front(authority.signs("well"))) as (port,):
        assert found(topology(port, authority.certificate)) == []
        of_api = topology(port, authority.certificate, api=f"https://127.0.0.1:{port}")
        assert found(of_api) == []


def test_an_expired_certificate_is_named_with_its_broker(authority: Authority) -> None:
    with standing(Front(authority.signs("late", days=-1))) as (port,):
        (text,) = found(topology(port, authority.certificate))
    assert text.startswith("staging.toml, [[broker]] alpha, amqps: the certificate of alpha (127.")
    assert "has expired" in text
    assert "what to do: renew it" in text


def test_another_name_is_reported_until_the_file_declares_it(authority: Authority) -> None:
    with standing(Front(authority.signs("named", names="DNS:rmq1.test"))) as (port,):
        (text,) = found(topology(port, authority.certificate))
        named = 'server_name = "rmq1.test"'
        api = f"https://127.0.0.1:{port}"
        assert found(topology(port, authority.certificate, broker=named, api=api)) == []
    assert "staging.toml, [[broker]] alpha, server_name: the certificate of alpha" in text
    assert "does not hold the name '127.0.0.1'" in text


def test_an_unknown_authority_is_a_problem_of_the_file(
    authority: Authority, tmp_path: Path
) -> None:
    other = Authority.founded(tmp_path, "other")
    with standing(Front(authority.signs("well"))) as (port,):
        (text,) = found(topology(port, other.certificate))
        (system,) = found(topology(port, Path("system")))
    for one in (text, system):
        assert "staging.toml, [tls], ca: no authority in `ca` signed the certificate" in one


@pytest.mark.parametrize("tls12", [False, True])
def test_a_missing_client_certificate_is_reported_before_any_login(
    authority: Authority, tls12: bool
) -> None:
    client = authority.signs("client")
    front = Front(authority.signs("well"), wants=authority.certificate, tls12=tls12)
    with standing(front) as (port,):
        (text,) = found(topology(port, authority.certificate))
        shown = f'certificate = "{client.certificate}"\nkey = "{client.key}"'
        assert found(topology(port, authority.certificate, shown)) == []
    assert "[tls], certificate: alpha (127.0.0.1:" in text
    assert "demands a client certificate, and the file names none" in text
    assert "write `certificate` and `key` in [tls]" in text


def test_a_client_certificate_of_a_stranger_is_refused(
    authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority.founded(tmp_path, "stranger").signs("client")
    shown = f'certificate = "{stranger.certificate}"\nkey = "{stranger.key}"'
    with standing(Front(authority.signs("well"), wants=authority.certificate)) as (port,):
        (text,) = found(topology(port, authority.certificate, shown))
    assert "refuses the client's certificate" in text


def test_a_listener_without_tls_is_reported_as_such(authority: Authority) -> None:
    def speaks_first(port: int) -> list[str]:
        return found(topology(port, authority.certificate))

    async def plain() -> list[str]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(8)
            writer.write(b"AMQP\x00\x00\x09\x01")
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = int(server.sockets[0].getsockname()[1])
        async with server:
            return await asyncio.to_thread(speaks_first, port)

    (text,) = asyncio.run(plain())
    assert "[[broker]] alpha, amqps: alpha (127.0.0.1:" in text
    assert "speaks no TLS" in text


def test_files_that_hold_no_certificate_are_problems(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("no certificate\n")
    client = authority.signs("client")
    lost = f'certificate = "{client.certificate}"\nkey = "{tmp_path / "lost.key"}"'
    texts = found(topology(1, tmp_path / "missing.pem", lost))
    assert "missing.pem: No such file or directory" in texts[0]
    assert "lost.key: No such file or directory" in texts[1]
    (text,) = found(topology(1, tmp_path / "empty.pem"))
    assert "holds no certificate (PEM)" in text
    server = authority.signs("other")
    mixed = f'certificate = "{client.certificate}"\nkey = "{server.key}"'
    (text,) = found(topology(1, authority.certificate, mixed))
    assert "hold no certificate with its key" in text
