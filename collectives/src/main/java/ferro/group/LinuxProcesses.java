package ferro.group;

import ferro.spi.LinuxFiles;
import ferro.spi.ProcessTable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * The processes of this host as Linux shows them in {@code /proc} (proc(5)). A process is identified by boot, process
 * namespace, number and start time. So a process is never confused with a process of another host, or with a later
 * process that has the same number.
 */
final class LinuxProcesses implements ProcessTable {
    private static final String KIND = "linux";

    private final LinuxFiles proc;
    private final LinuxFiles.Stat own;
    /**
     * Boot and process namespace. Two processes see each other only if they have the same boot and the same process
     * namespace.
     */
    private final String realm;

    private final String host;
    private final String machine;

    private LinuxProcesses(LinuxFiles proc, Optional<String> name) throws IOException {
        this.proc = proc;
        own = proc.stat("self");
        String boot = proc.boot();
        realm = KIND + " " + boot + " " + Files.readSymbolicLink(proc.path("self/ns/pid")) + " ";
        host = name.isPresent() ? name.get() : proc.hostName().orElseThrow();
        machine = boot + " " + host;
    }

    /**
     * Returns the processes; {@link ProcessTable#NONE} on systems other than Linux. {@code name} is the name that the
     * user gives this host. Without {@code name}, the host has the host name of the kernel.
     */
    static ProcessTable of(LinuxFiles proc, Optional<String> name) {
        try {
            return new LinuxProcesses(proc, name);
        } catch (IOException | IllegalArgumentException | NoSuchElementException absent) {
            return NONE;
        }
    }

    @Override
    public String self() {
        return realm + own.pid() + " " + own.startTicks();
    }

    @Override
    public String place() {
        return "pid " + own.pid() + " on host " + host;
    }

    @Override
    public String host() {
        return host;
    }

    @Override
    public String machine() {
        return machine;
    }

    @Override
    public Optional<TrackedProcess> watch(String identity) {
        if (!identity.startsWith(realm)) {
            return Optional.empty();
        }
        String[] process = identity.substring(realm.length()).split(" ");
        try {
            long pid = Long.parseLong(process[0]);
            long startTicks = Long.parseLong(process[process.length - 1]);
            return pid == own.pid() ? Optional.empty() : LinuxProcess.of(proc, process[0], startTicks);
        } catch (NumberFormatException nonsense) {
            return Optional.empty();
        }
    }

    /** One process, whose {@code stat} file stays open. A check reads the file again without an allocation. */
    private static final class LinuxProcess implements TrackedProcess {
        /**
         * Size of the buffer for a {@code stat} file. State and flags are in the first 120 bytes, the start time in the
         * first 400.
         */
        private static final int STAT_BYTES = 512;

        private static final int STATE = 3;
        private static final int FLAGS = 9;
        /**
         * The flag {@code PF_EXITING} of linux/sched.h, which is set before memory is freed and long before sockets
         * close.
         */
        private static final long PF_EXITING = 0x4;

        private final LinuxFiles proc;
        private final String pid;
        private final long startTicks;
        private final RandomAccessFile stat;
        private final byte[] bytes = new byte[STAT_BYTES];
        private boolean exited;

        private LinuxProcess(LinuxFiles proc, String pid, long startTicks) throws IOException {
            this.proc = proc;
            this.pid = pid;
            this.startTicks = startTicks;
            // no channel: an interrupt of the reading thread must not close it
            stat = new RandomAccessFile(proc.path(pid + "/stat").toFile(), "r");
        }

        /**
         * Returns a process to watch. A process whose first thread has ended while other threads continue appears to be
         * dead, so such a process cannot be watched.
         */
        static Optional<TrackedProcess> of(LinuxFiles proc, String pid, long startTicks) {
            try {
                LinuxProcess process = new LinuxProcess(proc, pid, startTicks);
                if (process.isPresent() && !process.hasExited()) {
                    return Optional.of(process);
                }
                process.close();
            } catch (IOException unseen) {
                // gone, or not visible to this process
            }
            return Optional.empty();
        }

        @Override
        public boolean hasExited() {
            if (!exited) {
                exited = look();
            }
            return exited;
        }

        private boolean look() {
            try {
                stat.seek(0);
                int length = stat.read(bytes);
                if (length > 0) {
                    return isExiting(bytes, length);
                }
            } catch (IOException unreadable) {
                // ESRCH once the process is reaped; the text of the message depends on the language of the system
            }
            return !isPresent();
        }

        /** Returns whether the process number still belongs to this process; true if this is unknown. */
        private boolean isPresent() {
            try {
                return proc.stat(pid).startTicks() == startTicks;
            } catch (IOException | IllegalArgumentException unreadable) {
                return Files.exists(proc.path(pid));
            }
        }

        @Override
        public void close() {
            try {
                stat.close();
            } catch (IOException lost) {
                // nothing was written, and the caller closes other objects after this one
            }
        }

        /** Returns whether the process is exiting, a zombie or dead. Allocates nothing. */
        static boolean isExiting(byte[] stat, int length) {
            int at = length - 1;
            while (at >= 0 && stat[at] != ')') {
                at--;
            }
            int state = at + 2;
            if (at < 0 || state >= length) {
                return false;
            }
            return stat[state] == 'Z' || stat[state] == 'X' || stat[state] == 'x' || flagsOf(stat, length, state);
        }

        private static boolean flagsOf(byte[] stat, int length, int state) {
            int at = state;
            for (int field = STATE; field < FLAGS; field++) {
                while (at < length && stat[at] != ' ') {
                    at++;
                }
                at++;
            }
            long flags = 0;
            while (at < length && stat[at] >= '0' && stat[at] <= '9') {
                flags = 10 * flags + stat[at] - '0';
                at++;
            }
            return (flags & PF_EXITING) != 0;
        }
    }
}
