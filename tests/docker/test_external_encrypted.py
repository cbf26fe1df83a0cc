"""mqproof against RabbitMQ that it did not start, as a company runs it.

TLS with clients' certificates, a virtual host, a user with few rights, quorum queues; partitions,
black holes and reboots by commands of the owner.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from harness.deploy import engine, images
from harness.deploy.external.certificates import problems
from harness.plan.layouts.topology import Topology
from harness.plan.model import RunPlan, Window
from harness.systems.topologies import layout_of, read_topology
from tests.docker.command_line import mqproof
from tests.docker.conftest import require_docker
from tests.docker.somebodys import NODES, PASSWORD, USER, Somebodys, docker
from tests.docker.test_external import END_LIMIT_S, perform
from tests.rigs.clusters.certificates import Authority
from tests.rigs.clusters.topologies import HOSTS, broker, command
from tests.rigs.runs.plans import fault, plan

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

CUT = Path(__file__).parents[2] / "examples" / "external" / "cut.sh"
VIRTUAL_HOST = "orders/eu"
CONFIGURATION = """
listeners.ssl.default = 5671
ssl_options.cacertfile = /certificates/authority.pem
ssl_options.certfile = /certificates/NODE.pem
ssl_options.keyfile = /certificates/NODE.key
ssl_options.verify = verify_peer
ssl_options.fail_if_no_peer_cert = true
management.tcp.port = 15672
management.ssl.port = 15671
management.ssl.cacertfile = /certificates/authority.pem
management.ssl.certfile = /certificates/NODE.pem
management.ssl.keyfile = /certificates/NODE.key
"""
HEAD = f"""
system = "rabbitmq-quorum"
net_ticktime = "60 s"
partition_handling = "pause_minority"
virtual_host = "{VIRTUAL_HOST}"
[credentials]
user = "RACK_USER"
password = "RACK_PASSWORD"
[queues]
members = 3
[proxy]
start = "embedded"
"""
# As cut.sh would run on the machine: in the node's network, with the right to change it.
_CUT = (
    'node=$1; shift; exec docker run --rm --network "container:$node" --cap-add NET_ADMIN '
    '--entrypoint sh IMAGE -c "$(cat SCRIPT)" cut.sh "$@"'
)
_GONE = 'test "$(docker inspect -f "{{.State.Running}}" "$1")" = false'


@dataclass
class Encrypted(Somebodys):
    """The same three nodes, with TLS beside the plain listeners, which mqproof is not told of."""

    folder: Path = field(default_factory=Path)
    worker: str = ""

    def _up(self) -> None:
        self.authority = Authority.founded(self.folder)
        self.client = self.authority.signs("client")
        for node in NODES:
            self.authority.signs(node, f"DNS:{node}.test")
            text = CONFIGURATION.replace("NODE", node)
            (self.folder / node).mkdir(exist_ok=True)
            (self.folder / node / "tls.conf").write_text(text)
        self.folder.chmod(0o755)  # the broker's own user reads it
        for key in self.folder.glob("*.key"):
            key.chmod(0o644)
        client = engine.connect()
        found = images.ensure(client, "rabbitmq-mirrored", lambda _: None, balanced=False)
        self.worker = found.worker
        super()._up()

    def _start(self, node: str, image: str, *words: str) -> None:
        place = ("--network", self.name, "--ip", self.address(node), "--network-alias", node)
        names = ("--name", self.container(node), "--hostname", node)
        labelled = ("--label", f"somebodys={self.name}")
        docker("create", *names, *labelled, *place, *words, image)
        if node in NODES:
            container = self.container(node)
            docker("cp", str(self.folder), f"{container}:/certificates")
            docker("cp", str(self.folder / node), f"{container}:/etc/rabbitmq/conf.d")
        docker("start", self.container(node))

    def _furnish(self) -> None:
        self.ask(f"users/{USER}", "PUT", {"password": PASSWORD, "tags": "monitoring"})
        self.ask(f"vhosts/{VIRTUAL_HOST.replace('/', '%2F')}", "PUT", {})
        self.permit()

    def permit(self, **other: str) -> None:
        allowed = {
            "configure": "^mqproof[.-]",
            "write": r"^(mqproof[.-].*|amq\.default)$",
            "read": "^mqproof[.-]",
        }
        name = VIRTUAL_HOST.replace("/", "%2F")
        self.ask(f"permissions/{name}/{USER}", "PUT", {**allowed, **other})

    def encrypted_text(self, certificate: bool = True, ca: Path | None = None) -> str:
        tls = f'[tls]\nca = "{ca or self.authority.certificate}"\n'
        if certificate:
            tls += f'certificate = "{self.client.certificate}"\nkey = "{self.client.key}"\n'
        brokers = []
        for place, node in enumerate(NODES):
            own = broker(
                place,
                f"{self.address(node)}:5671",
                f"https://{self.address(node)}:15671",
                self._commands(node),
            )
            brokers.append(own.replace("amqp =", f'server_name = "{node}.test"\namqps ='))
        return "\n".join([HEAD, tls, *brokers])

    def encrypted(self) -> Topology:
        return read_topology("rack", self.encrypted_text(), ("rabbitmq-quorum",))

    def _commands(self, node: str) -> str:
        container = self.container(node)
        script = _CUT.replace("IMAGE", self.worker).replace("SCRIPT", str(CUT))
        peers = [self.address(other) for other in NODES if other != node]

        def cut(*words: str) -> list[str | Path]:
            return ["sh", "-c", script, "owner", container, *words]

        heal, verify = cut("heal"), cut("verify")
        off = cut("black-hole")[2:]
        power = ["sh", "-c", 'sh -c "$@" && docker kill "$0"', container, *off]
        back = ["docker", "start", container]
        gone = ["sh", "-c", _GONE, "owner", container]
        return "".join(
            (
                command(
                    "partition", {"do": cut("partition", *peers), "undo": heal, "verify": verify}
                ),
                command("black_hole", {"do": cut("black-hole"), "undo": heal, "verify": verify}),
                command("reboot", {"do": power, "undo": back, "verify": gone}, "60 s"),
            )
        )


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypted]:
    require_docker()
    one = Encrypted(folder=tmp_path_factory.mktemp("certificates"))
    yield one
    one.down()


@pytest.fixture
def owner(encrypted: Encrypted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Encrypted:
    monkeypatch.setenv("RACK_USER", USER)
    monkeypatch.setenv("RACK_PASSWORD", PASSWORD)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = encrypted.clean()
    assert isinstance(found, Encrypted)
    return found


def doctor(folder: Path, text: str) -> tuple[int, str]:
    (folder / "rack.toml").write_text(text)
    process = mqproof(folder, "doctor", "--topology", "rack.toml")
    said, _ = process.communicate(timeout=END_LIMIT_S)
    assert PASSWORD not in said
    return process.returncode, " ".join(said.split())


def test_doctor_finds_everything_over_tls_in_the_virtual_host(
    owner: Encrypted, tmp_path: Path
) -> None:
    status, said = doctor(tmp_path, owner.encrypted_text())
    assert status == 0, said
    for words in (
        "alpha: management: https://",
        "gamma: AMQP",
        "queues of runs: declare, publish, consume and delete work",
        "3 nodes run, no partition, no alarm",
        "faults that may be done: hang",
    ):
        assert words in said, said
    assert owner.names("queues") == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("certificate", "demands a client certificate, and the file names none"),
        ("authority", "no authority in `ca` signed the certificate of beta"),
        ("name", "does not hold the name 'other.test'"),
    ],
)
def test_certificates_that_do_not_fit_are_bad_input(
    owner: Encrypted, tmp_path: Path, wrong: str, words: str
) -> None:
    ca = Authority.founded(tmp_path, "other").certificate if wrong == "authority" else None
    text = owner.encrypted_text(certificate=wrong != "certificate", ca=ca)
    if wrong == "name":
        text = text.replace("ref2.test", "other.test")
    status, said = doctor(tmp_path, text)
    assert status == 254, said
    assert words in said


def test_doctor_tells_a_missing_virtual_host_from_missing_rights(
    owner: Encrypted, tmp_path: Path
) -> None:
    text = owner.encrypted_text().replace(f'"{VIRTUAL_HOST}"', '"ordres"')
    status, said = doctor(tmp_path, text)
    assert status == 2, said
    assert "there is no virtual host 'ordres'" in said
    status, said = doctor(tmp_path, owner.encrypted_text().replace(f'"{VIRTUAL_HOST}"', '"/"'))
    assert status == 2, said
    assert "may not access the virtual host '/'" in said
    assert "rabbitmqctl set_permissions -p / USER" in said
    owner.permit(read="^nothing")
    try:
        status, said = doctor(tmp_path, owner.encrypted_text())
    finally:
        owner.permit()
    assert status == 2, said
    assert "may not consume" in said
    assert f"set_permissions -p {VIRTUAL_HOST} USER" in said


def test_network_faults_by_the_owners_commands_are_verified_without_loss(
    owner: Encrypted, tmp_path: Path
) -> None:
    faults = (fault("partition"), fault("black_hole"), fault("reboot"), fault("hang"))
    opens = (0.5, 14.0, 28.0, 48.0)
    windows = tuple(
        Window(number, one, at, 6.0)
        for number, (one, at) in enumerate(zip(faults, opens, strict=True), start=1)
    )
    run: RunPlan = plan(*faults)
    run = replace(run, schedule=replace(run.schedule, windows=windows))
    of = replace(run, layout=layout_of(owner.encrypted()), deployment="external")
    manifest, _ = perform(of, tmp_path)
    seen = [(one.kind, one.verified, one.gone, one.unverified_reason) for one in manifest.windows]
    assert seen == [(one.kind.name, True, True, "") for one in faults]
    assert owner.names("queues") == []
    assert owner.states() == dict.fromkeys(HOSTS, "running")


def test_a_missing_certificate_is_bad_input_before_a_run(owner: Encrypted, tmp_path: Path) -> None:
    """By the check that `run` begins with; the cluster's own certificates are well."""
    assert asyncio.run(problems(owner.encrypted())) == ()
    (tmp_path / "rack.toml").write_text(owner.encrypted_text(certificate=False))
    process = mqproof(tmp_path, "run", "client-link-hang", "--topology", "rack.toml")
    said, _ = process.communicate(timeout=END_LIMIT_S)
    assert process.returncode == 254, said
    assert "demands a client certificate" in " ".join(said.split())
    assert owner.names("queues") == []


