package ferro.backend.tcp.store;

import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.ConnectAttempts;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The state of a joining rank. A state shows what the rank waits for. A join enters states one after another, and may
 * enter a state again. Each state has one text, which {@link JoinProgress} prints.
 */
public sealed interface JoinState {
    /** {@return a readable line about what the rank waits for; empty if the rank waits for nothing} */
    String text();

    /**
     * Returns how long this rank itself was working in this state, and not waiting for other processes.
     *
     * @param stateNanos time in this state
     * @return nanoseconds; 0 for a state in which the rank only waits
     */
    default long ownNanos(long stateNanos) {
        return 0;
    }

    /**
     * The state in which this rank itself is working: it loads classes, opens its port or prepares connections.
     *
     * @param rank name of this rank, such as {@code rank 0 of "world"}
     * @param time CPU time of this process
     */
    record StartupWork(String rank, ProcessCpuTime time) implements JoinState {
        @Override
        public String text() {
            return rank + " is still starting: " + time.text();
        }

        @Override
        public long ownNanos(long stateNanos) {
            return stateNanos;
        }
    }

    /**
     * The state in which this rank resolves the name of the store's host.
     *
     * @param host     name of the store's host
     * @param starting state that follows when the name has an address
     */
    record HostLookup(String host, StartupWork starting) implements JoinState {
        @Override
        public String text() {
            return AddressLookup.isKnown(host)
                    ? starting.text()
                    : "waiting for an address of \"" + host + "\", the host of the store";
        }
    }

    /**
     * The state in which this rank starts the store that it serves, and connects to this store.
     *
     * @param rank  name of this rank
     * @param time  CPU time of this process
     * @param store name of the store, such as {@code the store at 10.0.0.1:29500}
     * @param notes attempts to connect to the store
     */
    record StoreStartup(String rank, ProcessCpuTime time, String store, ConnectAttempts notes) implements JoinState {
        @Override
        public String text() {
            return notes.hasEnded()
                    ? rank + " cannot connect to " + store + ", which it serves: " + notes.last() + " (attempts: "
                            + notes.attempts() + ")"
                    : rank + " is still starting " + store + ", which it serves: " + time.text();
        }

        @Override
        public long ownNanos(long stateNanos) {
            return stateNanos;
        }
    }

    /**
     * The state in which another process serves the store, and has not answered yet.
     *
     * @param ranks beginning of the text with the missing rank: {@code ranks [0] of 2: }, or empty if a launcher serves
     *     the store
     * @param time  CPU time of this process
     * @param store name of the store and its server
     * @param notes attempts to connect to the store
     */
    record ConnectWait(String ranks, ProcessCpuTime time, String store, ConnectAttempts notes) implements JoinState {
        @Override
        public String text() {
            return "waiting for " + ranks + store
                    + (notes.attempts() == 0
                            ? ", which this rank has not called yet: " + time.text()
                            : ": " + notes.last() + " (attempts: " + notes.attempts() + ")");
        }

        /** Returns the time before the first attempt to connect. In this time, this rank itself was slow. */
        @Override
        public long ownNanos(long stateNanos) {
            return Math.max(0, stateNanos - TimeUnit.MILLISECONDS.toNanos(notes.triedMillis()));
        }
    }

    /**
     * The state in which the job file is missing, or belongs to another start of the job.
     *
     * @param lacking   problem with the job file
     */
    record JobFileWait(int worldSize, String lacking) implements JoinState {
        @Override
        public String text() {
            return "waiting for ranks [0] of " + worldSize + ": " + lacking;
        }
    }

    /** The state in which another process, the {@code holder}, has claimed the slot of this rank. */
    record HeldSlot(int rank, String holder) implements JoinState {
        @Override
        public String text() {
            return "rank " + rank + " is still held by " + holder + ", whose job still runs";
        }
    }

    /**
     * The state in which the store is connected, but has not answered a request of this rank.
     *
     * @param rank   name of this rank
     * @param time   CPU time of this process
     * @param served whether this rank serves the store
     */
    record StoreAnswerWait(String rank, ProcessCpuTime time, boolean served) implements JoinState {
        @Override
        public String text() {
            return rank + " is connected to the store and waits for its answer: " + time.text();
        }

        @Override
        public long ownNanos(long stateNanos) {
            return served ? stateNanos : 0;
        }
    }

    /** The state in which this host knows no address of the name {@code host}, which {@code rank} has published. */
    record PeerLookup(int rank, int worldSize, String host) implements JoinState {
        @Override
        public String text() {
            return AddressLookup.isKnown(host)
                    ? ""
                    : "waiting for an address of \"" + host + "\", which rank " + rank + " of " + worldSize
                            + " announced";
        }
    }

    /**
     * The state in which some ranks have not joined, or are not connected.
     *
     * @param missing   ranks that are missing now
     * @param worldSize number of ranks
     * @param tried     attempts to connect to ranks that have published their address; empty if no rank has published
     *     an address
     */
    record MissingRanks(Supplier<List<Integer>> missing, int worldSize, Supplier<String> tried) implements JoinState {
        @Override
        public String text() {
            List<Integer> ranks = missing.get();
            String trouble = tried.get();
            return ranks.isEmpty()
                    ? ""
                    : "waiting for ranks " + ranks + " of " + worldSize + (trouble.isEmpty() ? "" : ": " + trouble);
        }
    }
}
