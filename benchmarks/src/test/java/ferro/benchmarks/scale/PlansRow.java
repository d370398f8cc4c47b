package ferro.benchmarks.scale;

import com.sun.management.ThreadMXBean;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.plan.Hosts;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/** CPU time and allocated memory of the planner, for each algorithm. */
final class PlansRow {
    private static final int RANKS_OF_A_HOST = 8;
    private static final int REPEATS = 5;
    /** Time after which a plan is not measured again. */
    private static final double LONG_MILLIS = 2000;

    private static final double NANOS_OF_A_MILLI = 1e6;
    private static final double MEGABYTE = 1e6;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private PlansRow() {}

    private record Cost(double millis, double megabytes) {}

    /**
     * Measures the plans of ranks 0, 1, n/2 and n-1 five times each. Prints the median of the rank with the longest, and
     * the longest of all, which includes the time in which the compilers have not yet compiled the planner.
     */
    static void measure(int ranks) {
        Hosts hosts = Hosts.of(ranks, (a, b) -> a / RANKS_OF_A_HOST == b / RANKS_OF_A_HOST)
                .orElseThrow();
        for (Algorithm algorithm : Algorithm.all()) {
            if (algorithm.topology() != Topology.SHARED_MEMORY) {
                measure(algorithm, ranks, algorithm.topology() == Topology.HOSTS ? hosts : null);
            }
        }
    }

    private static void measure(Algorithm algorithm, int ranks, Hosts hosts) {
        double median = 0;
        double max = 0;
        double megabytes = 0;
        for (int rank : new int[] {0, 1, ranks / 2, ranks - 1}) {
            double[] millis = new double[REPEATS];
            for (int i = 0; i < REPEATS; i++) {
                Cost cost = plan(algorithm, rank, ranks, hosts);
                millis[i] = cost.millis;
                max = Math.max(max, cost.millis);
                megabytes = Math.max(megabytes, cost.megabytes);
                if (cost.millis > LONG_MILLIS) {
                    Arrays.fill(millis, cost.millis);
                    break;
                }
            }
            Arrays.sort(millis);
            median = Math.max(median, millis[REPEATS / 2]);
            if (median > LONG_MILLIS) {
                break;
            }
        }
        Meter.print(algorithm + ", median", median, "CPU ms");
        Meter.print(algorithm + ", longest", max, "CPU ms");
        Meter.print(algorithm + ", memory", megabytes, "MB");
    }

    private static Cost plan(Algorithm algorithm, int rank, int ranks, Hosts hosts) {
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long cpu = THREADS.getCurrentThreadCpuTime();
        algorithm.plan(rank, ranks, 0, hosts);
        return new Cost(
                (THREADS.getCurrentThreadCpuTime() - cpu) / NANOS_OF_A_MILLI,
                (THREADS.getCurrentThreadAllocatedBytes() - bytes) / MEGABYTE);
    }
}
