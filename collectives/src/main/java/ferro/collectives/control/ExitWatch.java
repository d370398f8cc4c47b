package ferro.collectives.control;

import ferro.FerroException.Code;
import ferro.spi.ProcessTable;
import ferro.spi.RankContext;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Sees the exit of peers on this host, before their sockets close: those are closed after memory is freed, which takes 80 ms per
 * GiB. Looks at the next few of them only, so that many ranks on one host do not look at all others each.
 */
final class ExitWatch implements AutoCloseable {
    /** How often to look. */
    static final long LOOK_NANOS = 20_000_000L;
    /** A goodbye may stand in the socket still; so long it has time to be read. */
    private static final long GOODBYE_NANOS = 20_000_000L;
    /** Where even timers are late, whoever reads sockets is as well: so often it gets more time. */
    private static final int GOODBYE_WAITS = 3;

    /** Few, as whoever sees an exit tells all. */
    private static final int LOOKED_AT_MOST = 3;

    private final ProcessTable table;
    private final Members members;
    private final RankContext context;
    private final Process[] processes;
    private boolean closed;

    /** The process of a peer. */
    private static final class Process {
        private final Peer peer;
        private boolean asked;
        private ProcessTable.Watched watched;

        Process(Peer peer) {
            this.peer = peer;
        }

        void close() {
            if (watched != null) {
                watched.close();
                watched = null;
            }
        }
    }

    /** Watches none yet; the peers stand in the order of who is looked at first. */
    ExitWatch(Members members, RankContext context, Peer[] peers) {
        this.table = context.processes();
        this.members = members;
        this.context = context;
        processes = new Process[peers.length];
        for (int i = 0; i < peers.length; i++) {
            processes[i] = new Process(peers[i]);
        }
    }

    /** Looks at the next processes; returns whether there is one to look at again. Allocates nothing while nothing happens. */
    synchronized boolean look() {
        int looked = 0;
        for (int i = 0; i < processes.length && looked < LOOKED_AT_MOST && !closed; i++) {
            Process process = processes[i];
            if (isThere(process)) {
                looked++;
                if (process.watched.hasExited()) {
                    process.close();
                    blameLater(process.peer, GOODBYE_WAITS);
                }
            }
        }
        return looked > 0;
    }

    private boolean isThere(Process process) {
        if (process.peer.isOver()) {
            process.close();
        } else if (!process.asked && !process.peer.identity().isEmpty()) {
            process.asked = true;
            Optional<ProcessTable.Watched> watched = table.watch(process.peer.identity());
            process.watched = watched.orElse(null);
        }
        return process.watched != null;
    }

    private void blameLater(Peer peer, int waits) {
        long due = context.nanoTime() + GOODBYE_NANOS;
        Runnable then = () -> {
            if (waits > 1 && context.nanoTime() - due >= GOODBYE_NANOS) {
                blameLater(peer, waits - 1);
            } else {
                blame(peer);
            }
        };
        context.background().schedule(then, GOODBYE_NANOS, TimeUnit.NANOSECONDS);
    }

    /** All ranks of a process are gone with it. */
    private void blame(Peer exited) {
        for (Process process : processes) {
            if (process.peer.identity().equals(exited.identity())) {
                blameOne(process.peer);
            }
        }
    }

    private void blameOne(Peer peer) {
        if (!peer.isOver()) {
            peer.end();
            members.lost(
                    peer.rank(),
                    Code.PEER_LOST,
                    Members.RANK + peer.placed()
                            + " is gone: its process has exited without closing its groups, seen in the process"
                            + " table; its own output says why");
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (Process process : processes) {
            process.close();
        }
    }
}
