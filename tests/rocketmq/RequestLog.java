import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** What the Java client asks, and what it is answered: every sort of request once, sorted. */
public class RequestLog {
    private static final int SENT = 20;
    private static final long LIMIT_S = 60;
    private static final long OFFSETS_MS = 7_000; // a client tells its offsets every 5 s
    private static final Set<String> SEEN = new ConcurrentSkipListSet<>();

    private static final RPCHook HOOK = new RPCHook() {
        @Override
        public void doBeforeRequest(String address, RemotingCommand request) {
            SEEN.add("asks " + request.getCode() + (request.isOnewayRPC() ? " oneway" : ""));
        }

        @Override
        public void doAfterResponse(String address, RemotingCommand request, RemotingCommand answer) {
            if (answer != null) {
                SEEN.add(request.getCode() + names(request) + " is answered " + answer.getCode()
                    + names(answer) + (answer.getBody() == null ? "" : " with a body"));
            }
        }
    };

    private static String names(RemotingCommand command) {
        Map<String, String> fields = command.getExtFields();
        return fields == null ? " []" : " " + new TreeSet<>(fields.keySet());
    }

    /** Arguments: name servers, topic. */
    public static void main(String[] words) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("writers", HOOK);
        producer.setNamesrvAddr(words[0]);
        producer.start();
        for (int number = 0; number < SENT; number++) {
            byte[] body = ("message " + number).getBytes(StandardCharsets.UTF_8);
            producer.send(new Message(words[1], "tag", body), 10_000);
        }
        producer.sendOneway(new Message(words[1], new byte[10]));
        CountDownLatch all = new CountDownLatch(2 * SENT);
        DefaultMQPushConsumer together = consumer(words, "together");
        together.registerMessageListener((MessageListenerConcurrently) (some, context) -> {
            boolean again = some.get(0).getReconsumeTimes() == 0 && all.getCount() == 2 * SENT;
            some.forEach(one -> all.countDown());
            return again
                ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        together.start();
        DefaultMQPushConsumer inOrder = consumer(words, "in order".replace(' ', '-'));
        inOrder.registerMessageListener((MessageListenerOrderly) (some, context) -> {
            some.forEach(one -> all.countDown());
            return ConsumeOrderlyStatus.SUCCESS;
        });
        inOrder.start();
        if (!all.await(LIMIT_S, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not all was consumed: " + all.getCount());
        }
        Thread.sleep(OFFSETS_MS);
        together.shutdown();
        inOrder.shutdown();
        producer.shutdown();
        SEEN.forEach(System.out::println);
        Runtime.getRuntime().halt(0);
    }

    private static DefaultMQPushConsumer consumer(String[] words, String group) throws Exception {
        DefaultMQPushConsumer one =
            new DefaultMQPushConsumer(group, HOOK, new AllocateMessageQueueAveragely());
        one.setNamesrvAddr(words[0]);
        one.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        one.subscribe(words[1], "*");
        return one;
    }
}
