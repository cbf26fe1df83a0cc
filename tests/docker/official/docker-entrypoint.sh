#!/bin/bash
# What the official entry point does: as root it becomes `rabbitmq`, then it runs the command.
set -euo pipefail
if [[ $1 == rabbitmq* && $(id -u) == 0 ]]; then
    find /var/lib/rabbitmq \! -user rabbitmq -exec chown rabbitmq '{}' +
    exec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups "${BASH_SOURCE[0]}" "$@"
fi
if [[ -n ${RABBITMQ_VM_MEMORY_HIGH_WATERMARK:-} ]]; then
    echo "error: RABBITMQ_VM_MEMORY_HIGH_WATERMARK is set but deprecated" >&2
    exit 1
fi
exec "$@"
