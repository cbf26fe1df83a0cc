package mqproof;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.impl.FindBrokerResult;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Whether a consumer has its part of a topic's queues, and is served. Only looks: it makes the library
 * do nothing that it would not do.
 */
final class Settlement {
    private static final long LIMIT_MS = 3000;
    private final MQClientInstance instance;
    private final RebalanceImpl rebalance;
    private final String group;
    private final String topic;
    private final boolean pushes;

    Settlement(MQClientInstance instance, RebalanceImpl rebalance, String group, String topic,
            boolean pushes) {
        this.instance = instance;
        this.rebalance = rebalance;
        this.group = group;
        this.topic = topic;
        this.pushes = pushes;
    }

    /** Whether the group has so many members, and this one has what its strategy gives it. */
    boolean isSettled(int members) {
        Set<MessageQueue> known = rebalance.getTopicSubscribeInfoTable().get(topic);
        List<String> consumers = instance.findConsumerIdList(topic, group);
        if (known == null || known.isEmpty() || consumers == null || consumers.size() < members) {
            return false;
        }
        List<MessageQueue> queues = new ArrayList<>(known);
        List<String> sorted = new ArrayList<>(consumers);
        Collections.sort(queues);
        Collections.sort(sorted);
        Set<MessageQueue> wanted = new HashSet<>(rebalance.getAllocateMessageQueueStrategy()
                .allocate(group, instance.getClientId(), queues, sorted));
        return wanted.equals(held()) && wanted.stream().allMatch(this::serves);
    }

    private Set<MessageQueue> held() {
        Set<MessageQueue> held = new HashSet<>(rebalance.getProcessQueueTable().keySet());
        held.removeIf(queue -> !queue.getTopic().equals(topic));
        return held;
    }

    /**
     * Whether the queue's broker knows this version of the subscription. A pull by a newer one is
     * refused until the next heartbeat, up to 30 s later (docs/behaviour/rocketmq.md 3.2).
     */
    private boolean serves(MessageQueue queue) {
        var own = rebalance.getSubscriptionInner().get(topic);
        if (!pushes || own == null) {
            return true; // its pulls carry no version
        }
        FindBrokerResult broker =
                instance.findBrokerAddressInSubscribe(queue.getBrokerName(), 0, false);
        if (broker == null) {
            return false;
        }
        try {
            var known = instance.getMQClientAPIImpl()
                    .getConsumerConnectionList(broker.getBrokerAddr(), group, LIMIT_MS)
                    .getSubscriptionTable().get(topic);
            return known != null && known.getSubVersion() >= own.getSubVersion();
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
            return false;
        } catch (Exception notYet) { // the group is not known there, or the broker does not answer
            return false;
        }
    }
}
