package ferro.backend.shm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * This process and other processes of the machine, as Linux shows them in {@code /proc} (proc(5)).
 *
 * @param proc       path of that folder
 * @param boot       identifies one boot of one machine
 * @param namespace  namespace of process numbers, which are valid only inside it
 * @param pid        number of this process
 * @param startTicks start time in clock ticks since boot
 * @param user       user that owns it
 */
record ThisProcess(Path proc, String boot, long namespace, long pid, long startTicks, int user) {
    /** Number of the machine's first namespace of processes: {@code PROC_PID_INIT_INO} of linux/proc_ns.h. */
    private static final long FIRST_NAMESPACE = 0xEFFFFFFCL;

    /** Fields of {@code /proc/PID/stat}, counted from 1. The second may hold blanks and ends at the last bracket. */
    private static final int STATE = 3;

    private static final int START = 22;

    /** Reads this process under a root such as {@code /proc}. */
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

    /** Returns whether process numbers mean the same to all processes on this machine except those in containers. */
    boolean isInFirstNamespace() {
        return namespace == FIRST_NAMESPACE;
    }

    /**
     * Returns whether a process of this namespace runs. A process that only waits for its parent to read its exit code
     * does not run.
     */
    boolean runs(long otherPid, long otherStartTicks) {
        try {
            String stat = text(proc.resolve(otherPid + "/stat"));
            return Long.parseLong(field(stat, START)) == otherStartTicks && "ZXx".indexOf(field(stat, STATE)) < 0;
        } catch (IOException unreadable) {
            // a lack of descriptors or a similar error must not make it count as dead: a process that counts as dead
            // loses its files
            return Files.isDirectory(proc.resolve(Long.toString(otherPid)));
        }
    }

    /** Returns the path of an open file of a process. */
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
