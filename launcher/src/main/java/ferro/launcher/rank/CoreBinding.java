package ferro.launcher.rank;

import ferro.launcher.program.Programs;
import ferro.spi.Proc;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Which cores each rank of this host runs on.
 *
 * <p>Two ranks that spin on one core turn microseconds into milliseconds; two bound ranks never share a core. Each rank gets
 * an equal slice of the cores, so that a single rank keeps all of them.
 *
 * @param slices cores of each rank in the form of taskset; empty if ranks are not bound
 * @param reason reason, for the line at the start
 */
public record CoreBinding(List<String> slices, String reason) {
    /**
     * The cores to distribute.
     *
     * @param cores   how many the JVM says may be used
     * @param allowed numbers of the cores that this process may run on, empty if unknown
     * @param sharing number of launchers among which they were divided
     */
    public record Cores(int cores, List<Integer> allowed, int sharing) {
        /** Cores of one launcher. */
        public Cores(int cores, List<Integer> allowed) {
            this(cores, allowed, 1);
        }

        /** Returns the cores that this process may use. */
        public static Cores ofThisMachine() {
            return new Cores(Runtime.getRuntime().availableProcessors(), numbers(Proc.HOST.allowedCores()));
        }

        /** Returns a name that no other cores have, in this or another machine; empty if there is none. */
        public String name() {
            try {
                return allowed.isEmpty() ? "" : Proc.HOST.boot() + " " + allowed;
            } catch (IOException noProc) {
                return "";
            }
        }

        /**
         * Returns the part of one launcher.
         *
         * @param index number of the launcher among those that share these cores
         * @param of    number of these launchers
         */
        public Cores part(int index, int of) {
            if (of == 1) {
                return this;
            }
            int each = allowed.size() / of;
            return new Cores(Math.min(cores, each), allowed.subList(index * each, (index + 1) * each), of);
        }
    }

    /** Decides which cores each rank gets, or that none is bound and why. */
    public static CoreBinding of(int ranks, boolean wanted, Programs programs, Cores machine) {
        if (!wanted) {
            return new CoreBinding(List.of(), "not bound (--no-bind)");
        }
        if (ranks == 1) {
            return new CoreBinding(List.of(), "not bound (only one rank)");
        }
        if (ranks > machine.cores()) {
            return new CoreBinding(
                    List.of(),
                    machine.sharing() == 1
                            ? "not bound (ranks > cores)"
                            : "not bound (ranks of " + machine.sharing() + " nodes on this machine > cores)");
        }
        if (programs.find("taskset").isEmpty() || machine.allowed().size() < ranks) {
            return new CoreBinding(List.of(), "not bound (no taskset on this machine)");
        }
        int each = machine.allowed().size() / ranks;
        return new CoreBinding(
                slices(ranks, machine.allowed()), "bound to " + (each == 1 ? "a core" : each + " cores") + " each");
    }

    /** Returns the command line, bound to the cores of the rank with this number on this host. */
    public List<String> wrap(int localRank, List<String> command) {
        if (slices.isEmpty()) {
            return command;
        }
        List<String> line = new ArrayList<>(List.of("taskset", "-c", slices.get(localRank)));
        line.addAll(command);
        return line;
    }

    private static List<String> slices(int ranks, List<Integer> allowed) {
        int each = allowed.size() / ranks;
        List<String> slices = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            List<String> cores = new ArrayList<>();
            allowed.subList(rank * each, (rank + 1) * each).forEach(core -> cores.add("" + core));
            slices.add(String.join(",", cores));
        }
        return slices;
    }

    private static List<Integer> numbers(BitSet cores) {
        return cores.stream().boxed().toList();
    }
}
