package ferro.backend.shm;

import ferro.spi.Proc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * This process and other processes of the machine, as Linux shows them.
 *
 * @param proc       files of the kernel
 * @param boot       identifies one boot of one machine
 * @param namespace  namespace of process numbers, which are valid only inside it
 * @param pid        number of this process
 * @param startTicks start time in clock ticks since boot
 * @param user       user that owns it
 */
record ThisProcess(Proc proc, String boot, long namespace, long pid, long startTicks, int user) {
    /** Number of the machine's first namespace of processes: {@code PROC_PID_INIT_INO} of linux/proc_ns.h. */
    private static final long FIRST_NAMESPACE = 0xEFFFFFFCL;

    /** Reads this process. */
    static ThisProcess in(Proc proc) throws IOException {
        Proc.Stat stat = proc.stat("self");
        String namespace = Files.readSymbolicLink(proc.path("self/ns/pid")).toString();
        return new ThisProcess(
                proc,
                proc.boot(),
                Long.parseLong(namespace.replaceAll("\\D", "")),
                stat.pid(),
                stat.startTicks(),
                FileFacts.of(proc.path("self")).user());
    }

    /** Returns whether process numbers mean the same to all processes on this machine except those in containers. */
    boolean isInFirstNamespace() {
        return namespace == FIRST_NAMESPACE;
    }

    /** Returns whether a process of this namespace runs. One that waits only for its exit code to be read does not. */
    boolean runs(long otherPid, long otherStartTicks) {
        try {
            Proc.Stat stat = proc.stat(Long.toString(otherPid));
            return stat.startTicks() == otherStartTicks && "ZXx".indexOf(stat.state()) < 0;
        } catch (IOException unreadable) {
            // a lack of descriptors or a similar error must not make it count as dead: a process that counts as dead
            // loses its files
            return Files.isDirectory(proc.path(Long.toString(otherPid)));
        }
    }

    /** Returns the path of an open file of a process. */
    Path descriptor(long owner, int number) {
        return proc.path(owner + "/fd/" + number);
    }
}
