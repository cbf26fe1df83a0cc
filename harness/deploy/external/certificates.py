"""What brokers show over TLS, held against the topology file before anything begins.

1. Every problem is bad input: it names the key of the file, and what to write there.
2. A server may refuse a client only after the handshake (TLS 1.3): so it is spoken to, too.
3. What is no matter of TLS (a port that refuses) is reported by others.
"""

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import dataclass

from faults.executors.service_ports import Greeting
from harness.deploy.external.trust import trust_of
from harness.plan.layouts.topology import Topology
from harness.plan.problems import Problem
from harness.systems.topologies import foreign_of
from harness.workers.tls import Trust

LIMIT_S = 5.0
_HTTP = b"GET / HTTP/1.0\r\n\r\n"
# What OpenSSL's codes of failed verifications mean (X509_V_ERR_*).
_EXPIRED, _NOT_YET, _NAMES = (10,), (9,), (62, 64)
# Alerts by which a server refuses a client, by a part of their names.
_WANTS_CLIENT = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE")
_REFUSES_CLIENT = ("ALERT_UNKNOWN_CA", "BAD_CERTIFICATE", "ALERT_CERTIFICATE", "DECRYPT_ERROR")
_NO_TLS = ("WRONG_VERSION_NUMBER", "UNEXPECTED_EOF", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")


@dataclass(frozen=True, slots=True)
class _Shown:
    """One listener. `key`: of the file, that names it; `says`: what makes it answer."""

    host: str
    key: str
    address: str
    port: int
    name: str
    says: bytes

    @property
    def text(self) -> str:
        return f"{self.host} ({self.address}:{self.port})"


async def problems(topology: Topology, folder: str = "") -> tuple[Problem, ...]:
    """Return them all. `folder`: where relative paths of the file begin."""
    trust = trust_of(topology, folder)
    if trust is None:
        return ()
    if found := tuple(_file_problems(trust, topology.name)):
        return found
    context = trust.context()
    shown = _listeners(topology, trust)
    errors = await asyncio.gather(*(_refusal(one, context) for one in shown))
    pairs = zip(shown, errors, strict=True)
    return tuple(
        _explained(one, error, topology, bool(trust.certificate))
        for one, error in pairs
        if error is not None
    )


def _file_problems(trust: Trust, name: str) -> Iterator[Problem]:
    place = f"{name}.toml, [tls]"
    try:
        ssl.create_default_context(cafile=trust.ca or None)
    except OSError as error:
        text = f"{trust.ca}: {_reason(error, 'holds no certificate (PEM)')}"
        yield Problem(f"{place}, ca", text, expected="certificates of authorities in PEM")
    if not trust.certificate:
        return
    try:
        Trust("", trust.certificate, trust.key, {}, {}).context()
    except (OSError, ValueError) as error:
        files = " and ".join(dict.fromkeys((trust.certificate, trust.key or trust.certificate)))
        why = "hold no certificate with its key (PEM), or the key has a passphrase"
        yield Problem(
            f"{place}, certificate",
            f"{files}: {_reason(error, why)}",
            expected="the client's certificate, and its private key without a passphrase",
        )


def _reason(error: Exception, otherwise: str) -> str:
    """The system's words; OpenSSL's own say nothing to people."""
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.strerror:
        return error.strerror
    return otherwise


def _listeners(topology: Topology, trust: Trust) -> list[_Shown]:
    foreign = foreign_of(topology)
    hello = foreign.clients.service_ports.hello
    words = hello.says.encode("latin-1") if isinstance(hello, Greeting) else b""
    found = []
    key = foreign.clients.key_of(topology)
    reached = [one for one in topology.brokers if one.reached]
    for one in reached if topology.balancer is None else (*reached, topology.balancer):
        own = (one.address, one.port, one.name_checked)
        found.append(_Shown(one.host, key, *own, words))
    for one in topology.brokers:
        for way in foreign.other_ways(topology, one.host):
            address, _, port = way.rpartition(":")
            address = address.strip("[]")
            name = trust.ways.get(way, address)
            found.append(_Shown(one.host, "management", address, int(port), name, _HTTP))
    return found


async def _refusal(one: _Shown, context: ssl.SSLContext) -> ssl.SSLError | None:
    """Return how TLS failed; None: it did not, or something else did."""
    try:
        if await _answers(one, context, one.says):
            return None
        # What was said may have been lost on a server that was closing, and its alert with it. It
        # sends the alert to one who says nothing, too.
        await _answers(one, context, b"")
    except ssl.SSLError as error:
        return error
    return None


async def _answers(one: _Shown, context: ssl.SSLContext, says: bytes) -> bool:
    """Return False if the server ended the connection. Raise ssl.SSLError."""
    try:
        async with asyncio.timeout(LIMIT_S):
            reader, writer = await asyncio.open_connection(
                one.address, one.port, ssl=context, server_hostname=one.name
            )
            try:
                writer.write(says)
                return bool(await reader.read(1))
            finally:
                writer.transport.abort()
    except ssl.SSLError:
        raise
    except TimeoutError:
        return True  # it is silent, which others report
    except OSError:
        return False


def _explained(
    one: _Shown, error: ssl.SSLError, topology: Topology, shows_certificate: bool
) -> Problem:
    place = f"{topology.name}.toml"
    if isinstance(error, ssl.SSLCertVerificationError):
        return _unverified(one, error, place)
    reason = str(error.reason or error)
    if any(word in reason for word in _WANTS_CLIENT) and not shows_certificate:
        text = f"{one.text} demands a client certificate, and the file names none: {reason}"
        advice = "write `certificate` and `key` in [tls]"
        return Problem(f"{place}, [tls], certificate", text, advice=advice)
    if any(word in reason for word in _REFUSES_CLIENT):
        text = f"{one.text} refuses the client's certificate: {reason}"
        advice = "use one that is valid, and that an authority signed which the broker trusts"
        return Problem(f"{place}, [tls], certificate", text, advice=advice)
    if any(word in reason for word in _NO_TLS):
        text = f"{one.text} speaks no TLS: {reason}"
        advice = f"give the listener with TLS in `{one.key}`, or take [tls] out of the file"
        return Problem(f"{place}, [[broker]] {one.host}, {one.key}", text, advice=advice)
    text = f"{one.text}: TLS failed: {reason}"
    advice = f"`openssl s_client -connect {one.address}:{one.port}` shows more"
    return Problem(f"{place}, [[broker]] {one.host}, {one.key}", text, advice=advice)


def _unverified(one: _Shown, error: ssl.SSLCertVerificationError, place: str) -> Problem:
    """A certificate that is not believed. `verify_message` is OpenSSL's."""
    code, words = error.verify_code, error.verify_message
    if code in _EXPIRED:
        text = f"the certificate of {one.text} has expired ({words})"
        return Problem(f"{place}, [[broker]] {one.host}, {one.key}", text, advice="renew it")
    if code in _NOT_YET:
        text = f"the certificate of {one.text} is not valid yet ({words})"
        advice = "compare the clocks of this machine and of who signed it"
        return Problem(f"{place}, [[broker]] {one.host}, {one.key}", text, advice=advice)
    if code in _NAMES:
        text = f"the certificate of {one.text} does not hold the name {one.name!r}"
        advice = (
            "write a name that it holds as `server_name`: "
            f"`openssl s_client -connect {one.address}:{one.port} </dev/null | openssl x509 "
            "-noout -ext subjectAltName` lists them"
        )
        return Problem(f"{place}, [[broker]] {one.host}, server_name", text, advice=advice)
    text = f"no authority in `ca` signed the certificate of {one.text} ({words})"
    advice = "name the file with the certificate of the authority that signed it"
    return Problem(f"{place}, [tls], ca", text, advice=advice)
