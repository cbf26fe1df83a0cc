package mqproof;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * What the library's threads have to tell Python, in the order in which it happened.
 *
 * <p>Each entry is written whole, under one lock; `take` hands over whatever there is as one array,
 * so that Python crosses into Java once for many messages. Big endian; harness/workers/clients/
 * rocketmq/wire.py reads it, and says what the fields mean. Times are System.nanoTime(), which on
 * Linux is CLOCK_MONOTONIC.
 */
final class Outbox {
    static final byte ANSWER = 1;
    static final byte MESSAGE = 2;
    static final byte NOTICE = 3;
    private static final long GATHER_MS = 2;
    private static final long LONG_MS = 8;

    /** Writes the fields of one entry. */
    interface Entry {
        void write(DataOutputStream out) throws IOException;
    }

    private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private DataOutputStream out = new DataOutputStream(bytes);
    private int entries;
    private int awaited = 1;
    private boolean gathers;

    synchronized void put(byte kind, Entry entry) {
        try {
            out.writeByte(kind);
            out.writeLong(System.nanoTime());
            entry.write(out);
        } catch (IOException impossible) {
            throw new AssertionError("an array in memory cannot fail", impossible);
        }
        entries++;
        if (entries == 1 || entries == awaited) {
            notifyAll();
        }
    }

    void notice(String kind, String detail) {
        put(NOTICE, out -> {
            text(out, kind);
            text(out, detail);
        });
    }

    /**
     * Everything that was put since the last call; empty if nothing comes in `waitMs`. Of fewer
     * entries than `enough` the first waits for more, `GATHER_MS` at most.
     */
    synchronized byte[] take(long waitMs, int enough) throws InterruptedException {
        awaited = gathers ? Integer.MAX_VALUE : enough;
        if (entries == 0) {
            wait(waitMs);
        }
        if (entries > 0 && entries < awaited) {
            wait(gathers ? LONG_MS : GATHER_MS);
        }
        byte[] taken = bytes.toByteArray();
        bytes.reset();
        entries = 0;
        return taken;
    }

    /** Nobody waits for what is put: it is gathered for `LONG_MS`, however much comes. */
    synchronized void gather(boolean gathers) {
        this.gathers = gathers;
        notifyAll();
    }

    static void text(DataOutputStream out, String text) throws IOException {
        byte[] encoded = (text == null ? "" : text).getBytes(StandardCharsets.UTF_8);
        out.writeInt(encoded.length);
        out.write(encoded);
    }
}
