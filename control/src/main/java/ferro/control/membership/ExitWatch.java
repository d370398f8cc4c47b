package ferro.control.membership;

import ferro.FerroException.Code;
import ferro.control.failure.FailureHints;
import ferro.spi.ControlLane;
import ferro.spi.ProcessTable;
import ferro.spi.RankContext;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A watch that detects the exit of peer processes on this host before their sockets close. The system closes the
 * sockets of a process only after it has freed the memory of the process, which takes 80 ms per GiB. A rank watches
 * only the next few peers, so that the work of a rank does not grow with the number of ranks on its host.
 */
final class ExitWatch implements AutoCloseable {
    /** The time between two checks of the watched processes. */
    static final long LOOK_NANOS = 20_000_000L;
    /** The time for reading a goodbye that may still be unread in the socket of an exited process. */
    private static final long GOODBYE_NANOS = 20_000_000L;
    /** The maximum number of waits for a goodbye. If timers are late, the thread that reads sockets is late as well. */
    private static final int GOODBYE_WAITS = 3;

    /**
     * The longest wait, after the waits for a goodbye, until the medium reports that it has read all arrived messages.
     * The limit is needed because a stuck thread reads no messages.
     */
    private static final long READ_NANOS = 100_000_000L;

    /**
     * The maximum number of processes in one check. Few processes are enough, because a rank reports an exit to all
     * other ranks.
     */
    private static final int LOOKED_AT_MOST = 3;

    private final ProcessTable table;
    private final NotifiedGroups members;
    private final RankContext context;
    private volatile WatchedProcess[] processes;
    private ControlLane lane;
    private volatile boolean closed;

    /** The process of a peer, and the verdict on its exit. */
    private final class WatchedProcess implements Runnable {
        private final PeerState peer;
        private boolean asked;
        private ProcessTable.TrackedProcess watched;

        WatchedProcess(PeerState peer) {
            this.peer = peer;
        }

        void close() {
            if (watched != null) {
                watched.close();
                watched = null;
            }
        }

        /**
         * Blames the peer. Does nothing if the peer has sent a goodbye or is already blamed. Does nothing if this rank
         * has left, because a rank that has left receives no goodbyes.
         */
        @Override
        public void run() {
            if (!closed && !peer.isOver()) {
                peer.end();
                members.lost(
                        peer.rank(),
                        Code.PEER_LOST,
                        NotifiedGroups.RANK + peer.placed()
                                + " is gone: its process has exited without closing its groups, seen in the process"
                                + " table" + FailureHints.ITS_OUTPUT);
            }
        }
    }

    /** Creates a watch without processes. The watch begins with the first peers in the array. */
    ExitWatch(NotifiedGroups members, RankContext context, PeerState[] peers) {
        this.table = context.processes();
        this.members = members;
        this.context = context;
        processes = new WatchedProcess[peers.length];
        for (int i = 0; i < peers.length; i++) {
            processes[i] = new WatchedProcess(peers[i]);
        }
    }

    /** Watches the process of one more peer, after the processes of the peers that were added before. */
    synchronized void add(PeerState peer) {
        WatchedProcess[] more = Arrays.copyOf(processes, processes.length + 1);
        more[processes.length] = new WatchedProcess(peer);
        processes = more;
    }

    /** Sets the lane on which the peers send goodbyes, before the first check. */
    void begin(ControlLane control) {
        lane = control;
    }

    /** Checks the next processes. Returns whether a process is left to watch. Without an exit, allocates nothing. */
    synchronized boolean look() {
        int looked = 0;
        for (int i = 0; i < processes.length && looked < LOOKED_AT_MOST && !closed; i++) {
            WatchedProcess process = processes[i];
            if (isPresent(process)) {
                looked++;
                if (process.watched.hasExited()) {
                    process.close();
                    blameLater(process.peer, GOODBYE_WAITS);
                }
            }
        }
        return looked > 0;
    }

    private boolean isPresent(WatchedProcess process) {
        if (process.peer.isOver()) {
            process.close();
        } else if (!process.asked && !process.peer.identity().isEmpty()) {
            process.asked = true;
            process.watched = table.watch(process.peer.identity()).orElse(null);
        }
        return process.watched != null;
    }

    /**
     * Blames a peer unless its goodbye arrives. This method and {@link #blame} use no lambda, because the first lambda
     * costs a JVM 10 ms.
     */
    private void blameLater(PeerState peer, int waits) {
        long due = context.nanoTime() + GOODBYE_NANOS;
        Runnable check = new Runnable() {
            @Override
            public void run() {
                if (waits > 1 && context.nanoTime() - due >= GOODBYE_NANOS) {
                    blameLater(peer, waits - 1);
                } else {
                    blame(peer);
                }
            }
        };
        context.background().schedule(check, GOODBYE_NANOS, TimeUnit.NANOSECONDS);
    }

    /** Blames all ranks of a process that has exited, after the messages of these ranks were read. */
    private void blame(PeerState exited) {
        for (WatchedProcess process : processes) {
            if (process.peer.identity().equals(exited.identity()) && !process.peer.isOver()) {
                Runnable handover = new Runnable() {
                    @Override
                    public void run() {
                        handOver(process);
                    }
                };
                if (lane.afterControl(process.peer.rank(), handover)) {
                    context.background().schedule(process, READ_NANOS, TimeUnit.NANOSECONDS);
                } else {
                    process.run();
                }
            }
        }
    }

    /** Passes a verdict from a thread of the medium to a thread of the context. */
    private void handOver(Runnable verdict) {
        try {
            context.background().execute(verdict);
        } catch (RejectedExecutionException ended) {
            // the context is closed, so this rank blames no rank any more
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (WatchedProcess process : processes) {
            process.close();
        }
    }
}
