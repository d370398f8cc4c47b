package ferro.spi;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The files in which Linux describes this process, its host and other processes: {@code /proc} (proc(5)) and
 * {@code /sys} (cgroups(7)). All modules of ferro find {@code /proc} through this class. Systems other than Linux do
 * not have these files. A file is named by its path below {@code /proc}, such as {@code self/status}.
 */
public final class LinuxFiles {
    /** The files of this host. */
    public static final LinuxFiles HOST = new LinuxFiles(Path.of("/"));

    private final Path proc;
    private final Path sys;

    private LinuxFiles(Path root) {
        proc = root.resolve("proc");
        sys = root.resolve("sys");
    }

    /**
     * {@return the files below another root than {@code /}, for tests}
     *
     * @param root folder with {@code proc}, {@code sys}
     */
    public static LinuxFiles under(Path root) {
        return new LinuxFiles(root);
    }

    /**
     * {@return the path of a file}
     *
     * @param file name of the file
     */
    public Path path(String file) {
        return proc.resolve(file);
    }

    /**
     * Reads a file. The bytes may be invalid in UTF-8, because a process chooses its own name and arguments.
     *
     * @param file name of the file
     * @return text in ISO 8859-1
     * @throws IOException if the file cannot be read
     */
    public String text(String file) throws IOException {
        return Files.readString(proc.resolve(file), StandardCharsets.ISO_8859_1);
    }

