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

    /** Writes the fields of one entry. */
    interface Entry {
        void write(DataOutputStream out) throws IOException;
    }

    private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private DataOutputStream out = new DataOutputStream(bytes);

    synchronized void put(byte kind, Entry entry) {
        try {
            out.writeByte(kind);
            out.writeLong(System.nanoTime());
            entry.write(out);
        } catch (IOException impossible) {
            throw new AssertionError("an array in memory cannot fail", impossible);
        }
        notifyAll();
    }

    void notice(String kind, String detail) {
        put(NOTICE, out -> {
            text(out, kind);
            text(out, detail);
        });
    }

    /** Everything that was put since the last call; empty if nothing comes in `waitMs`. */
    synchronized byte[] take(long waitMs) throws InterruptedException {
        if (bytes.size() == 0) {
            wait(waitMs);
        }
        byte[] taken = bytes.toByteArray();
        bytes.reset();
        return taken;
    }

    static void text(DataOutputStream out, String text) throws IOException {
        byte[] encoded = (text == null ? "" : text).getBytes(StandardCharsets.UTF_8);
        out.writeInt(encoded.length);
        out.write(encoded);
    }
}
