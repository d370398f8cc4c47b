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
 * How much shared memory a rank may use: a quarter of what Spark adds to the memory of an executor, divided by the ranks of its
 * host, of which all get the same. Containers are ended for using more than that.
 *
 * @param bytes of one rank
 */
record SharedMemoryBudget(long bytes) {
    private static final Path FOLDER = Path.of("/dev/shm");
    private static final long LEAST_OVERHEAD_MIB = 384;
    private static final double OVERHEAD_FACTOR = 0.1;
    private static final int PART = 4;
    private static final int MIB = 20;

    /** Returns the budget that the options' settings or those of the process name, else the one of an executor. */
    static SharedMemoryBudget of(JoinOptions options, SparkConf conf, int ranksOfHost) {
        try (SystemContext context = SystemContext.of(options)) {
            return context.setting(Settings.SHM_BYTES.name())
                    .map(named -> new SharedMemoryBudget(Settings.SHM_BYTES.read(named)))
                    .orElseGet(() -> of(conf, ranksOfHost));
        }
    }

    /** Returns the budget of a rank of an executor. */
    static SharedMemoryBudget of(SparkConf conf, int ranksOfHost) {
        long memory = JavaUtils.byteStringAsMb(conf.get("spark.executor.memory", "1g"));
        double factor = Double.parseDouble(conf.get("spark.executor.memoryOverheadFactor", "" + OVERHEAD_FACTOR));
        long overhead = conf.contains("spark.executor.memoryOverhead")
                ? JavaUtils.byteStringAsMb(conf.get("spark.executor.memoryOverhead"))
                : Math.max((long) (memory * factor), LEAST_OVERHEAD_MIB);
        return new SharedMemoryBudget((overhead << MIB) / PART / ranksOfHost);
    }

    /** Returns whether the ranks of a host fit into what its shared memory has left. */
    boolean fits(int ranksOfHost) {
        try {
            return Files.isDirectory(FOLDER) && Files.getFileStore(FOLDER).getUsableSpace() >= bytes * ranksOfHost;
        } catch (IOException unknown) {
            return false;
        }
    }

    String refusal(int ranksOfHost) {
        return ranksOfHost + " ranks with ferro.shm.bytes=" + bytes + " each do not fit into " + FOLDER
                + ": TCP is used; give the container more (Kubernetes: an emptyDir of medium Memory at " + FOLDER
                + "), or set ferro.shm.bytes lower";
    }
}
