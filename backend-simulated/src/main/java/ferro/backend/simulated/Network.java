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
 * What the ranks of one {@code createGroup} share: mailboxes by group and rank, and who has died. Its lock is held to look up
 * and to connect, never while data moves or anyone is told.
 */
final class Network {
    private static final long WORLD = 0;

    private final int[] world;
    private final Medium medium;
    private final Map<Long, Mailbox[]> mailboxes = new HashMap<>();
    private final Map<List<Number>, ByteBuffer[]> areas = new HashMap<>();
    private final Map<List<Number>, Integer> left = new HashMap<>();
    private final List<SimulatedTransport> transports = new ArrayList<>();
    private final List<Integer> dead = new ArrayList<>();

    Network(int worldSize, Medium medium) {
        this.world = new int[worldSize];
        Arrays.setAll(world, rank -> rank);
        this.medium = medium;
    }

    /** Makes a rank's end of the group of all ranks. */
    SimulatedTransport join(String name, int rank) {
        return new SimulatedTransport(this, new SimulatedTransport.Group(WORLD, name, rank, world));
    }

    Medium medium() {
        return medium;
    }

    /** Returns the ends of a group by its ranks, made by whoever asks first. */
    synchronized Mailbox[] mailboxes(SimulatedTransport.Group group) {
        return mailboxes.computeIfAbsent(
                group.id(),
                key -> Arrays.stream(group.members()).mapToObj(Mailbox::new).toArray(Mailbox[]::new));
    }

    /** Returns memory that the ranks of a group share: its own, or the n-th after that. */
    synchronized ByteBuffer[] areas(SimulatedTransport.Group group, int number, int bytes) {
        return areas.computeIfAbsent(
                List.of(group.id(), number),
                key -> Arrays.stream(group.members())
                        .mapToObj(rank -> ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder()))
                        .toArray(ByteBuffer[]::new));
    }

    /** Lets go of memory once all ranks of its group have. */
    synchronized void leave(SimulatedTransport.Group group, int number) {
        List<Number> key = List.of(group.id(), number);
        if (left.merge(key, 1, Integer::sum) == group.members().length) {
            left.remove(key);
            areas.remove(key);
        }
    }

    /** Notes an end, so that it hears of deaths. */
    synchronized void opened(SimulatedTransport transport) {
        transports.add(transport);
        for (int rank : dead) {
            tellLost(transport, rank);
        }
    }

    synchronized void closed(SimulatedTransport transport) {
        transports.remove(transport);
    }

    /** Says what the ranks that live have not given back; empty if there is nothing. */
    synchronized String leaked() {
        StringBuilder left = new StringBuilder();
        for (SimulatedTransport end : transports) {
            if (!dead.contains(end.worldRank(end.rank()))) {
                left.append("rank ").append(end.rank()).append(" of \"").append(end.name());
                left.append("\" is open; ");
            }
        }
        return left.toString();
    }

    /** Returns the wire between two ends, made by whoever comes first. */
    synchronized Wire connect(Mailbox mine, Mailbox peers, Lane lane) {
        Wire wire = mine.wires().get(key(peers.rank(), lane));
        if (wire == null) {
            wire = Wire.between(mine.rank(), peers.rank(), lane);
            medium.made(wire.up());
            if (wire.down() != wire.up()) {
                medium.made(wire.down());
            }
            mine.wires().put(key(peers.rank(), lane), wire);
            peers.wires().put(key(mine.rank(), lane), wire);
        }
        if (peers.gone() != null) {
            tellGone(wire, peers, peers.gone());
        }
        return wire;
    }

    /** Ends all wires of an end that leaves: what its peers still send is dropped unread. */
    void leave(Mailbox mailbox) {
        mailbox.leaves();
        drop(mailbox, "left the group");
    }

    /** Ends all wires of an end: locks the peers out of its memory at once, and tells them. */
    void drop(Mailbox mailbox, String why) {
        List<Wire> wires;
        synchronized (this) {
            if (mailbox.gone() != null) {
                return;
            }
            mailbox.gone(why);
            wires = List.copyOf(mailbox.wires().values());
            mailbox.wires().clear();
        }
        for (Wire wire : wires) {
            wire.from(mailbox.rank()).lock();
        }
        for (Wire wire : wires) {
            tellGone(wire, mailbox, why);
        }
    }

    private void tellGone(Wire wire, Mailbox gone, String why) {
        Channel outgoing = wire.from(gone.rank());
        Channel incoming = wire.to(gone.rank());
        boolean left = gone.hasLeft();
        medium.afterPosts(outgoing, () -> {
            outgoing.senderGone(why);
            if (left) {
                incoming.receiverLeft();
            } else {
                incoming.receiverGone(why);
            }
        });
    }

    /** Ends a rank as the death of its process would: no goodbye, every end of every group that knows it hears of it. */
    void kill(int rank) {
        List<SimulatedTransport> ends;
        synchronized (this) {
            dead.add(rank);
            ends = List.copyOf(transports);
        }
        medium.died(rank);
        for (SimulatedTransport end : ends) {
            if (end.worldRank(end.rank()) == rank) {
                end.die();
            } else {
                tellLost(end, rank);
            }
        }
    }

    private void tellLost(SimulatedTransport end, int deadRank) {
        int peer = end.rankOf(deadRank);
        if (peer < 0) {
            return;
        }
        FerroException cause = new FerroException(
                Code.PEER_LOST,
                Where.outside(end.name(), end.rank()).blaming(Integer.toString(peer)),
                "rank " + end.rank() + " of \"" + end.name() + "\" lost rank " + peer
                        + ", which died without a goodbye: make a new group of the ranks that are left");
        medium.later(deadRank, end.worldRank(end.rank()), () -> end.mailbox().tell(events -> events.lost(peer, cause)));
    }

    private static long key(int peer, Lane lane) {
        return (long) peer * Lane.values().length + lane.ordinal();
    }
}
