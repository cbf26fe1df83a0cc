"""What an image of the user's own must hold to run as a RabbitMQ node.

1. The conventions are those of Docker's official image `rabbitmq`.
2. The probe starts no broker: both of its commands work without one.
"""

from harness.plan.versions import is_version
from harness.systems.containers import Probed, UsersImage

_PLUGIN = "rabbitmq_management"
_PROBE = f"rabbitmqctl version; rabbitmq-plugins list --silent --minimal {_PLUGIN}"


def _read(output: str) -> Probed:
    """Commands may print warnings beside what they report."""
    lines = [line.strip() for line in output.splitlines()]
    version = next((line for line in lines if is_version(line)), "")
    if not version:
        said = " ".join(output.split())[-200:] or "nothing"
        return Probed("", f"`rabbitmqctl version` reports no version, but {said}")
    lacks = "" if _PLUGIN in lines else f"it lacks the plugin {_PLUGIN}"
    return Probed(version, lacks)


RABBITMQ_USERS_IMAGE = UsersImage(
    conventions=(
        "an image like Docker's official `rabbitmq`: entry point docker-entrypoint.sh, bash, "
        f"/etc/rabbitmq, /var/lib/rabbitmq, a user `rabbitmq`, the plugin {_PLUGIN}"
    ),
    entry_point="docker-entrypoint.sh",
    probe=("bash", "-c", _PROBE),
    read=_read,
)
