package ferro.backend.tcp.connect;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The accepted connections in their handshake, in order of arrival. Their number is limited. Only the loop uses it. */
final class PendingHandshakes {
    private final Map<Channel, AcceptingHandshake> all = new LinkedHashMap<>();
    /** Connections that are let in and not confirmed yet: the other side may believe itself in. They take no room. */
    private final Set<Channel> letIn = new HashSet<>();

    /**
     * Adds a connection. Where they are more than {@code most} then, one is closed: the oldest that has said nothing right, of the
     * address that has more than half of {@code most} such connections, if there is one. So whoever connects without end from
     * one address pushes out connections of its own, and the others have half of the room at least.
     */
    void add(Channel channel, AcceptingHandshake side, int most) {
        all.put(channel, side);
        if (all.size() > most) {
            Channel leaves = leaving(crowd(most / 2));
            all.remove(leaves);
            leaves.close();
        }
    }

    /** Returns its handshake; null if it is not in one any more. */
    AcceptingHandshake of(Channel channel) {
        return all.get(channel);
    }

    /** Records that a connection is let in; it no longer counts. */
    void letIn(Channel channel) {
        all.remove(channel);
        letIn.add(channel);
    }

    void remove(Channel channel) {
        all.remove(channel);
        letIn.remove(channel);
    }

    void closeAll() {
        List.copyOf(all.keySet()).forEach(Channel::close);
        Set.copyOf(letIn).forEach(Channel::close);
    }

    /** Returns the address with more silent connections than half of the room. */
    private Optional<Object> crowd(int half) {
        Map<Object, Integer> silent = new HashMap<>();
        for (Map.Entry<Channel, AcceptingHandshake> each : all.entrySet()) {
            if (!each.getValue().spoken() && silent.merge(from(each.getKey()), 1, Integer::sum) > half) {
                return Optional.of(from(each.getKey()));
            }
        }
        return Optional.empty();
    }

    /** Returns the oldest silent connection of an address, or of all; the oldest where all have spoken. */
    private Channel leaving(Optional<Object> crowd) {
        return all.entrySet().stream()
                .filter(each -> !each.getValue().spoken())
                .map(Map.Entry::getKey)
                .filter(channel -> crowd.isEmpty() || crowd.get().equals(from(channel)))
                .findFirst()
                .orElseGet(() -> all.keySet().iterator().next());
    }

    /** Returns the address that a connection comes from, without its port. */
    private static Object from(Channel channel) {
        SocketAddress remote = channel.remoteAddress();
        return remote instanceof InetSocketAddress there ? there.getAddress() : String.valueOf(remote);
    }
}
