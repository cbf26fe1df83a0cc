"""A first topology file, from a Compose file that has RabbitMQ services.

1. Only what the file says is written; what it does not say is a problem, or a comment to check.
2. Credentials are not copied: a topology names variables.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from harness.outside.text import brief, one_line
from harness.plan.problems import PlanError, Problem

AMQP, AMQPS, API = 5672, 5671, 15672
_HOST = re.compile(r"[a-z][a-z0-9-]{0,30}")
_VARIABLE = re.compile(r"\$\{[A-Za-z_]\w*(?::?-([^}]*))?\}|\$[A-Za-z_]\w*")
_SHORT_PORT = re.compile(r"(?:(\[[^\]]+\]|[^:\[\]]+):)?(\d+):(\d+)(?:/tcp)?")
_PORT = re.compile(r"[0-9]{1,5}")
_ANY = ("", "0.0.0.0", "::", "[::]")
_HEAD = """\
# Written from {file}. Check every line that says so, then: mqproof doctor --topology {path}
title = {title}
system = "rabbitmq-quorum"         # mqproof's queues; "rabbitmq-mirrored" has classic queues
net_ticktime = "60 s"              # check: RabbitMQ's default, if your configuration sets no other
# partition_handling = "ignore"    # unknown here: write what your configuration sets
virtual_host = {virtual_host}

[credentials]                      # export both: {credentials}
user = "RABBITMQ_USER"
password = "RABBITMQ_PASSWORD"

[queues]
members = {members}

[proxy]
start = "embedded"
"""
# Compose labels its containers, whichever of its versions made them.
_OF = "--filter label=com.docker.compose.project={project} "
_OF += "--filter label=com.docker.compose.service={service}"
_LOOK = "found=$(docker ps -q {of} --filter status={state}) || exit 126; "
_THAW = (
    "found=$(docker ps -q {of} --filter status=paused); test -z $found || docker unpause $found"
)
_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class _Service:
    """One broker, or a balancer. `ports`: of its container -> `address:port` on this machine."""

    name: str
    node: str
    ports: Mapping[int, str]

    @property
    def host(self) -> str:
        return re.sub(r"[^a-z0-9-]", "-", self.name.lower())


def topology_text(source: str, file: str, folder: str, path: str) -> str:
    """`file`: the Compose file's name; `folder`: its folder's, by which Compose names the project;
    `path`: of the topology that is written. Raise PlanError with every problem."""
    document = _document(source, file)
    services = _services(document, file)
    project = _plain(document.get("name", "")) or re.sub(r"[^a-z0-9_-]", "", folder.lower())
    brokers = {name: one for name, one in services.items() if _is_of(one, "rabbitmq")}
    if not brokers:
        text = "no service has an image of RabbitMQ"
        raise PlanError([Problem(file, text, expected="services with `image: rabbitmq:...`")])
    problems: list[Problem] = []
    balancers = [
        _read(name, one, file, problems)
        for name, one in services.items()
        if _is_of(one, "haproxy")
    ]
    balancer = next((one for one in balancers if AMQP in one.ports), None)
    found = [_read(name, one, file, problems) for name, one in brokers.items()]
    for one in found:
        problems += _missing(one, brokers[one.name], file, balancer)
    if not any(API in one.ports for one in found):
        text = f"no RabbitMQ service publishes its management API ({API})"
        advice = f'add `ports: ["127.0.0.1:{API}:{API}"]` to one'
        problems.append(Problem(file, text, advice=advice))
    if not _NAMED.fullmatch(project):
        text = f"{brief(project)} is no name of a project"
        problems.append(Problem(file, text, advice="write `name: PROJECT` into it"))
    if problems:
        raise PlanError(problems)
    parts = [_head(found, list(brokers.values()), file, path), *_balancer(balancer)]
    return "\n".join([*parts, *(_broker(one, project) for one in found)])


def _document(source: str, file: str) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # dates that are none; depth
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise PlanError([Problem(file, f"is no YAML{where}", expected="a Compose file")]) from None
    if not isinstance(document, dict):
        raise PlanError([Problem(file, "is no table", expected="a Compose file")])
    return document


def _services(document: Mapping[str, Any], file: str) -> dict[str, dict[str, Any]]:
    services = document.get("services")
    if not isinstance(services, dict):
        text = "has no table `services`"
        raise PlanError([Problem(file, text, expected="a Compose file")])
    return {str(name): one for name, one in services.items() if isinstance(one, dict)}


def _is_of(service: Mapping[str, Any], product: str) -> bool:
    """By the last part of the image's name: `bitnami/rabbitmq:4.1` is RabbitMQ's."""
    image = _plain(service.get("image", ""))
    return product in image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _plain(value: object) -> str:
    """A text of the file, with the defaults of its variables; one without a default is ""."""
    if not isinstance(value, str | int | float):  # aliases in lists grow without a bound
        return ""
    try:
        return _VARIABLE.sub(lambda found: found[1] or "", str(value))
    except ValueError:  # more digits than Python writes
        return ""


def _environment(service: Mapping[str, Any]) -> dict[str, str]:
    found = service.get("environment")
    if isinstance(found, list):
        pairs = (one.partition("=") for one in found if isinstance(one, str))
        return {name: _plain(value) for name, _, value in pairs}
    if isinstance(found, dict):
        return {str(name): _plain(value) for name, value in found.items() if value is not None}
    return {}


def _read(name: str, service: Mapping[str, Any], file: str, problems: list[Problem]) -> _Service:
    place = f"{file}, service {name}"
    node = _environment(service).get("RABBITMQ_NODENAME", "rabbit")
    hostname = _plain(service.get("hostname", ""))
    if "@" not in node:
        node = f"{node}@{hostname}" if hostname else ""
    if service.get("network_mode") == "host":
        return _Service(name, node, {port: f"127.0.0.1:{port}" for port in (AMQP, API)})
    ports: dict[int, str] = {}
    listed = service.get("ports")
    for one in listed if isinstance(listed, list) else ():
        published = _published(one)
        if published is None:
            shown = brief(_plain(one) or one)
            text = f"{shown} does not say at which port of this machine it is published"
            problems.append(Problem(f"{place}, ports", text, expected='"ADDRESS:PORT:PORT"'))
        else:
            ports[published[0]] = published[1]
    return _Service(name, node, ports)


def _published(port: object) -> tuple[int, str] | None:
    """Its container's port, and where it is dialled; None: unknown before it runs."""
    if isinstance(port, dict):
        target, published = _plain(port.get("target")), _plain(port.get("published", ""))
        address = _plain(port.get("host_ip", ""))
    elif found := _SHORT_PORT.fullmatch(_plain(port)):
        address, published, target = found[1] or "", found[2], found[3]
    else:
        return None
    if not (_PORT.fullmatch(target) and _PORT.fullmatch(published)):
        return None
    return int(target), f"{'127.0.0.1' if address in _ANY else address}:{published}"


