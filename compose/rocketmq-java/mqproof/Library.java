package mqproof;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.impl.FindBrokerResult;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * What the library does not offer by a method of its own: settings by name, where it is attached, and
 * which brokers it believes to be there.
 */
final class Library {
    private static final long LIMIT_MS = 3000; // the library's own for such questions
    private static final int BROKERS_MAX = 50; // of a route, that are told

    private Library() {}

    /** Calls `setName(value)` of a producer or consumer; throws where there is no such setter. */
    static void set(Object client, String name, String value) throws Exception {
        String setter = "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
        for (Method method : client.getClass().getMethods()) {
            if (method.getName().equals(setter) && method.getParameterCount() == 1) {
                Class<?> type = method.getParameterTypes()[0];
                if (type == int.class) {
                    method.invoke(client, Integer.parseInt(value));
                } else if (type == long.class) {
                    method.invoke(client, Long.parseLong(value));
                } else if (type == boolean.class) {
                    method.invoke(client, Boolean.parseBoolean(value));
                } else if (type == String.class) {
                    method.invoke(client, value);
                } else {
                    continue;
                }
                return;
            }
        }
        throw new IllegalArgumentException(
                client.getClass().getSimpleName() + " has no setting " + name);
    }

    /** Settings come as name, value, name, value. */
    static void setAll(Object client, String[] settings) throws Exception {
        for (int at = 0; at < settings.length; at += 2) {
            set(client, settings[at], settings[at + 1]);
        }
    }

    /** The name server that this client asks now; empty before it has chosen one. */
    static String attached(MQClientInstance instance) throws Exception {
        Object remoting = instance.getMQClientAPIImpl().getRemotingClient();
        // The choice is private in every version; the socket list would not tell it in 5.0 to 5.2,
        // which keep a connection to each name server.
        Field field = remoting.getClass().getDeclaredField("namesrvAddrChoosed");
        field.setAccessible(true);
        Object chosen = ((AtomicReference<?>) field.get(remoting)).get();
        return chosen == null ? "" : chosen.toString();
    }

    /**
     * The route of this topic that the client took last, in the words by which name servers' routes are
     * recorded (spark_analysis/schema/views.py); empty while it has none.
     */
    static String route(MQClientInstance instance, String topic) {
        var route = instance.getTopicRouteTable().get(topic);
        if (route == null) {
            return "";
        }
        TreeSet<String> brokers = new TreeSet<>();
        for (var group : route.getBrokerDatas()) {
            for (Map.Entry<Long, String> one : group.getBrokerAddrs().entrySet()) {
                String role = one.getKey() == 0 ? "master" : "slave " + one.getKey();
                brokers.add(group.getBrokerName() + " " + role + " at " + one.getValue());
            }
        }
        if (brokers.isEmpty()) {
            return "nothing";
        }
        int more = brokers.size() - BROKERS_MAX;
        while (brokers.size() > BROKERS_MAX) {
            brokers.pollLast();
        }
        return String.join("; ", brokers) + (more > 0 ? "; and " + more + " more brokers" : "");
    }

    /**
     * `getMinOffset` or `getMaxOffset` of a queue, asked of the first broker of its group that the
     * route still shows: the library itself asks masters only.
     */
    static long offset(String which, MQClientInstance instance, MessageQueue queue)
            throws Exception {
        String name = queue.getBrokerName();
        FindBrokerResult broker = instance.findBrokerAddressInSubscribe(name, 0, false);
        if (broker == null) {
            throw new IllegalStateException("no broker of " + name + " is shown by the route");
        }
        Object asking = instance.getMQClientAPIImpl();
        String at = broker.getBrokerAddr();
        Class<?> of = asking.getClass();
        try {
            return (Long) of.getMethod(which, String.class, MessageQueue.class, long.class)
                    .invoke(asking, at, queue, LIMIT_MS);
        } catch (NoSuchMethodException old) { // 4.9.0
            return (Long) of.getMethod(which, String.class, String.class, int.class, long.class)
                    .invoke(asking, at, queue.getTopic(), queue.getQueueId(), LIMIT_MS);
        }
    }
}
