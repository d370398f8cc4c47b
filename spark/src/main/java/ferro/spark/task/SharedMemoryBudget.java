package ferro.spark.task;

import ferro.group.JoinOptions;
import ferro.group.SystemContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.JavaUtils;

/**
 * The amount of shared memory that a rank may use. The default is a quarter of the memory overhead that Spark adds to
 * an executor, divided by the number of ranks on the host. All ranks of a host get the same amount. A cluster manager
 * ends a container that uses more than its memory and overhead.
 *
 * @param bytes the shared memory of one rank, in bytes
 */
record SharedMemoryBudget(long bytes) {
    private static final Path FOLDER = Path.of("/dev/shm");
    private static final long LEAST_OVERHEAD_MIB = 384;
    private static final double OVERHEAD_FACTOR = 0.1;
    private static final int PART = 4;
    private static final int MIB = 20;

    /** Returns the budget from the settings of the options or the process. If none gives one, computes the default. */
    static SharedMemoryBudget of(JoinOptions options, SparkConf conf, int ranksOfHost) {
        try (SystemContext context = SystemContext.of(options)) {
            return context.setting(Settings.SHM_BYTES.name())
                    .map(named -> new SharedMemoryBudget(Settings.SHM_BYTES.read(named)))
                    .orElseGet(() -> of(conf, ranksOfHost));
        }
    }

    /** Returns the default budget of a rank, computed from the memory settings of its executor. */
    static SharedMemoryBudget of(SparkConf conf, int ranksOfHost) {
        long memory = JavaUtils.byteStringAsMb(conf.get("spark.executor.memory", "1g"));
        double factor = Double.parseDouble(conf.get("spark.executor.memoryOverheadFactor", "" + OVERHEAD_FACTOR));
        long overhead = conf.contains("spark.executor.memoryOverhead")
                ? JavaUtils.byteStringAsMb(conf.get("spark.executor.memoryOverhead"))
                : Math.max((long) (memory * factor), LEAST_OVERHEAD_MIB);
        return new SharedMemoryBudget((overhead << MIB) / PART / ranksOfHost);
    }

    /** Returns whether the budgets of all ranks of a host fit into the free shared memory of the host. */
    boolean fits(int ranksOfHost) {
        try {
            return Files.isDirectory(FOLDER) && Files.getFileStore(FOLDER).getUsableSpace() >= bytes * ranksOfHost;
        } catch (IOException unknown) {
            return false;
        }
    }

    String refusal(int ranksOfHost) {
        return ranksOfHost + " ranks with ferro.shm.bytes=" + bytes + " each do not fit into " + FOLDER
                + " and use TCP instead: give the container more shared memory (Kubernetes: an emptyDir of medium"
                + " Memory at " + FOLDER + "), or set ferro.shm.bytes lower";
    }
}
