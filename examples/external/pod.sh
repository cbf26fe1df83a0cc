#!/bin/sh
# What mqproof may do to a RabbitMQ pod. The pod has the containers `rabbitmq` and, for cuts of the
# network, `netadmin`: any image with iptables, NET_ADMIN, and cut.sh mounted at /scripts.
#
#   pod.sh kill POD | start POD | killed POD
#   pod.sh freeze POD | thaw POD | frozen POD
#   pod.sh partition POD PEER... | black-hole POD | heal POD | cut POD
#
# `killed`, `frozen` and `cut` end with 0 (yes), 1 (no) or 126 (unknown): kubectl itself ends with 1
# where it fails, so its status alone is no answer.
set -u
what=${1:-} pod=${2:-}
[ -n "$pod" ] || { echo "usage: pod.sh WHAT POD [PEER...]" >&2; exit 126; }
shift 2

inside() { kubectl exec "$pod" -c rabbitmq -- sh -c "$1"; }
network() { kubectl exec "$pod" -c netadmin -- sh /scripts/cut.sh "$@"; }
says() {
    case $1 in
    yes | false) exit 0 ;;
    no | true) exit 1 ;;
    *) exit 126 ;;
    esac
}

case $what in
kill)
    # Everything but process 1 and this shell. The container ends with its broker, and may take this
    # shell with it.
    inside 'kill -KILL -1'
    status=$?
    [ $status -eq 0 ] || [ $status -eq 137 ]
    ;;
start)
    # The kubelet restarts the container.
    kubectl wait --for=condition=Ready "pod/$pod" --timeout=120s
    ;;
killed)
    says "$(kubectl get pod "$pod" -o \
        'jsonpath={.status.containerStatuses[?(@.name=="rabbitmq")].ready}')"
    ;;
freeze) inside 'kill -STOP -1' ;;
thaw) inside 'kill -CONT -1' ;;
frozen) says "$(inside 'grep -q "^State:.T" /proc/[0-9]*/status && echo yes || echo no')" ;;
partition) network partition "$@" ;;
black-hole) network black-hole ;;
heal) network heal ;;
cut) says "$(network verify)" ;;
*) exit 126 ;;
esac
