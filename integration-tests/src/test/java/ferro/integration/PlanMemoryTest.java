package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.plan.Hosts;
import ferro.collectives.plan.Plan;
import java.lang.management.ManagementFactory;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the thread that makes a plan of 10,000 ranks allocates, on hosts of eight ranks. */
class PlanMemoryTest {
    private static final int RANKS = 10_000;
    private static final int RANKS_OF_A_HOST = 8;
    private static final long MAX_BYTES = 10_000_000;

    private static final Hosts HOSTS = Hosts.of(RANKS, (a, b) -> a / RANKS_OF_A_HOST == b / RANKS_OF_A_HOST)
            .orElseThrow();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest(name = "{0}")
    @MethodSource("algorithms")
    void aPlanOf10000RanksAllocatesAtMost10Megabytes(Algorithm algorithm) {
        Hosts hosts = algorithm.topology() == Topology.HOSTS ? HOSTS : null;
        algorithm.plan(0, RANKS, 0, hosts); // loads classes
        for (int rank : new int[] {0, 1, 2, 1807, RANKS / 2, RANKS / 2 + 1, RANKS - 1}) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            Plan plan = algorithm.plan(rank, RANKS, 0, hosts);
            long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
            assertTrue(
                    bytes <= MAX_BYTES,
                    () -> algorithm + " allocates " + bytes + " bytes for "
                            + (plan.sends().size() + plan.receives().size()) + " steps of rank " + rank);
        }
    }

    static Stream<Algorithm> algorithms() {
        return Algorithm.all().stream().filter(row -> row.topology() != Topology.SHARED_MEMORY);
    }
}
