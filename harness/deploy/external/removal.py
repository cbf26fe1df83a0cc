"""Removes mqproof's own things on and around an external cluster; it may be repeated.

1. It removes queues and listeners of the experiment's runs, by name; settings that the file had us
   make; then our processes. Nothing else is touched.
2. One failure does not stop the rest; each failure is reported.
"""

from collections.abc import Awaitable, Callable, Iterable

from faults.core.model import FaultError
from harness.cluster.port import DeployError
from harness.deploy.external.site import NO_PROXY, Site, brokers_of, prefixes, runs, start_agent
from harness.deploy.local.faults import AgentHere
from harness.deploy.local.removal import remove as remove_processes
from harness.systems.foreign import ForeignBrokers

PROXY_LIMIT_S = 15.0
Step = Callable[[ForeignBrokers], Awaitable[None]]


async def remove(site: Site) -> tuple[str, ...]:
    """All of it, by an agent of its own. What could not be removed, and why."""
    doubts: list[str] = []
    if runs(site) or site.topology.own.sets:
        doubts += await _by_an_agent(site, (_queues, _settings))
    doubts += await remove_listeners(site)
    return (*doubts, *await end_processes(site))


async def remove_early(site: Site, settings: bool) -> tuple[str, ...]:
    """Of a cluster that did not come to stand: no run has made a queue or a listener on it.

    `settings`: whether they may have been set.
    """
    doubts: list[str] = []
    if settings and site.topology.own.sets:
        doubts += await _by_an_agent(site, (_settings,))
    return (*doubts, *await end_processes(site))


async def remove_named(theirs: ForeignBrokers) -> tuple[str, ...]:
    """What brokers hold of ours."""
    return await _removed(theirs, (_queues, _settings))


async def _removed(theirs: ForeignBrokers, steps: Iterable[Step]) -> tuple[str, ...]:
    doubts = []
    for step in steps:
        try:
            await step(theirs)
        except DeployError as error:
            doubts.append(str(error))
    return tuple(doubts)


async def remove_listeners(site: Site) -> tuple[str, ...]:
    """Those at a proxy that is there; at a proxy of ours they go with it."""
    if site.own_proxy or site.proxy == NO_PROXY:
        return ()
    agent = AgentHere(site.proxy, site.token)
    try:
        for prefix in prefixes(site):
            await agent.call("proxy_delete", PROXY_LIMIT_S, prefix=prefix)
    except FaultError as error:
        return (f"listeners at {site.proxy} may be left: {error}",)
    return ()


async def end_processes(site: Site) -> tuple[str, ...]:
    """Our own: agent, workers, and a proxy that we started."""
    try:
        await remove_processes(site.cluster, site.folder, ask=True)
    except DeployError as error:
        return (str(error),)
    return ()


async def _by_an_agent(site: Site, steps: Iterable[Step]) -> tuple[str, ...]:
    left = "queues or a policy may be left"
    try:
        agent = await start_agent(site)
    except DeployError as error:
        return (f"{left}: {error}",)
    try:
        return await _removed(brokers_of(site, agent), steps)
    except DeployError as error:
        return (f"{left}: {error}",)
    finally:
        await agent.close()


async def _queues(theirs: ForeignBrokers) -> None:
    await theirs.remove_queues()


async def _settings(theirs: ForeignBrokers) -> None:
    await theirs.remove_settings()
