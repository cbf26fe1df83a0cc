#!/bin/bash
# Writes the server's configuration, then becomes the server.
#
# MQPROOF_ROLE (name-server, broker or controller) and MQPROOF_CONFIGURATION come from the compose file.
set -euo pipefail

home=/opt/rocketmq data=/var/lib/rocketmq
case $MQPROOF_ROLE in
name-server)
    class=org.apache.rocketmq.namesrv.NamesrvStartup
    memory=(-Xms32m -Xmx128m) # with a controller in it, too
    ;;
controller)
    class=org.apache.rocketmq.controller.ControllerStartup # RocketMQ 5
    memory=(-Xms32m -Xmx128m)
    ;;
broker)
    class=org.apache.rocketmq.broker.BrokerStartup
    memory=(-Xms96m -Xmx256m -XX:MaxDirectMemorySize=256m)
    ;;
*)
    echo "MQPROOF_ROLE is ${MQPROOF_ROLE@Q}; it is name-server, broker or controller" >&2
    exit 64
    ;;
esac
# Without these a broker on Java 17 does not come back on its own data after a kill.
opened=(
    --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED
    --add-opens=java.base/jdk.internal.ref=ALL-UNNAMED
    --add-opens=java.base/java.nio=ALL-UNNAMED
    --add-opens=java.base/sun.nio.ch=ALL-UNNAMED
    --add-exports=java.base/sun.nio.ch=ALL-UNNAMED
)
# A disk that others fill, too, is no reason to refuse messages.
told=(
    "-Duser.home=$data"
    "-Drmq.logback.configurationFile=$home/conf/logback.xml" # RocketMQ 5
    -Drocketmq.broker.diskSpaceWarningLevelRatio=0.99
)
# A word of it is a line of the file; no value has blanks.
printf '%s\n' $MQPROOF_CONFIGURATION >"$data/server.conf"
# What an operator has changed since; of a key that stands twice the last word counts.
[ ! -f "$data/changed.conf" ] || cat "$data/changed.conf" >>"$data/server.conf"
chown rocketmq:rocketmq "$data" "$data/server.conf"
cd "$data"
export ROCKETMQ_HOME=$home HOME=$data
exec setpriv --reuid=rocketmq --regid=rocketmq --init-groups \
    java "${memory[@]}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "${opened[@]}" "${told[@]}" \
    -cp "$home/lib/*" "$class" -c "$data/server.conf"
