"""A note of what mqproof has on a machine for an external cluster; it outlives mqproof.

1. It is written below the user's state folder (XDG_STATE_HOME) before anything is done, and
   deleted when nothing of ours remains. So a dead run's faults are found even after a power cut.
2. A note holds no secret of the brokers: credentials come from the environment, and only our
   processes that speak to brokers get them. It has the token of our own proxy, for `heal`; only
   this user may read it.
3. Our processes are found by their environment, as those of local clusters; EXTERNAL marks them.
"""

import base64
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from faults.executors import local_processes as processes
from faults.executors.commands import Commands
from faults.toxiproxy import TOKEN
from harness.cluster.agent import AgentClient
from harness.cluster.port import DeployError, wrong_input
from harness.deploy.external.trust import trust_of
from harness.deploy.local.channel import PipeChannel
from harness.deploy.local.site import LISTEN, TOXIPROXY, folder_of
from harness.outside.homes import STATE, user_folder
from harness.plan.checks.held_secrets import holds
from harness.plan.files.toml_problems import document_of
from harness.plan.layouts.topology import Topology
from harness.plan.layouts.versions import Versions
from harness.plan.problems import PlanError, Problem
from harness.systems.catalogue import CatalogueError, load_system
from harness.systems.files import PACKAGES, own_folder
from harness.systems.foreign import Access, ForeignBrokers
from harness.systems.topologies import foreign_of, read_topology
from harness.workers import credentials, tls
from spark_analysis.files.regular import json_of
from spark_analysis.files.writing import write_whole

AGENT = (sys.executable, "-m", "harness.workers.agent")
AGENT_LIMIT_S = 20.0
COMMANDS_LOG = "commands.jsonl"
NOTE_BYTES_MAX = 1 << 22
NO_PROXY = "127.0.0.1:0"  # nothing answers there
_STATE = Path("mqproof") / "external"


@dataclass(frozen=True, slots=True)
class Site:
    """One use of one topology. `proxy`: the address of its Toxiproxy's API, or NO_PROXY.

    `commands_in`: the folder in which its owner's commands always run.
    """

    cluster: str
    experiment: str
    owner: str
    topology: Topology
    proxy: str = NO_PROXY
    listen: str = ""
    commands_in: str = ""
    token: str = field(default="", repr=False)  # what the API of a proxy of ours asks for

    @property
    def folder(self) -> Path:
        return folder_of(Path(self.experiment), self.cluster)

    @property
    def commands_log(self) -> Path:
        return self.folder / COMMANDS_LOG

    @property
    def own_proxy(self) -> bool:
        return self.topology.proxy is not None and not self.topology.proxy.at

    def output(self, name: str) -> Path:
        """What a process of ours writes to its standard streams."""
        return self.folder / f"{name}.out"

    def way(self, host: str) -> tuple[str, int]:
        """Where its server is spoken to by clients."""
        node = self.topology.node(host)
        return node.address, node.port

    def commands(self) -> Commands:
        secrets = _secrets(self.topology)
        commands = self.topology.commands
        return Commands(self.cluster, commands, self.commands_log, secrets, self.commands_in)

    def environment(self, role: str, name: str) -> dict[str, str]:
        marks = {
            processes.CLUSTER: self.cluster,
            processes.FOLDER: str(self.folder),
            processes.EXPERIMENT: self.experiment,
            processes.OWNER: self.owner,
            processes.KEEP: "0",
            processes.ROLE: role,
            processes.HOST: name,
            processes.EXTERNAL: "1",
            TOXIPROXY: self.proxy,
            LISTEN: self.listen,
        }
        speaks = {} if role == processes.PROXY else self._login()
        if role in (processes.PROXY, processes.AGENT):
            speaks[TOKEN] = self.token
        secret = (self.topology.password, credentials.PASSWORD, tls.TRUST)
        theirs = {name: value for name, value in os.environ.items() if name not in secret}
        return {**theirs, **marks, **speaks}

    def _login(self) -> dict[str, str]:
        """Return the environment; without variables that are not set, which `login` reports."""
        topology = self.topology
        trust = trust_of(topology, self.commands_in)
        own = {credentials.VIRTUAL_HOST: topology.virtual_host}
        own |= {tls.TRUST: trust.to_json()} if trust is not None else {}
        if not topology.user or missing_variables(topology, os.environ):
            return own
        user, password = login(topology)
        return {**own, credentials.USER: user, credentials.PASSWORD: password}

    def note(self) -> None:
        """Raises DeployError: what cannot be found again is not begun."""
        text = json.dumps(
            {
                "cluster": self.cluster,
                "experiment": self.experiment,
                "owner": self.owner,
                "proxy": self.proxy,
                "listen": self.listen,
                "commands_in": self.commands_in,
                "token": self.token,
                "name": self.topology.name,
                "topology": self.topology.source,
            }
        )
        path = _noted(self.cluster)
        try:
            own_folder(self.folder)
            write_whole(self.folder / "topology.toml", self.topology.source)
            own_folder(path.parent)
            write_whole(path, text, durable=True)
        except OSError as error:
            raise DeployError(
                f"{path} cannot be written: {error}. `mqproof heal` needs this note to undo "
                f"faults, so nothing was started; make the folder writable"
            ) from error


