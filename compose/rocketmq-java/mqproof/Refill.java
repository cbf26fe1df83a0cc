package mqproof;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/**
 * A load at maximum rate without Python on its way: answers make room, and the next messages leave.
 *
 * <p>Write ahead: the records of attempts are in the log's file before their messages leave. Only a
 * plain answer makes room. Any other halts the load, and so does a write that fails; Python goes on
 * from there (harness/workers/refilling.py).
 */
final class Refill {
    private static final int BURST = 250;
    // Each time that the thread is woken costs as much as some messages.
    private static final int ROOM_SHARE = 8;
    // spark_analysis/schema: a body's header in body.py, and a record of tables.ATTEMPTS.
    private static final int BODY_SEQUENCE = 16;
    private static final int BODY_KEY = 28;
    private static final int BODY_SENT = 32;
    private static final int BODY_CHECKSUM = 48;
    private static final int SEQUENCE = 4;
    private static final int KEY = 20;
    private static final int SENT = 32;
    private static final int TAG = 44;

    /** Takes one message; its answer comes to `answered`. */
    interface Sender {
        void send(long tag, byte[] body);
    }

    private final Sender sender;
    private long answers; // to any send
    private long failures; // those that were not plain
    private int unanswered;
    private int window;
    private int enough;
    private boolean halted = true;
    private boolean busy; // records are written, or messages leave
    private String failure = ""; // why no record can be written
    private ByteBuffer record;
    private ByteBuffer body;
    private byte[] records;
    private long origin;
    private int keys;
    private long sequence;
    private long tag;
    private long written; // records since Python asked
    private CRC32 checksum = new CRC32();

    Refill(Sender sender) {
        this.sender = sender;
    }

    /** To a send of this load, or to one that Python handed over. */
    synchronized void answered(boolean plain) {
        answers++;
        unanswered--;
        if (!plain) {
            failures++;
            halted = true;
            notifyAll();
        } else if (!halted && window - unanswered == enough) {
            notifyAll();
        }
    }

    /**
     * Sends from now on. `record` and `body` are those of any message of the load. `numbers`: where run
     * time begins, keys, the window, the next sequence and tag; then what Python knows: sends without
     * an answer, and how many answers and failures it has heard. False: there was another failure, of
     * which it must hear first.
     */
    synchronized boolean begin(String log, byte[] record, byte[] body, long[] numbers)
            throws IOException {
        long heard = numbers[6];
        if (busy || numbers[7] != failures) {
            return false;
        }
        FileOutputStream file = new FileOutputStream(log, true);
        this.record = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        this.body = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
        records = new byte[record.length * BURST];
        origin = numbers[0];
        keys = (int) numbers[1];
        window = (int) numbers[2];
        enough = Math.max(1, window / ROOM_SHARE);
        sequence = numbers[3];
        tag = numbers[4];
        unanswered = (int) (numbers[5] - (answers - heard));
        halted = false;
        busy = true;
        Thread thread = new Thread(() -> run(file), "mqproof refill");
        thread.setDaemon(true);
        thread.start();
        return true;
    }

    /** How many were sent since this was asked last, and the checksum of their records. */
    synchronized long[] taken() throws IOException {
        if (!failure.isEmpty()) {
            throw new IOException(failure);
        }
        long[] taken = {written, checksum.getValue()};
        written = 0;
        checksum.reset();
        return taken;
    }

    /** As `taken`; nothing is written or sent after it. */
    synchronized long[] halt() throws IOException, InterruptedException {
        halted = true;
        notifyAll();
        while (busy) {
            wait();
        }
        return taken();
    }

    private void run(FileOutputStream file) {
        try (file) {
            for (int many = room(); many > 0; many = room()) {
                long now = System.nanoTime() - origin;
                note(many, now);
                write(file, many * record.capacity());
                send(many, now);
            }
        } catch (Exception ending) {
            fail(String.valueOf(ending.getMessage()));
        } finally {
            ended();
        }
    }

    /** All of the records in hand, or nothing: a full disk leaves whole records. */
    private void write(FileOutputStream file, int bytes) throws IOException {
        long whole = file.getChannel().size();
        try {
            file.write(records, 0, bytes);
        } catch (IOException full) {
            file.getChannel().truncate(whole);
            throw full;
        }
    }

    private synchronized int room() throws InterruptedException {
        while (!halted && window - unanswered < enough) {
            wait();
        }
        return halted ? 0 : Math.min(BURST, window - unanswered);
    }

    private void note(int many, long now) {
        record.putLong(SENT, now);
        for (int each = 0; each < many; each++) {
            record.putLong(SEQUENCE, sequence + each);
            record.putInt(KEY, (int) ((sequence + each) % keys));
            record.putLong(TAG, tag + each);
            System.arraycopy(record.array(), 0, records, each * record.capacity(),
                    record.capacity());
        }
    }

    private void send(int many, long now) {
        long first = tag;
        long from = sequence;
        synchronized (this) {
            checksum.update(records, 0, many * record.capacity());
            written += many;
            unanswered += many;
            tag += many;
            sequence += many;
        }
        for (int each = 0; each < many; each++) {
            sender.send(first + each, body(from + each, now));
        }
    }

    private byte[] body(long number, long now) {
        body.putLong(BODY_SEQUENCE, number);
        body.putInt(BODY_KEY, (int) (number % keys));
        body.putLong(BODY_SENT, now);
        CRC32 header = new CRC32();
        header.update(body.array(), 0, BODY_CHECKSUM);
        body.putInt(BODY_CHECKSUM, (int) header.getValue());
        return body.array().clone();
    }

    private synchronized void fail(String why) {
        failure = why;
        halted = true;
    }

    private synchronized void ended() {
        busy = false;
        notifyAll();
    }
}
