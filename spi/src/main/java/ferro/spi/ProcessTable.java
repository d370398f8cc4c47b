package ferro.spi;

import java.util.Optional;

/**
 * The table of processes of the operating system. Through this table a rank detects the exit of a peer on the same host
 * before the sockets of that peer close. Before the sockets close, the kernel frees the memory of the process, which
 * takes 80 ms per GiB. The table is injected, so that only {@link RankContext} depends on the operating system.
 */
public interface ProcessTable {
    /** An empty table, which watches no process. */
    ProcessTable NONE = new ProcessTable() {
        @Override
        public String self() {
            return "";
        }

        @Override
        public Optional<TrackedProcess> watch(String identity) {
            return Optional.empty();
        }
    };

    /**
     * {@return an identity of this process that is unique across all hosts, of at most 200 ASCII characters; empty if
     * it is unknown} Peers pass this identity to {@link #watch}.
     */
    String self();

    /**
     * {@return a description of this process for messages, for example {@code pid 4711 on host box}, at most 200
     * characters; empty if it is unknown}
     */
    default String place() {
        return "";
    }

    /**
     * {@return the host name that the kernel reports, for example {@code box}, which may differ from the name of a
     * resolver; empty if it is unknown}
     */
    default String host() {
        return "";
    }

    /**
     * {@return an identity of the host; empty if it is unknown} Two processes have the same host identity if they have
     * the same boot of the same kernel and the same host name. Two containers of one machine therefore have different
     * host identities if their host names differ.
     */
    default String machine() {
        return "";
    }

    /**
     * Starts to watch another process of this host.
     *
     * @param identity result of {@link #self} in the other process
     * @return watched process; empty if the identity belongs to the calling process, to a process of another host, or
     *     to a process that is not visible to the calling process
     */
    Optional<TrackedProcess> watch(String identity);

    /** A watched process. Only one thread at a time may use a watched process. */
    interface TrackedProcess extends AutoCloseable {
        /**
         * {@return whether the process is exiting or gone; once true, the result stays true} The check takes some
         * microseconds and never waits.
         */
        boolean hasExited();

        @Override
        void close();
    }
}