def forget(cluster: str) -> None:
    """Nothing of it is left; again is harmless. Raises OSError."""
    _noted(cluster).unlink(missing_ok=True)


def noted() -> tuple[str, ...]:
    """Return the clusters that may not be cleaned up, by the names of their notes."""
    return tuple(sorted(path.stem for path in _state().glob("*.json")))


def load(cluster: str) -> Site:
    """Raises OSError where there is no note that can be read."""
    path = _noted(cluster)
    try:
        parts = json_of(path, NOTE_BYTES_MAX)
        source, name = str(parts.pop("topology")), str(parts.pop("name"))
        # Whether there is such a system was asked before it was noted.
        systems = (str(document_of(source, name)["system"]),)
        return Site(**parts, topology=read_topology(name, source, systems))
    except (ValueError, KeyError, TypeError, PlanError) as error:
        raise OSError(f"{path} is none of ours: {error}") from error


def missing_variables(topology: Topology, environment: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in topology.variables if name not in environment)


def exposed(topology: Topology) -> str:
    """Why this file may not be used: it holds what its variable is there to hide; "" is well."""
    password = os.environ.get(topology.password, "")
    if not holds(topology, password):
        return ""
    return (
        f"a command in the file holds what ${topology.password} holds, and files are kept with "
        "results: let the command read the variable"
    )


async def start_agent(site: Site) -> AgentClient:
    """Raises DeployError. It ends with us."""
    environment = site.environment(processes.AGENT, "agent")
    channel = await PipeChannel.start("the agent", list(AGENT), environment, PACKAGES)
    return await AgentClient.start(channel, AGENT_LIMIT_S)


def brokers_of(site: Site, agent: AgentClient) -> ForeignBrokers:
    """Raises DeployError where a variable is not set."""
    topology = site.topology
    access = Access(
        topology=topology,
        agent=agent,
        login=login(topology),
        ours=lambda: prefixes(site),
        versions=_versions(topology),
    )
    return foreign_of(topology).brokers(access)


def _versions(topology: Topology) -> Versions | None:
    """Return in which versions its system exists; None if mqproof does not know them."""
    try:
        return load_system(topology.system).versions
    except CatalogueError:
        return None


def prefixes(site: Site) -> tuple[str, ...]:
    """How the queues of the experiment's runs are named: what is somebody else's may begin with
    `mqproof.`, too."""
    return tuple(f"mqproof.{run}." for run in runs(site))


def runs(site: Site) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in (Path(site.experiment) / "runs").glob("*")))


def login(topology: Topology) -> tuple[str, str]:
    """Return name and password, empty where brokers ask for none. Raise WrongInput, naming the
    variables that are not set."""
    missing = missing_variables(topology, os.environ)
    if missing:
        text = f"not set in the environment: {', '.join(missing)}"
        advice = "; ".join(f"export {name}=..." for name in missing)
        place = topology.place("[credentials]")
        expected = "variables that hold the login"
        raise wrong_input([Problem(place, text, expected=expected, advice=advice)])
    return os.environ.get(topology.user, ""), os.environ.get(topology.password, "")


def _secrets(topology: Topology) -> list[str]:
    """Return the secrets that no file may have: the password, plain and as HTTP sends it."""
    if not (password := os.environ.get(topology.password, "")):
        return []
    pair = f"{os.environ.get(topology.user, '')}:{password}"
    return [password, quote(password, safe=""), base64.b64encode(pair.encode()).decode()]


def _state() -> Path:
    return user_folder(STATE) / _STATE


def _noted(cluster: str) -> Path:
    return _state() / f"{cluster}.json"
