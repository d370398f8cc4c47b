package ferro.job;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The facts about a process that variables do not give: the names of its host, and its ancestor processes. */
public interface HostFacts {
    /**
     * An ancestor of this process.
     *
     * @param pid        number of the process
     * @param startTicks start time in clock ticks since boot, which distinguishes processes with the same number
     * @param command    program and arguments
     */
    record Ancestor(long pid, long startTicks, List<String> command) {
        /**
         * Copies the command.
         *
         * @param pid        number
         * @param startTicks start time in clock ticks since boot
         * @param command    program and arguments
         */
        public Ancestor {
            command = List.copyOf(command);
        }

        /** {@return the name of the program, which is the last part of its path; empty if the path cannot be read} */
        public String name() {
            String program = command.isEmpty() ? "" : command.get(0);
            return program.substring(program.lastIndexOf('/') + 1);
        }
    }

    /** {@return the host name that the kernel reports; empty if the host name cannot be read} */
    String hostName();

    /**
     * {@return the host name with its domain, from the hosts file of the host, for example
     * {@code train-1.workers.default.svc.cluster.local}; empty if the hosts file has no such name}
     */
    default Optional<String> fullHostName() {
        return Optional.empty();
    }

    /** {@return the ancestor processes of this process, the parent first; empty if the processes cannot be read} */
    default List<Ancestor> ancestors() {
        return List.of();
    }

    /** {@return the facts about this process, which are read on demand} */
    static HostFacts ofThisHost() {
        return LinuxHostFacts.ofThisHost();
    }

    /**
     * Returns facts that consist of the host name only.
     *
     * @param hostName name of the host
     * @return facts without full host name and ancestors
     */
    static HostFacts nothingBut(String hostName) {
        Objects.requireNonNull(hostName, "hostName");
        return () -> hostName;
    }
}
