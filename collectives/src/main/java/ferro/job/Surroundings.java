package ferro.job;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What variables cannot tell: names of the host, and the processes that have started this one. */
public interface Surroundings {
    /**
     * A process that has started this one, or one that has started that.
     *
     * @param pid        number
     * @param startTicks when it began, in clock ticks since boot, so that a number that is used again is another process
     * @param command    program and arguments
     */
    record Ancestor(long pid, long startTicks, List<String> command) {
        /**
         * Copies the command.
         *
         * @param pid        number
         * @param startTicks when it began
         * @param command    program and arguments
         */
        public Ancestor {
            command = List.copyOf(command);
        }

        /**
         * Returns the name of the program.
         *
         * @return last part of its path; empty if it cannot be seen
         */
        public String name() {
            String program = command.isEmpty() ? "" : command.get(0);
            return program.substring(program.lastIndexOf('/') + 1);
        }
    }

    /**
     * Returns the name of this host, as the kernel has it.
     *
     * @return name; empty where it cannot be read
     */
    String hostName();

    /**
     * Returns the name with its domain, as the host's own table has it.
     *
     * @return for example {@code train-1.workers.default.svc.cluster.local}; empty if the table has none
     */
    Optional<String> fullHostName();

    /**
     * Returns the processes that have started this one.
     *
     * @return nearest first; empty where they cannot be seen
     */
    List<Ancestor> ancestors();

    /**
     * Returns those of this process.
     *
     * @return read when asked for
     */
    static Surroundings ofThisHost() {
        return LinuxSurroundings.ofThisHost();
    }

    /**
     * Returns those of a process that can see nothing.
     *
     * @param hostName of the host
     * @return no full name, no ancestors
     */
    static Surroundings nothingBut(String hostName) {
        Objects.requireNonNull(hostName, "hostName");
        return new Surroundings() {
            @Override
            public String hostName() {
                return hostName;
            }

            @Override
            public Optional<String> fullHostName() {
                return Optional.empty();
            }

            @Override
            public List<Ancestor> ancestors() {
                return List.of();
            }
        };
    }
}
