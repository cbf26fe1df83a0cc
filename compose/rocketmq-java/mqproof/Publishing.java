package mqproof;

import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * One producer of one topic. Python hands over bursts; every send is answered once, by an entry in
 * the outbox: its status as it came, or its exception with all causes. Nothing is judged here.
 *
 * <p>The library's own retries are off: one send is one attempt.
 */
public final class Publishing {
    private static final byte HANDED_OVER = -1;
    private static final byte FAILED = -2;
    private static final byte NO_STATE = -1;
    private static final byte STORED = 0; // SEND_OK
    private static final String TAG = "mqproof";

    private final Outbox outbox = new Outbox();
    private final DefaultMQProducer producer;
    private final String topic;
    private final String mode;
    private final int timeoutMs;
    private final ExecutorService[] lanes;
    private final Fates fates = new Fates(outbox);
    private final Watch watch;
    private final Refill refill = new Refill((tag, body) -> async(tag, message(body)));
    private int next;

    /** `lanes`: threads of sends that block; each of a key's sends goes to one lane. */
    public Publishing(String nameServers, String group, String instance, String topic, String mode,
            int timeoutMs, boolean transactions, int lanes, String[] settings) throws Exception {
        this.topic = topic;
        this.mode = mode;
        this.timeoutMs = timeoutMs;
        producer = transactions ? transactional(group) : new DefaultMQProducer(group);
        producer.setNamesrvAddr(nameServers);
        producer.setInstanceName(instance);
        producer.setSendMsgTimeout(timeoutMs);
        Library.setAll(producer, settings);
        producer.setRetryTimesWhenSendFailed(0);
        producer.setRetryTimesWhenSendAsyncFailed(0);
        producer.setRetryAnotherBrokerWhenNotStoreOK(false);
        this.lanes = new ExecutorService[mode.equals("async") && !transactions ? 0 : lanes];
        Arrays.setAll(this.lanes, lane -> Executors.newSingleThreadExecutor(Publishing::daemon));
        watch = new Watch(outbox, Map.of(
                "attached", this::attached,
                "route", () -> Library.route(instance(), topic)));
    }

    /** Starts, and asks for the route; throws where no name server knows the topic. */
    public int start() throws Exception {
        producer.start();
        try {
            return producer.fetchPublishMessageQueues(topic).size();
        } catch (Exception failure) {
            producer.shutdown();
            throw failure;
        }
    }

    /** The name server that is asked now. */
    public String attached() throws Exception {
        return Library.attached(instance());
    }

    private MQClientInstance instance() {
        return producer.getDefaultMQProducerImpl().getmQClientFactory();
    }

    /** From now on what changes is noticed; what is there, at once. */
    public void watch() {
        watch.look();
        watch.start();
    }

    /**
     * `bodies` holds `keys.length` bodies of one length; their tags count on from `tag`. `wanted`
     * has each one's fate and `levels` its delay, 0 without one; empty where none has any.
     */
    public void send(long tag, byte[] bodies, int[] keys, int[] wanted, int[] levels) {
        int length = bodies.length / keys.length;
        for (int each = 0; each < keys.length; each++) {
            byte[] body = Arrays.copyOfRange(bodies, each * length, (each + 1) * length);
            Message message = message(body);
            if (levels.length > 0 && levels[each] > 0) {
                message.setDelayTimeLevel(levels[each]);
            }
            one(tag + each, message, keys[each], wanted.length == 0 ? 0 : wanted[each]);
        }
    }

    private Message message(byte[] body) {
        return new Message(topic, body);
    }

    /** Sends by itself from now on (Refill.begin). */
    public boolean refill(String log, byte[] record, byte[] body, long[] numbers)
            throws IOException {
        boolean begun = refill.begin(log, record, body, numbers);
        outbox.gather(begun);
        return begun;
    }

    /** What it has sent by itself (Refill.taken). */
    public long[] refilled() throws IOException {
        return refill.taken();
    }

    /** As `refilled`; it sends nothing by itself any more. */
    public long[] halt() throws IOException, InterruptedException {
        outbox.gather(false);
        return refill.halt();
    }

    private void one(long tag, Message message, int key, int fate) {
        if (mode.equals("async") && fate == 0) {
            async(tag, message);
            return;
        }
        // A key keeps its lane, so that its sends do not overtake each other; without order any will do.
        int lane = mode.equals("ordered") ? key : next++;
        lanes[Math.floorMod(lane, lanes.length)].execute(() -> blocking(tag, message, key, fate));
    }

