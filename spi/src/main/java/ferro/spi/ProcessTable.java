package ferro.spi;

import java.util.Optional;

/**
 * Processes as the operating system knows them. With it the exit of a peer on the same host is seen before the peer's
 * sockets close: the kernel frees the memory first, which takes 80 ms per GiB. It is injected, so that only
 * {@link RankContext} depends on the system.
 */
public interface ProcessTable {
    /** An empty table: no process is watched. */
    ProcessTable NONE = new ProcessTable() {
        @Override
        public String self() {
            return "";
        }

        @Override
        public Optional<Watched> watch(String identity) {
            return Optional.empty();
        }
    };

    /**
     * Returns an identity of this process that is unique across all hosts. Peers pass it to {@link #watch}.
     *
     * @return at most 200 ASCII characters; empty if it is unknown
     */
    String self();

    /**
     * Returns a description of this process for messages.
     *
     * @return for example {@code pid 4711 on host box}, at most 200 characters; empty if it is unknown
     */
    default String place() {
        return "";
    }

    /**
     * Returns the host name that the kernel reports, not the name from a resolver.
     *
     * @return for example {@code box}; empty if it is unknown
     */
    default String host() {
        return "";
    }

    /**
     * Starts to watch another process of this host.
     *
     * @param identity result of {@link #self} in that process
     * @return empty if it is this process, one of another host, or cannot be seen from here
     */
    Optional<Watched> watch(String identity);

    /** A watched process. Only one thread at a time may use it. */
    interface Watched extends AutoCloseable {
        /**
         * Checks the process. This costs some microseconds and never waits.
         *
         * @return whether the process is exiting or gone; once true, it stays true
         */
        boolean hasExited();

        @Override
        void close();
    }
}
