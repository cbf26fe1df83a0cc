"""Verify that a broker is in alarm, by what the brokers say of it and of each other."""

from collections.abc import Collection, Mapping

from faults.core.model import Proof
from faults.core.replies import doubt, proven

Alarms = Mapping[str, Mapping[str, bool]]  # who says so -> of whom -> whether it is in alarm


def alarm_held(host: str, resource: str, said: Alarms) -> Proof:
    """The broker must say so itself, and everybody else that answers must know of it."""
    if host not in said.get(host, {}):
        return doubt(f"{host} does not say whether it has a {resource} alarm")
    unaware = sorted(broker for broker, alarms in said.items() if not alarms.get(host, False))
    if unaware:
        return doubt(f"no {resource} alarm of {host} by the word of {', '.join(unaware)}")
    return proven(f"{resource} alarm of {host}, by the word of {', '.join(sorted(said))}")


def alarm_gone(host: str, resource: str, said: Alarms, others: Collection[str] = ()) -> Proof:
    """By everybody's word, and of any host: an alarm anywhere blocks publishers everywhere.
    `others`: hosts whose alarm another fault raises."""
    if host not in said.get(host, {}):
        return doubt(f"{host} does not say whether it has a {resource} alarm")
    found = {host for alarms in said.values() for host, alarm in alarms.items() if alarm}
    expected = set(others) - {host}
    if found - expected:
        return doubt(f"still a {resource} alarm of {', '.join(sorted(found - expected))}")
    beside = f" but that of {', '.join(sorted(expected))}, by another fault" if expected else ""
    return proven(f"no {resource} alarm{beside}, by the word of {', '.join(sorted(said))}")
