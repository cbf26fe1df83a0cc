"""PURE: the commands that raise and clear the alarms of a RabbitMQ node, to be run beside it.

1. An alarm is raised by a limit that no node keeps: one byte of memory, a petabyte of free disk.
2. It is cleared by the node's own configuration, as it was read when the node started. So `heal`
   needs no knowledge, and may repeat it.
3. Such limits do not outlive the node's process, nor a pause of its application.
"""

from faults.core.alarms import NOTHING, AlarmCommands, Command

ALARMS = {"memory": "mem_alarm", "disk": "disk_free_alarm"}  # by resource: the node's own word
_RAISE = {
    "memory": ("set_vm_memory_high_watermark", "absolute", "1"),
    "disk": ("set_disk_free_limit", "1000000GB"),
}
_CLEAR = {
    "memory": "{ok, M} = application:get_env(rabbit, vm_memory_high_watermark), "
    "ok = vm_memory_monitor:set_vm_memory_high_watermark(M)",
    "disk": "{ok, D} = application:get_env(rabbit, disk_free_limit), "
    "ok = rabbit_disk_monitor:set_disk_free_limit(D)",
}
_OWN = "[R || {{resource_limit, R, N}, _} <- rabbit_alarm:get_alarms(), N =:= node()]"


def _cleared(*resources: str) -> Command:
    """It prints the alarms that the node had before: `[memory]`. Repeating it is no error."""
    clear = ", ".join(_CLEAR[resource] for resource in resources)
    script = f"case whereis(rabbit_alarm) of undefined -> []; _ -> B = {_OWN}, {clear}, B end."
    return ("rabbitmqctl", "eval", script)


def _all_cleared() -> Command:
    program, *script = _cleared(*_CLEAR)
    words = f"command -v {program} >/dev/null || {{ echo '{NOTHING}'; exit 0; }}; exec \"$@\""
    return ("sh", "-c", words, "clear", program, *script)


RABBITMQ_ALARMS = AlarmCommands(
    raised={resource: ("rabbitmqctl", *words) for resource, words in _RAISE.items()},
    cleared={resource: _cleared(resource) for resource in _CLEAR},
    all_cleared=_all_cleared(),
)
