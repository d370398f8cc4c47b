package ferro.spi;

import java.util.Optional;

/**
 * Processes as the operating system knows them, so that the exit of a peer on the same host is seen before its sockets close:
 * the kernel frees memory first, which takes 80 ms per GiB. Injected, so that nothing but {@link RankContext} knows the system.
 */
public interface ProcessTable {
    /** Knows no process: nothing is watched. */
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
     * Returns what tells this process from all others, on all hosts: peers pass it to {@link #watch}.
     *
     * @return at most 200 ASCII characters; empty if it is unknown
     */
    String self();

    /**
     * Returns what people call this process, for messages.
     *
     * @return for example {@code pid 4711 on host box}, at most 200 characters; empty if it is unknown
     */
    default String place() {
        return "";
    }

    /**
     * Returns what this host calls itself: the kernel's name, not what a resolver makes of it.
     *
     * @return for example {@code box}; empty if it is unknown
     */
    default String host() {
        return "";
    }

    /**
     * Begins to watch another process of this host.
     *
     * @param identity what {@link #self} is there
     * @return empty if it is this process, one of another host, or cannot be seen from here
     */
    Optional<Watched> watch(String identity);

    /** A process that is watched; one thread at a time. */
    interface Watched extends AutoCloseable {
        /**
         * Looks; costs some microseconds, waits for nothing.
         *
         * @return whether the process is exiting or gone; never goes back to false
         */
        boolean hasExited();

        @Override
        void close();
    }
}