def _missing(
    one: _Service, service: Mapping[str, Any], file: str, balancer: _Service | None
) -> Iterator[Problem]:
    place = f"{file}, service {one.name}"
    if not _HOST.fullmatch(one.host) or not _NAMED.fullmatch(one.name):
        yield Problem(
            place, f"{brief(one.host)} is no name of a host", expected="a-z, 0-9, hyphens"
        )
    if not one.node:
        text = "has no `hostname`, so its node's name changes with each container"
        yield Problem(place, text, advice=f"add `hostname: {one.host}`")
    if AMQP not in one.ports and balancer is None:
        text = f"publishes no port for AMQP ({AMQP})"
        if AMQPS in one.ports:
            text += "; it publishes TLS alone, which is not read here: write `amqps` by hand"
        yield Problem(place, text, advice=f'add `ports: ["127.0.0.1:{AMQP}:{AMQP}"]`')
    deploy = service.get("deploy")
    replicas = deploy.get("replicas", 1) if isinstance(deploy, dict) else 1
    scale = service.get("scale", replicas)
    if scale != 1:
        text = f"has {brief(_plain(scale))} replicas, which have no addresses of their own"
        yield Problem(place, text, advice="write a service for each broker")


def _head(
    found: Sequence[_Service], services: Sequence[Mapping[str, Any]], file: str, path: str
) -> str:
    every = [_environment(one) for one in services]
    hosts = [one["RABBITMQ_DEFAULT_VHOST"] for one in every if one.get("RABBITMQ_DEFAULT_VHOST")]
    user = "of a user with the tag `monitoring`"
    if any("RABBITMQ_DEFAULT_USER" in one for one in every):
        user = "RABBITMQ_DEFAULT_USER and RABBITMQ_DEFAULT_PASS of the services"
    return _HEAD.format(
        file=one_line(file),
        path=path,
        title=_quoted(f"The RabbitMQ services of {one_line(file)}"),
        virtual_host=_quoted(hosts[0] if hosts else "/"),
        credentials=user,
        members=min(3, len(found)),
    )


def _quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _balancer(balancer: _Service | None) -> list[str]:
    if balancer is None:
        return []
    head = f"[balancer]  # service {one_line(balancer.name)}"
    return [f"{head}\namqp = {_quoted(balancer.ports[AMQP])}\n"]


def _broker(one: _Service, project: str) -> str:
    lines = ["[[broker]]", f'host = "{one.host}"', f"node = {_quoted(one.node)}"]
    if AMQP in one.ports:
        lines.append(f"amqp = {_quoted(one.ports[AMQP])}")
    if API in one.ports:
        lines.append(f"management = {_quoted(f'http://{one.ports[API]}')}")
    return "\n".join([*lines, "", *_commands(_OF.format(project=project, service=one.name))])


def _commands(of: str) -> Iterator[str]:
    """`of`: what finds the service's container."""
    start = f"docker start $(docker ps -aq {of})"
    gone = _LOOK.format(of=of, state="running") + "test -z $found"
    paused = _LOOK.format(of=of, state="paused") + "! test -z $found"
    running = f"$(docker ps -q {of})"
    yield _command("kill", f"docker kill {running}", start, gone)
    yield _command("stop", f"docker stop -t 60 {running}", start, gone)
    yield _command("freeze", f"docker pause {running}", _THAW.format(of=of), paused)


def _command(kind: str, do: str, undo: str, verify: str) -> str:
    steps = (("do", do), ("undo", undo), ("verify", verify))
    lines = [f'{step} = ["sh", "-c", "{script}"]' for step, script in steps]
    return "\n".join([f"[broker.{kind}]", *lines, 'deadline = "90 s"', ""])
