package ferro.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What else than the ranks uses the processor while they are measured, by the counters of Linux.
 *
 * @param cores number of cores that the job may use
 * @param ranks number of ranks on these cores
 */
record MachineUse(int cores, int ranks) {
    private static final Path COUNTERS = Path.of("/proc/stat");
    private static final double NANOS_PER_TICK = 1e7;
    private static final double BUSY_CORES = 0.2;

    /**
     * Times at one moment.
     *
     * @param wallNanos clock
     * @param machineNanos processor time of all processes of the machine; NaN if it is not known
     * @param ranksNanos processor time of the ranks
     */
    record Reading(double wallNanos, double machineNanos, double ranksNanos) {
        /** Reads the times of this machine and of this process. */
        static Reading now() throws IOException {
            return now(COUNTERS);
        }

        static Reading now(Path counters) throws IOException {
            OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
            double machine = Files.exists(counters) ? machineNanos(counters) : Double.NaN;
            return new Reading(System.nanoTime(), machine, process.getProcessCpuTime());
        }

        /** Returns the time in programs and, for them, in the kernel: the first three numbers of the first line. */
        private static double machineNanos(Path counters) throws IOException {
            try (Stream<String> lines = Files.lines(counters)) {
                String[] words = lines.findFirst().orElse("").trim().split(" +");
                double ticks = 0;
                for (int i = 1; i <= 3; i++) {
                    ticks += Double.parseDouble(words[i]);
                }
                return ticks * NANOS_PER_TICK;
            } catch (NumberFormatException | ArrayIndexOutOfBoundsException otherFormat) {
                return Double.NaN;
            }
        }
    }

    /**
     * Returns the lines for a reader of the times; none if nothing disturbs them.
     *
     * @param before times before the measurement
     * @param after times after it; its time of the ranks counts all ranks of the group
     */
    List<String> warnings(Reading before, Reading after) {
        List<String> lines = new ArrayList<>();
        if (ranks > cores) {
            lines.add("# " + ranks + " ranks share " + cores + (cores == 1 ? " core" : " cores")
                    + ": a call also waits until the other ranks get a core");
        }
        double others = (after.machineNanos() - before.machineNanos() - (after.ranksNanos() - before.ranksNanos()))
                / (after.wallNanos() - before.wallNanos());
        if (others >= BUSY_CORES) {
            lines.add(String.format(
                    Locale.ROOT,
                    "# the machine is busy: other processes used %.1f cores meanwhile, so the times are too long",
                    others));
        }
        return lines;
    }
}
