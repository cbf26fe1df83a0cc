#!/bin/bash
# Prints the node's configuration: the template $1, filled in from the compose file's words.
#
# MQPROOF_NODES (names with blanks between), MQPROOF_NET_TICKTIME, MQPROOF_PARTITION_HANDLING,
# MQPROOF_MEMORY_HIGH_WATERMARK; and for pause_if_all_down alone MQPROOF_PAUSE_IF_ALL_DOWN: what to
# recover by, then the nodes that count.
set -euo pipefail

number=0
nodes=
for node in $MQPROOF_NODES; do
    number=$((number + 1))
    nodes+="cluster_formation.classic_config.nodes.$number = rabbit@$node"$'\n'
done
pause=
read -r recover counting <<<"${MQPROOF_PAUSE_IF_ALL_DOWN:-}"
if [[ -n $recover ]]; then
    key=cluster_partition_handling.pause_if_all_down
    pause="$key.recover = $recover"$'\n'
    number=0
    for node in $counting; do
        number=$((number + 1))
        pause+="$key.nodes.$number = rabbit@$node"$'\n'
    done
fi
template=$(<"$1")
template=${template//@NODES@/$nodes}
template=${template//@NET_TICKTIME@/$MQPROOF_NET_TICKTIME}
template=${template//@PARTITION_HANDLING@/$MQPROOF_PARTITION_HANDLING}
template=${template//@PAUSE_IF_ALL_DOWN@/$pause}
template=${template//@MEMORY_HIGH_WATERMARK@/$MQPROOF_MEMORY_HIGH_WATERMARK}
printf '%s\n' "$template"
