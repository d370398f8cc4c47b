package ferro.backend.shm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * This process and its neighbours, as Linux shows them in {@code /proc} (proc(5)).
 *
 * @param proc       where that is
 * @param boot       tells one start of one machine from all others
 * @param namespace  of process numbers: only inside it do they mean anything
 * @param pid        number of this process
 * @param startTicks when it began, in clock ticks since boot
 * @param user       whose it is
 */
record ThisProcess(Path proc, String boot, long namespace, long pid, long startTicks, int user) {
    /** Number of the machine's first namespace of processes: {@code PROC_PID_INIT_INO} of linux/proc_ns.h. */
    private static final long FIRST_NAMESPACE = 0xEFFFFFFCL;

    /** Fields of {@code /proc/PID/stat}, counted from 1; the second may hold blanks and ends at the last bracket. */
    private static final int STATE = 3;

    private static final int START = 22;

    /** Looks at this process under a root such as {@code /proc}. */
    static ThisProcess under(Path proc) throws IOException {
        String stat = text(proc.resolve("self/stat"));
        String namespace = Files.readSymbolicLink(proc.resolve("self/ns/pid")).toString();
        return new ThisProcess(
                proc,
                text(proc.resolve("sys/kernel/random/boot_id")).trim(),
                Long.parseLong(namespace.replaceAll("\\D", "")),
                Long.parseLong(stat.substring(0, stat.indexOf(' '))),
                Long.parseLong(field(stat, START)),
                FileFacts.of(proc.resolve("self")).user());
    }

    /** Whether process numbers mean the same to everybody on this machine but to those in containers. */
    boolean isInFirstNamespace() {
        return namespace == FIRST_NAMESPACE;
    }

    /** Whether a process of this namespace runs; one that only waits for its parent to ask for its exit code does not. */
    boolean runs(long otherPid, long otherStartTicks) {
        try {
            String stat = text(proc.resolve(otherPid + "/stat"));
            return Long.parseLong(field(stat, START)) == otherStartTicks && "ZXx".indexOf(field(stat, STATE)) < 0;
        } catch (IOException unreadable) {
            // not for want of descriptors or the like: what is taken for dead loses its files
            return Files.isDirectory(proc.resolve(Long.toString(otherPid)));
        }
    }

    /** Where a process has an open file. */
    Path descriptor(long owner, int number) {
        return proc.resolve(owner + "/fd/" + number);
    }

    private static String field(String stat, int number) {
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ")[number - STATE];
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }
}
