import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/** The least that senders and push consumers of the Java client must do. It prints a rate. */
public class BareSpeed {
    private static final int BODY = 256;
    private static final int UNANSWERED = 256;

    /**
     * Arguments: "send", name servers, topic, threads, warm seconds, seconds; or "fill" or
     * "consume", name servers, topic, how many messages.
     */
    public static void main(String[] words) throws Exception {
        switch (words[0]) {
            case "send" -> send(words);
            case "fill" -> fill(words);
            case "consume" -> consume(words);
            default -> throw new IllegalArgumentException(words[0]);
        }
        Runtime.getRuntime().halt(0);
    }

    private static DefaultMQProducer producer(String[] words) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("bare");
        producer.setNamesrvAddr(words[1]);
        producer.start();
        producer.send(message(words[2]), 30_000); // the way is open from here
        return producer;
    }

    private static Message message(String topic) {
        return new Message(topic, new byte[BODY]);
    }

    /** By so many threads, each of which waits for its answer. */
    private static void send(String[] words) throws Exception {
        DefaultMQProducer producer = producer(words);
        AtomicLong sent = new AtomicLong();
        for (int number = Integer.parseInt(words[3]); number > 0; number--) {
            Thread thread = new Thread(() -> {
                try {
                    while (true) {
                        producer.send(message(words[2]), 10_000);
                        sent.incrementAndGet();
                    }
                } catch (Exception failure) {
                    failure.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep((long) (Double.parseDouble(words[4]) * 1000));
        long counted = sent.get();
        long began = System.nanoTime();
        Thread.sleep((long) (Double.parseDouble(words[5]) * 1000));
        System.out.println((sent.get() - counted) / seconds(began));
    }

    private static void fill(String[] words) throws Exception {
        DefaultMQProducer producer = producer(words);
        int most = Integer.parseInt(words[3]);
        Semaphore room = new Semaphore(UNANSWERED);
        SendCallback answered = new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                room.release();
            }

            @Override
            public void onException(Throwable failure) {
                failure.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        };
        long began = System.nanoTime();
        for (int number = 1; number < most; number++) {
            room.acquire();
            producer.send(message(words[2]), answered, 30_000);
        }
        room.acquire(UNANSWERED);
        System.out.println(most / seconds(began));
    }

    /** From the first message on until so many have come. */
    private static void consume(String[] words) throws Exception {
        long most = Long.parseLong(words[3]);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("bare" + System.nanoTime());
        consumer.setNamesrvAddr(words[1]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(words[2], "*");
        AtomicLong came = new AtomicLong();
        AtomicLong first = new AtomicLong();
        CountDownLatch all = new CountDownLatch(1);
        consumer.registerMessageListener((MessageListenerConcurrently) (some, context) -> {
            first.compareAndSet(0, System.nanoTime());
            if (came.addAndGet(some.size()) >= most) {
                all.countDown();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        all.await();
        System.out.println(came.get() / seconds(first.get()));
    }

    private static double seconds(long began) {
        return (System.nanoTime() - began) / 1e9;
    }
}