    /**
     * Reads a file of one line.
     *
     * @param file name of the file
     * @return line without blanks at its ends; empty if the file cannot be read
     */
    public Optional<String> line(String file) {
        try {
            return Optional.of(Files.readString(proc.resolve(file)).trim());
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /**
     * Reads one field of a file that has a field in each line.
     *
     * @param file name of the file
     * @param name start of the line, such as {@code Cpus_allowed_list:}
     * @return rest of the first line that begins with {@code name}, without blanks at its ends; empty without such a
     *     line, or if the file cannot be read
     */
    public Optional<String> field(String file, String name) {
        try {
            for (String line : text(file).split("\n")) {
                if (line.startsWith(name)) {
                    return Optional.of(line.substring(name.length()).trim());
                }
            }
            return Optional.empty();
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /**
     * Lists a folder, such as {@code self/task}.
     *
     * @param folder name of the folder
     * @param glob   pattern of the names, such as {@code *}
     * @return paths, in no order
     * @throws IOException if the folder cannot be read
     */
    public List<Path> list(String folder, String glob) throws IOException {
        List<Path> paths = new ArrayList<>();
        try (DirectoryStream<Path> each = Files.newDirectoryStream(proc.resolve(folder), glob)) {
            for (Path path : each) {
                paths.add(path);
            }
        } catch (DirectoryIteratorException unreadable) {
            throw unreadable.getCause();
        }
        return paths;
    }

    /**
     * {@return the host name that the kernel has; empty if it is unknown} This method does not use the resolver, which
     * may return another name or take seconds to fail.
     */
    public Optional<String> hostName() {
        return line("sys/kernel/hostname");
    }

    /**
     * {@return the identity of the current boot of this machine}
     *
     * @throws IOException if the identity cannot be read
     */
    public String boot() throws IOException {
        return text("sys/kernel/random/boot_id").trim();
    }

    /**
     * Returns the folders of a control group of this process and of all groups that contain the control group.
     *
     * @param controller controller of version 1, such as {@code cpuset}; empty for version 2
     * @return folders, innermost first; the last folder is the root. The list is empty if this process has no such
     *     group
     * @throws IOException if the groups of this process cannot be read
     */
    public List<Path> controlGroups(String controller) throws IOException {
        Path root = sys.resolve("fs/cgroup").resolve(controller).normalize();
        List<Path> folders = new ArrayList<>();
        for (String line : text("self/cgroup").split("\n")) {
            String[] parts = line.split(":", 3);
            if (folders.isEmpty()
                    && parts.length == 3
                    && List.of(parts[1].split(",")).contains(controller)) {
                Path group = root.resolve(parts[2].replaceFirst("^/+", "")).normalize();
                // in a container, the path may be a path of the host, outside of the root
                for (Path at = group.startsWith(root) ? group : root; at.startsWith(root); at = at.getParent()) {
                    folders.add(at);
                }
            }
        }
        return folders;
    }

    /** {@return the cores on which this process may run; empty if they are unknown} */
    public BitSet allowedCores() {
        Optional<String> list = field("self/status", "Cpus_allowed_list:");
        return list.isPresent() ? cores(list.get()) : new BitSet();
    }

    /**
     * {@return the cores of the host}
     *
     * @throws IOException if the kernel does not list the cores
     */
    public BitSet onlineCores() throws IOException {
        return cores(Files.readString(sys.resolve("devices/system/cpu/online")));
    }

    /**
     * Returns how many cores are bound to this process alone. mpirun and srun bind each rank to some cores. A JVM on
     * bound cores counts only the bound cores. Every other rank has the same number of cores. The cores of a container
     * belong to a control group and are shared by all processes of the container.
     *
     * @return number; empty if the process may run on all cores of its container or host, or if the number is unknown
     */
    public OptionalInt ownCores() {
        try {
            BitSet allowed = allowedCores();
            BitSet around = coresAround();
            allowed.and(around);
            boolean own = !allowed.isEmpty() && !allowed.equals(around);
            return own ? OptionalInt.of(allowed.cardinality()) : OptionalInt.empty();
        } catch (IOException | IllegalArgumentException unknown) {
            return OptionalInt.empty();
        }
    }

    /**
     * Returns the cores of the control group if a group limits the cores, otherwise the cores of the host. A control
     * group without a list in its folder inherits the list of the nearest group that contains it.
     */
    private BitSet coresAround() throws IOException {
        for (boolean first : new boolean[] {true, false}) {
            for (Path group : controlGroups(first ? "cpuset" : "")) {
                Path file = group.resolve(first ? "cpuset.effective_cpus" : "cpuset.cpus.effective");
                if (Files.isReadable(file)) {
                    return cores(Files.readString(file));
                }
            }
        }
        return onlineCores();
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

    /**
     * Reads the state of a process.
     *
     * @param process number of the process, or {@code self}
     * @return state
     * @throws IOException              if the file cannot be read
     * @throws IllegalArgumentException if the file has another form
     */
    public Stat stat(String process) throws IOException {
        return new Stat(text(process + "/stat"));
    }

    /**
     * The line of {@code /proc/PID/stat}. The second field, the command, may contain blanks and brackets, so the fields
     * are counted from the last bracket of the line.
     */
    public static final class Stat {
        private static final int STATE = 3;
        private static final int PARENT = 4;
        private static final int START = 22;

        private final long pid;
        /** The third field and all later fields. */
        private final String[] fields;

        private Stat(String text) {
            int bracket = text.lastIndexOf(')');
            fields = text.substring(bracket + 1).trim().split("\\s+");
            if (bracket < 0 || fields.length <= START - STATE) {
                throw new IllegalArgumentException("no line of /proc/PID/stat: " + text);
            }
            pid = Long.parseLong(text.substring(0, text.indexOf(' ')));
        }

        /** {@return the number of the process} */
        public long pid() {
            return pid;
        }

        /** {@return the state of the process, such as S while it sleeps} */
        public char state() {
            return fields[0].charAt(0);
        }

        /** {@return the number of the parent process; 0 if the process has no parent} */
        public long parent() {
            return Long.parseLong(fields[PARENT - STATE]);
        }

        /** {@return the start time in clock ticks since boot, which distinguishes processes with the same number} */
        public long startTicks() {
            return Long.parseLong(fields[START - STATE]);
        }
    }
}