def test_a_right_that_the_user_lacks_is_bad_input_of_a_run(
    owner: Encrypted, tmp_path: Path
) -> None:
    (tmp_path / "rack.toml").write_text(owner.encrypted_text())
    owner.permit(read="^nothing")
    try:
        process = mqproof(tmp_path, "run", "client-link-hang", "--topology", "rack.toml")
        said, _ = process.communicate(timeout=END_LIMIT_S)
    finally:
        owner.permit()
    words = " ".join(said.split())
    assert process.returncode == 254, said
    assert "rack.toml, [credentials]: " in words
    assert "may not consume" in words
    assert f"set_permissions -p {VIRTUAL_HOST} USER" in words
    assert owner.names("queues") == []


HAPROXY = """
defaults
    mode tcp
    timeout connect 2s
    timeout client 10m
    timeout server 10m
listen amqp
    bind *:5672
    option tcp-check
"""


@pytest.fixture
def balancer(owner: Encrypted, tmp_path: Path) -> Iterator[str]:
    """HAProxy before the listeners without TLS: its address."""
    lines = [f"    server {n} {owner.address(n)}:5672 check inter 500ms\n" for n in NODES]
    (tmp_path / "haproxy.cfg").write_text(HAPROXY + "".join(lines))
    client = engine.connect()
    found = images.ensure(client, "rabbitmq-mirrored", lambda _: None, balanced=True)
    name, address = f"{owner.name}-haproxy", f"{owner.network}.20"
    place = ("--network", owner.name, "--ip", address, "--label", f"somebodys={owner.name}")
    run = (found.balancer, "-f", "/haproxy.cfg", "-db")
    docker("create", "--name", name, *place, "--user", "0", "--entrypoint", "haproxy", *run)
    docker("cp", str(tmp_path / "haproxy.cfg"), f"{name}:/haproxy.cfg")
    docker("start", name)
    yield address
    docker("rm", "-f", name)


def test_a_kill_behind_haproxy_is_verified_without_loss(
    owner: Encrypted, balancer: str, tmp_path: Path
) -> None:
    tables = []
    for place, node in enumerate(NODES):
        container = owner.container(node)
        gone = ["sh", "-c", _GONE, "owner", container]
        words = {"do": ["docker", "kill", container], "undo": ["docker", "start", container]}
        kill = command("kill", {**words, "verify": gone}, "60 s")
        own = broker(place, "", f"http://{owner.address(node)}:15672", kill)
        hidden = ("amqp =",) if place == 0 else ("amqp =", "management =")
        tables += [line for line in own.splitlines() if not line.startswith(hidden)]
    entrance = f'[balancer]\namqp = "{balancer}:5672"'
    topology = read_topology("rack", "\n".join([HEAD, entrance, *tables]), ("rabbitmq-quorum",))
    run = plan(fault("kill", "gamma"), lasts_s=6.0)
    of = replace(run, layout=layout_of(topology), deployment="external")
    manifest, _ = perform(of, tmp_path)
    (window,) = manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert manifest.state["client_endpoint"] == "balancer"
    assert owner.names("queues") == []
