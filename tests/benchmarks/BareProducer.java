import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/** The least that an async producer must do: a window, and a callback that counts. */
public class BareProducer {
    /** Arguments: name servers, topic, window, rate (0: max), warm seconds, seconds. */
    public static void main(String[] words) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("bare");
        producer.setNamesrvAddr(words[0]);
        producer.setRetryTimesWhenSendAsyncFailed(0);
        producer.start();
        int rate = Integer.parseInt(words[3]);
        double warm = Double.parseDouble(words[4]);
        double seconds = Double.parseDouble(words[5]);
        Semaphore room = new Semaphore(Integer.parseInt(words[2]));
        AtomicLong confirmed = new AtomicLong();
        SendCallback counting = new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                confirmed.incrementAndGet();
                room.release();
            }

            @Override
            public void onException(Throwable failure) {
                room.release();
            }
        };
        producer.send(new Message(words[1], new byte[256]), 30_000); // the way is open from here
        long began = System.nanoTime();
        long counts = -1;
        long from = 0;
        for (long sent = 0; ; sent++) {
            double now = (System.nanoTime() - began) / 1e9;
            if (counts < 0 && now >= warm) {
                counts = confirmed.get();
                from = System.nanoTime();
            }
            if (now >= warm + seconds) {
                break;
            }
            while (rate > 0 && sent > now * rate) {
                Thread.sleep(1);
                now = (System.nanoTime() - began) / 1e9;
            }
            room.acquire();
            producer.send(new Message(words[1], new byte[256]), counting, 3000);
        }
        double took = (System.nanoTime() - from) / 1e9;
        System.out.println((confirmed.get() - counts) / took);
        Runtime.getRuntime().halt(0);
    }
}
