package ferro.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.lang.management.ManagementFactory;

/** Times one run of something that all ranks do together: by the slowest rank's clock, and by the processor time of all. */
final class PartClock {
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private final ProcessGroup group;

    PartClock(ProcessGroup group) {
        this.group = group;
    }

    /**
     * Times of a part in milliseconds.
     *
     * @param wall of the slowest rank
     * @param cpu  of the processors, over all ranks
     */
    record PartTimes(double wall, double cpu) {}

    PartTimes millis(Runnable part) {
        group.barrier();
        long cpu = process.getProcessCpuTime();
        long start = System.nanoTime();
        part.run();
        double[] wall = {(System.nanoTime() - start) / 1e6};
        double[] used = {(process.getProcessCpuTime() - cpu) / 1e6};
        group.allReduce(wall, ReduceOp.MAX);
        group.allReduce(used, ReduceOp.SUM);
        return new PartTimes(wall[0], used[0]);
    }
}