    private void async(long tag, Message message) {
        try {
            producer.send(message, new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    answered(tag, result);
                }

                @Override
                public void onException(Throwable failure) {
                    failed(tag, failure);
                }
            }, timeoutMs);
        } catch (Exception failure) {
            failed(tag, failure);
        }
    }

    private void blocking(long tag, Message message, int key, int fate) {
        try {
            switch (fate == 0 ? mode : "transaction") {
                case "sync" -> answered(tag, producer.send(message, timeoutMs));
                case "ordered" -> answered(tag, producer.send(message,
                        (queues, sent, wanted) -> queues.get(key % queues.size()), key, timeoutMs));
                case "oneway" -> {
                    producer.sendOneway(message);
                    answer(tag, HANDED_OVER, NO_STATE, "", "", "");
                }
                case "transaction" -> {
                    message.putUserProperty(TAG, Long.toString(tag));
                    fates.want(tag, fate);
                    answered(tag, producer.sendMessageInTransaction(message, tag));
                }
                default -> throw new IllegalArgumentException("no mode " + mode);
            }
        } catch (Exception failure) {
            failed(tag, failure);
        }
    }

    /** What is to become of each transaction, and what the broker is told when it asks. */
    private static final class Fates implements TransactionListener {
        // As spark_analysis.schema.words numbers them.
        private static final int COMMIT = 1;
        private static final int ROLLBACK = 2;
        private static final int COMMIT_WHEN_CHECKED = 3;
        private final Outbox outbox;
        private final Map<Long, Integer> wanted = new ConcurrentHashMap<>();
        private final Map<Long, Boolean> executed = new ConcurrentHashMap<>();

        Fates(Outbox outbox) {
            this.outbox = outbox;
        }

        void want(long tag, int fate) {
            wanted.put(tag, fate);
        }

        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object tag) {
            executed.put((Long) tag, true);
            return switch (wanted.get((Long) tag)) {
                case COMMIT -> LocalTransactionState.COMMIT_MESSAGE;
                case ROLLBACK -> LocalTransactionState.ROLLBACK_MESSAGE;
                default -> LocalTransactionState.UNKNOW;
            };
        }

        /** A broker asks. That, and what it is told, is noticed: nobody else learns of it. */
        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt half) {
            String tag = half.getUserProperty(TAG);
            LocalTransactionState state = tag == null ? LocalTransactionState.UNKNOW
                    : answer(Long.parseLong(tag));
            outbox.notice("asked", "tag " + tag + ": " + state);
            return state;
        }

        /** A half that never came so far, a weak status included, is rolled back as the library does. */
        private LocalTransactionState answer(long tag) {
            int fate = wanted.getOrDefault(tag, 0);
            boolean commit = executed.containsKey(tag)
                    && (fate == COMMIT || fate == COMMIT_WHEN_CHECKED);
            return commit ? LocalTransactionState.COMMIT_MESSAGE
                    : LocalTransactionState.ROLLBACK_MESSAGE;
        }
    }

    private DefaultMQProducer transactional(String group) {
        TransactionMQProducer made = new TransactionMQProducer(group);
        made.setTransactionListener(fates);
        return made;
    }

    private void answered(long tag, SendResult result) {
        byte state = result instanceof TransactionSendResult
                ? (byte) ((TransactionSendResult) result).getLocalTransactionState().ordinal()
                : NO_STATE;
        byte status = (byte) result.getSendStatus().ordinal();
        answer(tag, status, state, "", "", "");
    }

    private void failed(long tag, Throwable failure) {
        StringBuilder classes = new StringBuilder();
        StringBuilder codes = new StringBuilder();
        StringBuilder remarks = new StringBuilder();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            String between = each == failure ? "" : "\u0000";
            classes.append(between).append(each.getClass().getSimpleName());
            codes.append(between).append(code(each));
            remarks.append(between).append(each instanceof MQBrokerException
                    ? ((MQBrokerException) each).getErrorMessage() : each.getMessage());
        }
        answer(tag, FAILED, NO_STATE, classes.toString(), codes.toString(), remarks.toString());
    }

    private static int code(Throwable failure) {
        if (failure instanceof MQBrokerException) {
            return ((MQBrokerException) failure).getResponseCode();
        }
        if (failure instanceof MQClientException) {
            return ((MQClientException) failure).getResponseCode();
        }
        return -1;
    }

    private void answer(long tag, byte status, byte state, String... texts) {
        outbox.put(Outbox.ANSWER, (DataOutputStream out) -> write(out, tag, status, state, texts));
        refill.answered(status == STORED && state == NO_STATE); // now, so that its time is the earlier
    }

    private static void write(DataOutputStream out, long tag, byte status, byte state, String[] texts)
            throws IOException {
        out.writeLong(tag);
        out.writeByte(status);
        out.writeByte(state);
        for (String text : texts) {
            Outbox.text(out, text);
        }
    }

    public byte[] take(long waitMs, int enough) throws InterruptedException {
        return outbox.take(waitMs, enough);
    }

    public void close() {
        watch.end();
        for (ExecutorService lane : lanes) {
            lane.shutdownNow();
        }
        producer.shutdown();
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "mqproof lane");
        thread.setDaemon(true);
        return thread;
    }
}
