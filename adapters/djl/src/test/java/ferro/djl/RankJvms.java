package ferro.djl;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A JVM per rank: PyTorch has only one gradient collector per JVM, and some of its faults end the JVM. */
public final class RankJvms {
    /** The options that the pom passes to this JVM and that every other JVM also needs, above all the offline mode. */
    private static final List<String> HANDED_ON = List.of(
            "ai.djl.offline",
            "OPT_OUT_TRACKING",
            "DJL_CACHE_DIR",
            "ai.djl.pytorch.num_threads",
            "ai.djl.pytorch.num_interop_threads");

    private RankJvms() {}

    /** Runs a program on ranks of one group, which must succeed; the index in the result is the rank. */
    @SuppressWarnings("exports") // of tests alone
    public static List<Child> run(int worldSize, Class<?> program, Object... arguments) throws Exception {
        return Job.run(worldSize, Map.of(), line(List.of(), program, arguments));
    }

    static List<String> line(List<String> more, Class<?> program, Object... arguments) {
        List<String> options =
                new ArrayList<>(List.of("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=target/hs_err.log"));
        HANDED_ON.forEach(name -> options.add("-D" + name + "=" + System.getProperty(name)));
        options.addAll(more);
        return Jvm.line(options, program, arguments);
    }
}
