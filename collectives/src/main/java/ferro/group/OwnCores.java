package ferro.group;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalInt;

/**
 * Finds out whether cores are bound to this process alone. mpirun and srun bind each rank to some cores. The JVM then
 * sees only these cores, and every other rank has the same number of cores. The cores of a container belong to a
 * control group and are shared by all its processes.
 *
 * @param proc root such as {@code /proc} (proc(5))
 * @param sys  root such as {@code /sys} (cgroups(7))
 */
record OwnCores(Path proc, Path sys) {
    private static final String ALLOWED = "Cpus_allowed_list:";

    static OwnCores ofThisProcess() {
        return new OwnCores(Path.of("/proc"), Path.of("/sys"));
    }

    /**
     * Returns how many cores belong to this process alone. Returns empty if the process may run on all cores of its
     * container or host, or if the number is unknown.
     */
    OptionalInt count() {
        try {
            BitSet allowed = allowed();
            BitSet around = around();
            allowed.and(around);
            boolean own = !allowed.isEmpty() && !allowed.equals(around);
            return own ? OptionalInt.of(allowed.cardinality()) : OptionalInt.empty();
        } catch (IOException | IllegalArgumentException unknown) {
            return OptionalInt.empty();
        }
    }

    private BitSet allowed() throws IOException {
        for (String line : Files.readAllLines(proc.resolve("self/status"))) {
            if (line.startsWith(ALLOWED)) {
                return cores(line.substring(ALLOWED.length()));
            }
        }
        throw new IOException(proc + "/self/status has no line " + ALLOWED);
    }

    /** Returns the cores of the control group if one limits the cores, else those of the host. */
    private BitSet around() throws IOException {
        List<String> groups = Files.readAllLines(proc.resolve("self/cgroup"));
        for (String line : groups) {
            String[] parts = line.split(":", 3);
            if (parts.length == 3) {
                for (Path file : candidates(parts[1], parts[2])) {
                    if (Files.isReadable(file)) {
                        return cores(Files.readString(file));
                    }
                }
            }
        }
        return cores(Files.readString(sys.resolve("devices/system/cpu/online")));
    }

    /**
     * Returns the files that may list the cores of a control group. The files are in the folder of the group, or in a
     * parent folder from which the group inherits the cores.
     */
    private List<Path> candidates(String controllers, String path) {
        boolean first = List.of(controllers.split(",")).contains("cpuset");
        if (!first && !controllers.isEmpty()) {
            return List.of();
        }
        Path root = sys.resolve(first ? "fs/cgroup/cpuset" : "fs/cgroup").normalize();
        String file = first ? "cpuset.effective_cpus" : "cpuset.cpus.effective";
        Path group = root.resolve(path.replaceFirst("^/+", "")).normalize();
        List<Path> files = new ArrayList<>();
        for (Path at = group.startsWith(root) ? group : root; at.startsWith(root); at = at.getParent()) {
            files.add(at.resolve(file));
        }
        return files;
    }

    /** Parses a list such as {@code 0-3,8}. */
    private static BitSet cores(String list) {
        BitSet cores = new BitSet();
        for (String range : list.trim().split(",")) {
            String[] ends = range.trim().split("-");
            cores.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
        return cores;
    }
}
