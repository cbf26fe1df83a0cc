package mqproof;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.MQAdminImpl;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * One consumer of one topic. A batch is put into the outbox, and the library's thread then waits
 * until Python says that it is on record: only then is it consumed, for the library.
 */
public final class Consuming {
    private static final String RETRIES = "%RETRY%";
    private static final long QUEUES_MS = 10_000;
    private static final long SETTLED_MS = 40_000;
    private static final long LOOK_MS = 20;
    private static final long SETTLED_LOOK_MS = 250; // each look asks brokers
    private final Outbox outbox = new Outbox();
    private final String topic;
    private final String group;
    private final DefaultMQPushConsumer push;
    private final DefaultLitePullConsumer pull;
    private final Watch watch;
    private final Object acknowledging = new Object();
    private long tag; // of the last message that was put
    private long acknowledged;
    private volatile boolean closed;

    /** `mode`: concurrent, orderly or pull. */
    public Consuming(String nameServers, String group, String instance, String topic, String mode,
            int threads, int batch, String[] settings) throws Exception {
        this.topic = topic;
        this.group = group;
        push = mode.equals("pull") ? null : new DefaultMQPushConsumer(group);
        pull = mode.equals("pull") ? new DefaultLitePullConsumer(group) : null;
        ClientConfig client = push == null ? pull : push;
        client.setNamesrvAddr(nameServers);
        client.setInstanceName(instance);
        if (push != null) {
            push.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            push.setConsumeThreadMin(threads);
            push.setConsumeThreadMax(threads);
            push.setConsumeMessageBatchMaxSize(batch);
            push.setPullBatchSize(batch);
            push.setAwaitTerminationMillisWhenShutdown(1000);
            listen(mode);
        } else {
            pull.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            pull.setPullBatchSize(batch);
            pull.setAutoCommit(false);
        }
        Library.setAll(client, settings);
        Map<String, Callable<String>> facts = new TreeMap<>();
        facts.put("attached", this::attached);
        facts.put("route", () -> Library.route(instance(), topic));
        facts.put("rebalanced", this::queues);
        watch = new Watch(outbox, facts);
    }

