package ferro.spark.driver;

import ferro.spark.internals.SparkApiAccess;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** The checks of an application that must succeed before ferro submits a job. */
final class SparkChecks {
    /** The oldest supported version. Spark before 3.5 has no job tags, by which ferro finds its own jobs. */
    private static final int MAJOR = 3;

    private static final int MINOR = 5;
    private static final Pattern NUMBERS = Pattern.compile("([0-9]{1,9})(?:\\.([0-9]{1,9}))?");
    private static final String DYNAMIC = "spark.dynamicAllocation.enabled";

    private SparkChecks() {}

    static void check(SparkContext spark) {
        SparkApiAccess.checkNotStopped(spark);
        checkVersion(spark.version());
        checkConf(spark.getConf());
    }

    /** Refuses a version that is older than the oldest supported one. A version that cannot be read is accepted. */
    static void checkVersion(String version) {
        Matcher numbers = NUMBERS.matcher(version);
        int major = numbers.lookingAt() ? Integer.parseInt(numbers.group(1)) : MAJOR;
        int minor =
                numbers.reset().lookingAt() && numbers.group(2) != null ? Integer.parseInt(numbers.group(2)) : MINOR;
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
