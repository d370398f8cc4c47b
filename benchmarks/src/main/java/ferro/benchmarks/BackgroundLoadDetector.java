package ferro.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import ferro.spi.LinuxFiles;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A detector of processor use by anything other than the ranks during a measurement. The detector reads the counters of
 * Linux.
 *
 * @param cores number of cores that the ranks of this host may use
 * @param localRanks number of ranks of this host
 * @param ranks number of ranks of the job
 */
record BackgroundLoadDetector(int cores, int localRanks, int ranks) {
    private static final Path COUNTERS = LinuxFiles.HOST.path("stat");
    /** The folder of the threads of this process. */
    static final Path THREADS = LinuxFiles.HOST.path("self/task");

    private static final double NANOS_PER_TICK = 1e7;
    /** Number of cores that other processes must use before a warning is printed, however busy the ranks are. */
    private static final double BUSY_CORES = 0.2;
    /** Share of all cores. Above this share, ranks and other processes wait for each other. */
    private static final double FULL = 0.8;

    /** Returns the use for the number of ranks and cores in the settings of a rank. */
    static BackgroundLoadDetector of(RankContext context, int worldSize) {
        return new BackgroundLoadDetector(
                Settings.LOCAL_CORES.find(context).orElse(Runtime.getRuntime().availableProcessors()),
                Settings.LOCAL_WORLD_SIZE.find(context).orElse(worldSize),
                worldSize);
    }

    /**
     * Times that were read at one moment.
     *
     * @param wallNanos time of a clock
     * @param machineNanos processor time of all processes of the machine; NaN if the time is not known
     * @param machineCores number of cores of the machine, which may be more than a container has; 0 if the number is
     *     not known
     * @param ranksNanos processor time of the ranks
     */
    record CpuTimeReading(double wallNanos, double machineNanos, int machineCores, double ranksNanos) {
        /** Reads the times of this machine and of this process. */
        static CpuTimeReading now() throws IOException {
            return now(COUNTERS);
        }

        static CpuTimeReading now(Path counters) throws IOException {
            OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
            List<String> lines = Files.exists(counters) ? Files.readAllLines(counters) : List.of();
            int cores = (int)
                    lines.stream().filter(line -> line.matches("cpu\\d+ .*")).count();
            return new CpuTimeReading(System.nanoTime(), machineNanos(lines), cores, process.getProcessCpuTime());
        }

        /**
         * Returns the time in programs, and in the kernel for programs. This is the sum of the first three numbers of
         * the first line.
         */
        private static double machineNanos(List<String> lines) {
            String[] words =
                    lines.isEmpty() ? new String[0] : lines.get(0).trim().split(" +");
            try {
                double ticks = 0;
                for (int i = 1; i <= 3; i++) {
                    ticks += Double.parseDouble(words[i]);
                }
                return ticks * NANOS_PER_TICK;
            } catch (NumberFormatException | ArrayIndexOutOfBoundsException otherFormat) {
                return Double.NaN;
            }
        }

        /** Returns this reading with the processor time of all ranks of the job, in place of the time of this rank. */
        CpuTimeReading ofRanks(double nanos) {
            return new CpuTimeReading(wallNanos, machineNanos, machineCores, nanos);
        }
    }

    /**
     * Returns the time for which the JIT compilers of a JVM have run or waited for a core. The time includes unfinished
     * compilations. The JVM itself counts only compilations that have ended.
     *
     * @param threads folder of the threads of the JVM, {@link #THREADS}
     * @return nanoseconds; NaN if Linux does not have these counters
     */
    static double compilerNanos(Path threads) {
        double nanos = Double.NaN;
        try (DirectoryStream<Path> each = Files.newDirectoryStream(threads)) {
            for (Path thread : each) {
                String[] times = compilerTimes(thread);
                if (times.length > 0) {
                    nanos = (Double.isNaN(nanos) ? 0 : nanos)
                            + Double.parseDouble(times[0])
                            + Double.parseDouble(times[1]);
                }
            }
            return nanos;
        } catch (IOException
                | DirectoryIteratorException
                | NumberFormatException
                | ArrayIndexOutOfBoundsException none) {
            // the system is not Linux, or its kernel does not have these counters
            return Double.NaN;
        }
    }

    /** Returns the counters of a compiler thread; an empty array for another thread, or if the thread has ended. */
    private static String[] compilerTimes(Path thread) {
        try {
            return Files.readString(thread.resolve("comm")).matches("C[12] Compiler.*\\s*")
                    ? Files.readString(thread.resolve("schedstat")).split("\\s+")
                    : new String[0];
        } catch (IOException ended) {
            return new String[0];
        }
    }

    /**
     * Returns warnings about what has disturbed the measured times. The list is empty if nothing has disturbed the
     * times. If the job has several hosts, no warning is about other processes, because the counters are of one host
     * and the time of the ranks is of all hosts.
     *
     * @param before reading before the measurement
     * @param after reading after the measurement, with the time of all ranks of the group
     */
    List<String> warnings(CpuTimeReading before, CpuTimeReading after) {
        List<String> lines = new ArrayList<>();
        if (localRanks > cores) {
            lines.add("# " + localRanks + " ranks share " + cores + (cores == 1 ? " core" : " cores")
                    + " of this host: a call also waits until the other ranks get a core");
        }
        double nanos = after.wallNanos() - before.wallNanos();
        double used = (after.machineNanos() - before.machineNanos()) / nanos;
        double others = used - (after.ranksNanos() - before.ranksNanos()) / nanos;
        if (localRanks == ranks && others >= BUSY_CORES && used >= FULL * after.machineCores()) {
            lines.add(String.format(
                    Locale.ROOT,
                    "# the machine is busy: other processes used %.1f of its %d cores meanwhile, so the times may be too"
                            + " long",
                    others,
                    after.machineCores()));
        }
        return lines;
    }
}