    private void listen(String mode) {
        if (mode.equals("orderly")) {
            push.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                recorded(messages);
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            push.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                recorded(messages);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
    }

    /** Subscribes, and asks for the route. */
    public void start() throws Exception {
        if (push != null) {
            push.subscribe(topic, "*");
            push.start();
        } else {
            pull.subscribe(topic, "*");
            pull.start();
            Thread thread = new Thread(this::poll, "mqproof poll");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** The name server that is asked now. */
    public String attached() throws Exception {
        return Library.attached(instance());
    }

    /** From now on what changes is noticed; what is there, at once. */
    public void watch() {
        watch.look();
        watch.start();
    }

    /**
     * Returns when what is sent from then on is read at once. With `members` that is when the group
     * has so many, this one has its part of all queues, and their brokers serve its pulls; or after
     * SETTLED_MS. Without, it is when it has any queue; or after QUEUES_MS, as where a group has
     * more consumers than queues.
     */
    public void awaitQueues(int members) throws Exception {
        long limitMs = members > 0 ? SETTLED_MS : QUEUES_MS;
        long end = System.nanoTime() + limitMs * 1_000_000L;
        while (!closed && System.nanoTime() < end && !serves(members)) {
            Thread.sleep(members > 0 ? SETTLED_LOOK_MS : LOOK_MS);
        }
        watch.look();
    }

    private boolean serves(int members) throws Exception {
        return members > 0 ? settlement().isSettled(members) : !queues().isEmpty();
    }

    private Settlement settlement() throws Exception {
        return new Settlement(instance(), rebalance(), group, topic, push != null);
    }

    private void poll() {
        while (!closed) {
            List<MessageExt> messages = pull.poll();
            if (!messages.isEmpty()) {
                recorded(messages);
                pull.commitSync();
            }
        }
    }

    /** Returns when Python has said that these are on record; never for what was not. */
    private void recorded(List<MessageExt> messages) {
        long last;
        synchronized (acknowledging) {
            // Numbered and put under one lock: Python hears tags in order.
            for (MessageExt message : messages) {
                put(++tag, message);
            }
            last = tag;
        }
        synchronized (acknowledging) {
            while (acknowledged < last) {
                try {
                    acknowledging.wait();
                } catch (InterruptedException ending) {
                    // Going on would say that it was consumed.
                }
            }
        }
    }

    private void put(long number, MessageExt message) {
        boolean again = message.getProperty(MessageConst.PROPERTY_RETRY_TOPIC) != null;
        outbox.put(Outbox.MESSAGE, out -> {
            out.writeLong(number);
            out.writeInt(message.getQueueId());
            out.writeLong(message.getQueueOffset());
            out.writeInt(message.getReconsumeTimes());
            out.writeByte(again ? 1 : 0);
            Outbox.text(out, message.getBrokerName());
            out.writeInt(message.getBody().length);
            out.write(message.getBody());
        });
    }

    /** Everything up to this tag is on record. */
    public void acknowledge(long upTo) {
        synchronized (acknowledging) {
            acknowledged = Math.max(acknowledged, upTo);
            acknowledging.notifyAll();
        }
    }

    /** What the brokers hold that this group has not committed, retries included. */
    public long remaining() throws Exception {
        if (push != null) {
            push.getDefaultMQPushConsumerImpl().persistConsumerOffset();
            OffsetStore store = push.getDefaultMQPushConsumerImpl().getOffsetStore();
            return behind(store, topic) + behindRetries(store);
        }
        long behind = 0;
        for (MessageQueue queue : pull.fetchMessageQueues(topic)) {
            Long committed = pull.committed(queue);
            long end = offset("getMaxOffset", queue);
            behind += left(end, Math.max(committed == null ? 0 : committed, 0));
        }
        return behind;
    }

    private long behindRetries(OffsetStore store) throws Exception {
        try {
            return behind(store, RETRIES + group);
        } catch (MQClientException none) {
            if (String.valueOf(none.getMessage()).contains("Can not find Message Queue")) {
                return 0; // no broker has a retry topic of this group: nothing was ever retried
            }
            throw none;
        }
    }

    private long behind(OffsetStore store, String of) throws Exception {
        long behind = 0;
        for (MessageQueue queue : push.fetchSubscribeMessageQueues(of)) {
            long end = offset("getMaxOffset", queue);
            long first = offset("getMinOffset", queue);
            long committed = store.readOffset(queue, ReadOffsetType.READ_FROM_STORE);
            if (committed == -2) {
                throw new IllegalStateException("no offset of " + queue + " to be had");
            }
            behind += left(end, Math.max(committed, first));
        }
        return behind;
    }

    /** A slave may hold less than its dead master gave out: an offset past its end is behind none. */
    private static long left(long end, long committed) {
        return Math.max(0, end - committed);
    }

    /** As the master of the queue says; where the route shows none any more, as its slave does. */
    private long offset(String which, MessageQueue queue) throws Exception {
        MQAdminImpl admin = instance().getMQAdminImpl();
        try {
            return which.equals("getMaxOffset") ? admin.maxOffset(queue) : admin.minOffset(queue);
        } catch (MQClientException none) {
            // A master that died for good is dropped from the route, and consumers read its slave.
            if (!String.valueOf(none.getMessage()).contains("] not exist")) {
                throw none;
            }
            return Library.offset(which, instance(), queue);
        }
    }

    private String queues() throws Exception {
        StringBuilder text = new StringBuilder();
        rebalance().getProcessQueueTable().keySet()
                .stream().filter(queue -> queue.getTopic().equals(topic)).sorted()
                .forEach(queue -> text.append(text.length() == 0 ? "" : " ")
                        .append(queue.getBrokerName()).append('/').append(queue.getQueueId()));
        return text.toString();
    }

    private RebalanceImpl rebalance() throws Exception {
        return push != null ? push.getDefaultMQPushConsumerImpl().getRebalanceImpl()
                : (RebalanceImpl) field(implementation(), "rebalanceImpl");
    }

    private MQClientInstance instance() throws Exception {
        if (push != null) {
            return push.getDefaultMQPushConsumerImpl().getmQClientFactory();
        }
        return (MQClientInstance) field(implementation(), "mQClientFactory");
    }

    /** What the pull consumer keeps to itself. */
    private Object implementation() throws Exception {
        return field(pull, "defaultLitePullConsumerImpl");
    }

    private static Object field(Object of, String name) throws Exception {
        java.lang.reflect.Field found = of.getClass().getDeclaredField(name);
        found.setAccessible(true);
        return found.get(of);
    }

    public byte[] take(long waitMs, int enough) throws InterruptedException {
        return outbox.take(waitMs, enough);
    }

    public void close() {
        closed = true;
        watch.end();
        if (push != null) {
            push.shutdown();
        } else {
            pull.shutdown();
        }
    }
}
