package ferro.backend.shm;

import ferro.spi.Proc;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Tells how much memory the control groups of this process leave (cgroups(7), version 2). Pages of a file system in
 * memory count against the group that writes them first. If a group exceeds its limit, the kernel ends a process without
 * a message.
 *
 * @param proc files of the kernel
 */
record MemoryLimit(Proc proc) {
    /** Lines of memory.stat, as Linux documents them for control groups, version 2. */
    private static final Set<String> RECLAIMABLE = Set.of("inactive_file", "active_file", "slab_reclaimable");

    /**
     * A control group that leaves too little.
     *
     * @param group folder of the group
     * @param left  bytes that it leaves
     */
    record Short(Path group, long left) {}

    /** Returns the innermost control group that leaves less than is needed; empty if none does or none can be read. */
    Optional<Short> tooShortFor(long need) {
        try {
            for (Path group : groups()) {
                long left = left(group, need);
                if (left < need) {
                    return Optional.of(new Short(group, Math.max(0, left)));
                }
            }
        } catch (IOException | NumberFormatException unknown) {
            // a rank that cannot read the limit is no worse off than without this check
            return Optional.empty();
        }
        return Optional.empty();
    }

    /**
     * Returns the control groups of this process, innermost first. A container may see a path of its host; then only the
     * root is its own.
     */
    private List<Path> groups() throws IOException {
        List<Path> groups = proc.controlGroups("");
        return groups.isEmpty() || Files.isDirectory(groups.get(0))
                ? groups
                : groups.subList(groups.size() - 1, groups.size());
    }

    private static long left(Path group, long need) throws IOException {
        Path limit = group.resolve("memory.max");
        if (!Files.isReadable(limit) || text(limit).equals("max")) {
            return Long.MAX_VALUE;
        }
        long left = Long.parseLong(text(limit)) - Long.parseLong(text(group.resolve("memory.current")));
        // reading the reclaimable bytes takes the kernel long, so they are read only if they decide
        return left < need ? left + reclaimable(group) : left;
    }

    /**
     * Returns the bytes that the kernel can reclaim: copies of files, and memory that can be made anew. The kernel gives
     * them up before an allocation fails.
     */
    private static long reclaimable(Path group) throws IOException {
        long bytes = 0;
        for (String line : text(group.resolve("memory.stat")).split("\n")) {
            int blank = line.indexOf(' ');
            if (blank > 0 && RECLAIMABLE.contains(line.substring(0, blank))) {
                bytes += Long.parseLong(line.substring(blank + 1));
            }
        }
        return bytes;
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1).trim();
    }
}
