package ferro.backend.simulated;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.Transport.Lane;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The state that all ranks of a call of {@code createGroup} share. The state consists of the inboxes by group and rank,
 * and of the ranks that have died. A thread holds the lock of this object while it looks up or connects ranks. A thread
 * does not hold the lock while data moves or while the thread notifies a rank.
 */
final class NetworkState {
    private static final long WORLD = 0;

    private final int[] world;
    private final SimulatedMedium medium;
    private final Map<Long, GroupInbox[]> inboxes = new HashMap<>();
    private final Map<List<Number>, ByteBuffer[]> areas = new HashMap<>();
    private final Map<List<Number>, Integer> openings = new HashMap<>();
    private final List<SimulatedTransport> transports = new ArrayList<>();
    private final List<Integer> dead = new ArrayList<>();
    private final Map<Integer, List<Runnable>> whenKilled = new HashMap<>();

    NetworkState(int worldSize, SimulatedMedium medium) {
        this.world = new int[worldSize];
        Arrays.setAll(world, rank -> rank);
        this.medium = medium;
    }

    /** Creates the transport of a rank in the group of all ranks. */
    SimulatedTransport join(String name, int rank) {
        return new SimulatedTransport(this, new SimulatedTransport.GroupKey(WORLD, name, rank, world));
    }

    SimulatedMedium medium() {
        return medium;
    }

    /** Returns the inboxes of a group by rank. The first call creates the inboxes. */
    synchronized GroupInbox[] inboxes(SimulatedTransport.GroupKey group) {
        return inboxes.computeIfAbsent(
                group.id(),
                key -> Arrays.stream(group.members()).mapToObj(GroupInbox::new).toArray(GroupInbox[]::new));
    }

    /**
     * Returns memory that the ranks of a group share. Memory 0 belongs to the group itself. Each rank calls this method
     * once for each {@code number}. After the call of the last rank, this object no longer refers to the memory.
     */
    synchronized ByteBuffer[] areas(SimulatedTransport.GroupKey group, int number, int bytes) {
        List<Number> key = List.of(group.id(), number);
        ByteBuffer[] made = areas.computeIfAbsent(
                key,
                absent -> Arrays.stream(group.members())
                        .mapToObj(rank -> ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder()))
                        .toArray(ByteBuffer[]::new));
        if (openings.merge(key, 1, Integer::sum) == group.members().length) {
            openings.remove(key);
            areas.remove(key);
        }
        return made;
    }

    /** Registers a transport that is notified of deaths. */
    synchronized void opened(SimulatedTransport transport) {
        transports.add(transport);
        for (int rank : dead) {
            tellLost(transport, rank);
        }
    }

    synchronized void closed(SimulatedTransport transport) {
        transports.remove(transport);
    }

    /** Returns the transports that living ranks have not closed; empty if all transports are closed. */
    synchronized String leaked() {
        StringBuilder left = new StringBuilder();
        for (SimulatedTransport end : transports) {
            if (!dead.contains(end.worldRank(end.rank()))) {
                left.append("rank " + end.rank() + " of \"" + end.name() + "\" is open; ");
            }
        }
        return left.toString();
    }

    /**
     * Returns the wire from an inbox to another inbox. The first of the two ranks that calls this method creates both
     * channels.
     */
    synchronized GroupInbox.LinkQueuePair connect(GroupInbox mine, GroupInbox peers, Lane lane) {
        if (!mine.wires.containsKey(key(peers.rank(), lane))) {
            GroupInbox low = mine.rank() < peers.rank() ? mine : peers;
            GroupInbox high = low == mine ? peers : mine;
            LinkQueue up = made(lane, low, high);
            LinkQueue down = low == high ? up : made(lane, high, low);
            low.wires.put(key(high.rank(), lane), new GroupInbox.LinkQueuePair(up, down));
            high.wires.put(key(low.rank(), lane), new GroupInbox.LinkQueuePair(down, up));
        }
        GroupInbox.LinkQueuePair wire = mine.wires.get(key(peers.rank(), lane));
        if (peers.gone != null) {
            tellGone(peers, peers.gone, wire.incoming(), wire.outgoing());
        }
        return wire;
    }

    private LinkQueue made(Lane lane, GroupInbox from, GroupInbox to) {
        LinkQueue channel = new LinkQueue(lane, from.rank(), to.rank());
        medium.made(channel);
        return channel;
    }

    /** Ends all wires of a rank that leaves normally. Data that peers still send to the rank is dropped unread. */
    void leave(GroupInbox inbox) {
        inbox.left = true;
        drop(inbox, "left the group");
    }

    /** Ends all wires of an inbox. Prevents later reads of the memory of the inbox's rank, then notifies the peers. */
    void drop(GroupInbox inbox, String why) {
        List<GroupInbox.LinkQueuePair> wires;
        synchronized (this) {
            if (inbox.gone != null) {
                return;
            }
            inbox.gone = why;
            wires = List.copyOf(inbox.wires.values());
            inbox.wires.clear();
        }
        wires.forEach(wire -> wire.outgoing().lock());
        wires.forEach(wire -> tellGone(inbox, why, wire.outgoing(), wire.incoming()));
    }

    private void tellGone(GroupInbox gone, String why, LinkQueue outgoing, LinkQueue incoming) {
        boolean left = gone.left;
        medium.afterPosts(outgoing, () -> {
            outgoing.senderGone(why);
            if (left) {
                incoming.receiverLeft();
            } else {
                incoming.receiverGone(why);
            }
        });
    }

    /** Adds a task that runs on the thread that kills a rank, after the other ranks were notified. */
    synchronized void whenKilled(int rank, Runnable task) {
        whenKilled.computeIfAbsent(rank, key -> new ArrayList<>()).add(task);
    }

    synchronized boolean isDead(int rank) {
        return dead.contains(rank);
    }

    /**
     * Ends a rank without a goodbye, as the death of its process would. Notifies all transports of other ranks in
     * groups that have the killed rank. Does nothing if the rank is already dead.
     */
    void kill(int rank) {
        List<SimulatedTransport> ends;
        List<Runnable> tasks;
        synchronized (this) {
            if (dead.contains(rank)) {
                return;
            }
            dead.add(rank);
            ends = List.copyOf(transports);
            tasks = List.copyOf(whenKilled.getOrDefault(rank, List.of()));
        }
        medium.died(rank);
        for (SimulatedTransport end : ends) {
            if (end.worldRank(end.rank()) == rank) {
                end.die();
            } else {
                tellLost(end, rank);
            }
        }
        tasks.forEach(Runnable::run);
    }

    private void tellLost(SimulatedTransport end, int deadRank) {
        int peer = end.rankOf(deadRank);
        if (peer < 0) {
            return;
        }
        FerroException cause = new FerroException(
                Code.PEER_LOST,
                Where.of(end.name(), end.rank()).blaming(peer),
                "rank " + end.rank() + " of \"" + end.name() + "\" lost rank " + peer
                        + ", which died without a goodbye; the group has ended, restart all its ranks");
        medium.later(deadRank, end.worldRank(end.rank()), () -> end.inbox().tell(events -> events.lost(peer, cause)));
    }

    private static long key(int peer, Lane lane) {
        return (long) peer * Lane.values().length + lane.ordinal();
    }
}
