package ferro.spark.driver;

import ferro.spark.internals.SparkInternals;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** The checks of an application that must succeed before ferro submits a job. */
final class SparkChecks {
    /** The oldest supported version. Spark before 3.5 has no job tags, by which ferro finds its own jobs. */
    private static final int MAJOR = 3;

    private static final int MINOR = 5;
    private static final String DYNAMIC = "spark.dynamicAllocation.enabled";

    private SparkChecks() {}

    static void check(SparkContext spark) {
        SparkInternals.checkNotStopped(spark);
        checkVersion(spark.version());
        checkConf(spark.getConf());
    }

    static void checkVersion(String version) {
        String[] parts = version.split("[^0-9]+");
        int major = Integer.parseInt(parts[0]);
        int minor = Integer.parseInt(parts[1]);
        if (major < MAJOR || major == MAJOR && minor < MINOR) {
            throw new UnsupportedOperationException("found Spark " + version + ", but ferro needs Spark 3.5, 4.0, 4.1"
                    + " or 4.2, because older versions have no job tags: run the application on Spark 3.5 or newer");
        }
    }

    static void checkConf(SparkConf conf) {
        if (conf.getBoolean(DYNAMIC, false)) {
            throw new IllegalArgumentException(DYNAMIC + "=true: Spark does not run barrier stages while the"
                    + " number of executors may change; set this setting to false, and set spark.executor.instances to"
                    + " the number of executors that the ranks need");
        }
    }
}
