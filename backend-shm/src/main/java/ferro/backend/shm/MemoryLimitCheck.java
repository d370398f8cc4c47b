package ferro.backend.shm;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * A check of how much memory the control groups of this process leave (cgroups(7), version 2). Pages of a file system
 * in memory count against the control group that writes the pages first. If a control group exceeds its limit, the
 * kernel ends a process without a message.
 */
final class MemoryLimitCheck {
    /** Entries of memory.stat for reclaimable bytes, from the Linux documentation of control groups, version 2. */
    private static final Set<String> RECLAIMABLE = Set.of("inactive_file", "active_file", "slab_reclaimable");

    private MemoryLimitCheck() {}

    /**
     * Throws an exception if a control group of this process leaves less memory than needed. The message names the
     * innermost control group that leaves less.
     */
    static void check(LinuxFiles proc, long need) throws SegmentShortage.NoSpaceException {
        try {
            for (Path group : groups(proc)) {
                long left = left(group, need);
                if (left < need) {
                    throw new SegmentShortage.NoSpaceException("memory.max of control group " + group + " leaves "
                            + Math.max(0, left) + " of " + need + " bytes");
                }
            }
        } catch (SegmentShortage.NoSpaceException little) {
            throw little;
        } catch (IOException | NumberFormatException unknown) {
            // a rank that cannot read the limit continues, as it would without this check
        }
    }

    /**
     * Returns the control groups of this process, innermost first. Returns only the root if the listed path does not
     * exist. In a container, the kernel may list a path of the host, but only the root is the control group of the
     * container.
     */
    private static List<Path> groups(LinuxFiles proc) throws IOException {
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
        // the kernel takes long to report the reclaimable bytes, so they are read only if the free bytes are too few
        return left < need ? left + reclaimable(group) : left;
    }

    /**
     * Returns the bytes that the kernel can reclaim: copies of files, and data that the kernel can create again. The
     * kernel frees the reclaimable bytes before an allocation fails.
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
