package ferro.control.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.spi.ControlLane;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Control lanes between ranks of one process. Lanes within a process need no sockets. Local lanes serve the devices of
 * one process and groups of one rank. The messages of one rank to another keep their order. A message waits if its
 * receiver has not created the group of the message yet. No rank is ever lost, because all ranks end with their
 * process. Thread-safe.
 */
public final class InProcessControlLanes {
    private final int worldSize;
    private final Map<LaneKey, LaneInbox> inboxes = new HashMap<>();

    /** The key of the inbox of one rank in one group. {@code rank} is the number of the rank in the joined group. */
    private record LaneKey(long group, int rank) {}

    /** Creates the lanes of a joined group. */
    public InProcessControlLanes(int worldSize) {
        this.worldSize = worldSize;
    }

    /**
     * Returns the lane of a rank of the joined group.
     *
     * @param rank       rank of the joined group
     * @param background executor that runs the code that receives messages of the rank, one task at a time or several
     *     tasks at once
     * @return lane of the rank; each rank uses only one lane
     */
    public ControlLane lane(int rank, Executor background) {
        int[] all = new int[worldSize];
        for (int each = 0; each < worldSize; each++) {
            all[each] = each;
        }
        return new RankControlLane(0, all, InvalidRankException.check(rank, worldSize), background);
    }

    private synchronized LaneInbox inbox(long group, int rank) {
        return inboxes.computeIfAbsent(new LaneKey(group, rank), unknown -> new LaneInbox());
    }

    /** The queue of the events of one rank in one group. */
    private static final class LaneInbox {
        private final Queue<Consumer<ControlLane.PeerEvents>> waiting = new ArrayDeque<>();
        private ControlLane.PeerEvents receiver;
        private Executor background;
        private boolean isRunning;
        private boolean closed;

        /** Adds an event. If this inbox is closed, drops the event and returns false. */
        boolean add(Consumer<ControlLane.PeerEvents> event) {
            synchronized (this) {
                if (closed) {
                    return false;
                }
                waiting.add(event);
            }
            run();
            return true;
        }

        void open(ControlLane.PeerEvents events, Executor executor) {
            synchronized (this) {
                receiver = events;
                background = executor;
            }
            run();
        }

        synchronized void close() {
            closed = true;
            waiting.clear();
        }

        private void run() {
            Executor executor;
            synchronized (this) {
                if (receiver == null || isRunning || waiting.isEmpty()) {
                    return;
                }
                isRunning = true;
                executor = background;
            }
            try {
                executor.execute(this::deliver);
            } catch (RejectedExecutionException ended) {
                // the context of the receiver is closed, so the receiver handles no event any more
                close();
            }
        }

        private void deliver() {
            for (Consumer<ControlLane.PeerEvents> event = next(); event != null; event = next()) {
                event.accept(receiver);
            }
        }

        private synchronized Consumer<ControlLane.PeerEvents> next() {
            Consumer<ControlLane.PeerEvents> event = waiting.poll();
            isRunning = event != null;
            return event;
        }
    }

    /** The lane of one rank in one group. */
    private final class RankControlLane implements ControlLane {
        private final long group;
        /** Ranks of the joined group, in the order of this group. */
        private final int[] members;

        private final int rank;
        private final Executor background;

        RankControlLane(long group, int[] members, int rank, Executor background) {
            this.group = group;
            this.members = members;
            this.rank = rank;
            this.background = background;
        }

        @Override
        public int rank() {
            return rank;
        }

        @Override
        public int worldSize() {
            return members.length;
        }

        @Override
        public ControlLane subgroup(int[] ranks, long identity) {
            int[] chosen = new int[ranks.length];
            int own = -1;
            for (int at = 0; at < ranks.length; at++) {
                chosen[at] = members[ranks[at]];
                own = ranks[at] == rank ? at : own;
            }
            return new RankControlLane(identity, chosen, own, background);
        }

        @Override
        public void control(int peer, ByteBuffer message) {
            byte[] copy = new byte[message.remaining()];
            message.get(copy);
            if (!inbox(group, members[peer]).add(events -> events.control(rank, ByteBuffer.wrap(copy)))) {
                FerroException cause = new FerroException(
                        Code.PEER_LOST, Where.of("", rank).blaming(peer), "rank " + peer + " has closed the group");
                inbox(group, members[rank]).add(events -> events.closed(peer, cause));
            }
        }

        @Override
        public boolean afterControl(int peer, Runnable task) {
            inbox(group, members[rank]).add(events -> task.run());
            return true;
        }

        @Override
        public void events(PeerEvents events) {
            inbox(group, members[rank]).open(events, background);
        }

        @Override
        public void close() {
            inbox(group, members[rank]).close();
        }
    }
}
