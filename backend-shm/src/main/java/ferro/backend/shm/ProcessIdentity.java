package ferro.backend.shm;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The facts about this process and other processes of the machine, which Linux provides.
 *
 * @param proc       files of the kernel
 * @param boot       identity of the current boot of this machine
 * @param namespace  namespace of process numbers; a process number is valid only inside its namespace
 * @param pid        number of this process
 * @param startTicks start time of this process in clock ticks since boot
 * @param user       ID of the user that owns this process
 */
record ProcessIdentity(LinuxFiles proc, String boot, long namespace, long pid, long startTicks, int user) {
    /** Number of the machine's first namespace of processes, which is {@code PROC_PID_INIT_INO} of linux/proc_ns.h. */
    private static final long FIRST_NAMESPACE = 0xEFFFFFFCL;

    static ProcessIdentity in(LinuxFiles proc) throws IOException {
        LinuxFiles.Stat stat = proc.stat("self");
        String namespace = Files.readSymbolicLink(proc.path("self/ns/pid")).toString();
        return new ProcessIdentity(
                proc,
                proc.boot(),
                Long.parseLong(namespace.replaceAll("\\D", "")),
                stat.pid(),
                stat.startTicks(),
                FileStat.of(proc.path("self")).user());
    }

    /**
     * Returns whether the process numbers of this process are valid for all processes of this machine outside
     * containers.
     */
    boolean isInFirstNamespace() {
        return namespace == FIRST_NAMESPACE;
    }

    /**
     * Returns whether a process of this namespace runs. A process that only waits until its exit code is read does not
     * run.
     */
    boolean runs(long otherPid, long otherStartTicks) {
        try {
            LinuxFiles.Stat stat = proc.stat(Long.toString(otherPid));
            return stat.startTicks() == otherStartTicks && "ZXx".indexOf(stat.state()) < 0;
        } catch (IOException unreadable) {
            // a lack of descriptors or a similar error must not make a process count as dead, since the files of a dead
            // process are removed
            return Files.isDirectory(proc.path(Long.toString(otherPid)));
        }
    }

    /** Returns the path of a descriptor of a process. By this path, other processes can open the file. */
    Path descriptor(long owner, int number) {
        return proc.path(owner + "/fd/" + number);
    }
}
