package mqproof;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/**
 * Sends before the load begins, so that classes are loaded and compiled and connections made by
 * then: the first second of a cold JVM stalls the whole machine that measures.
 *
 * <p>They go to the topic that every broker has by its cluster's name, never to that of the load.
 * The first failure ends it: a client that comes back while a broker is hung must not wait here.
 */
final class WarmUp {
    private static final int SENDS = 400; // code is compiled when it has run 200 times
    private static final int WINDOW = 20;
    private static final int BODY_BYTES = 256;
    private static final long LIMIT_MS = 3000;
    private static final int SEND_LIMIT_MS = 1000;

    private final DefaultMQProducer producer;
    private final Semaphore room = new Semaphore(WINDOW);
    private final AtomicBoolean failed = new AtomicBoolean();

    WarmUp(DefaultMQProducer producer) {
        this.producer = producer;
    }

    /** `of`: a topic that the producer knows, by which the cluster's name is found. */
    void run(String of) throws InterruptedException {
        long end = System.nanoTime() + LIMIT_MS * 1_000_000;
        try {
            MQClientInstance instance = producer.getDefaultMQProducerImpl().getmQClientFactory();
            String cluster = instance.getAnExistTopicRouteData(of).getBrokerDatas().get(0).getCluster();
            for (int sent = 0; sent < SENDS && !failed.get() && entered(end); sent++) {
                producer.send(new Message(cluster, new byte[BODY_BYTES]), new Answer(), SEND_LIMIT_MS);
            }
            for (int open = 0; open < WINDOW && !failed.get() && entered(end); open++) {
                continue; // until all are answered
            }
        } catch (InterruptedException ending) {
            throw ending;
        } catch (Exception failure) {
            return; // no such topic, or nobody there: what is cold stays cold
        }
    }

    private boolean entered(long end) throws InterruptedException {
        return room.tryAcquire(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    private final class Answer implements SendCallback {
        @Override
        public void onSuccess(SendResult result) {
            room.release();
        }

        @Override
        public void onException(Throwable failure) {
            failed.set(true);
            room.release();
        }
    }
}
