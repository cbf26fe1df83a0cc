package mqproof;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;

/** Looks at facts of a client four times a second, and notices each change. */
final class Watch extends Thread {
    private static final long PERIOD_MS = 250;
    private final Outbox outbox;
    private final Map<String, Callable<String>> facts;
    private final Map<String, String> known = new HashMap<>();
    private volatile boolean ended;

    Watch(Outbox outbox, Map<String, Callable<String>> facts) {
        super("mqproof watch");
        this.outbox = outbox;
        this.facts = facts;
        setDaemon(true);
    }

    synchronized void look() {
        facts.forEach((kind, fact) -> {
            String now;
            try {
                now = fact.call();
            } catch (Exception failure) {
                now = "not to be found out: " + failure;
            }
            if (!now.equals(known.getOrDefault(kind, ""))) {
                known.put(kind, now);
                outbox.notice(kind, now);
            }
        });
    }

    void end() {
        ended = true;
        interrupt();
    }

    @Override
    public void run() {
        while (!ended) {
            look();
            try {
                Thread.sleep(PERIOD_MS);
            } catch (InterruptedException ending) {
                return;
            }
        }
    }
}
