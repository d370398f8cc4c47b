package ferro.benchmarks.scale;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/**
 * The figures of one row, printed as they are measured, so that figures are left if the row does not end. CPU time is
 * that of the whole process, with the compilers and the garbage collector.
 */
final class Meter {
    /** First word of each line with a figure. */
    static final String MARK = "figure";

    private static final double NANOS = 1e9;
    private static final double MEBIBYTE = 1 << 20;

    private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private long cpu = process.getProcessCpuTime();
    private long wall = System.nanoTime();
    private double cpuOfPhases;

    /** Prints CPU time and time since the last call, and begins the next phase. */
    synchronized void lap(String phase) {
        double used = (process.getProcessCpuTime() - cpu) / NANOS;
        cpuOfPhases += used;
        print(phase, used, "CPU s");
        print(phase, (System.nanoTime() - wall) / NANOS, "s");
        restart();
    }

    /** Begins a phase. What was used since the last phase counts for no phase. */
    synchronized void restart() {
        cpu = process.getProcessCpuTime();
        wall = System.nanoTime();
    }

    /** Prints the CPU time of all phases so far, and forgets it. */
    synchronized void sum(String name) {
        print(name, cpuOfPhases, "CPU s");
        forget();
    }

    synchronized void forget() {
        cpuOfPhases = 0;
    }

    /** Prints the heap that is in use after a collection, and begins the next phase. */
    void heap(String when) {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        print("heap after " + when, (runtime.totalMemory() - runtime.freeMemory()) / MEBIBYTE, "MiB");
        restart();
    }

    static void print(String name, double value, String unit) {
        String number = value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
        System.out.println(String.join("\t", MARK, name, number, unit));
        System.out.flush();
    }
}
