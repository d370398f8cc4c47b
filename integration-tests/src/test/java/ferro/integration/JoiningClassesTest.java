package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Job;
import ferro.harness.Jvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Counts the lambdas and method references of ferro that a rank links while it joins. Each costs a rank half a millisecond
 * or more of CPU time at every start, and all ranks of a host start at the same time. A loop costs nothing.
 */
class JoiningClassesTest {
    /** The number that a rank needs today, and a few. If it is too small, look for a loop or a class before you raise it. */
    private static final int MAX_LAMBDAS = 150;

    private static final String JOINED = JoinsAndIsMarked.Joined.class.getName();
    private static final Pattern LAMBDA = Pattern.compile(".*\\s(ferro\\.(?!shaded\\.)\\S+)\\$\\$Lambda\\S* source:.*");

    @TempDir
    private Path folder;

    @Test
    void aRankLinksFewLambdasWhileItJoins() throws Exception {
        try (Job job = Job.byHand(2, Map.of(), this::line)) {
            job.ended(0);
        }

        for (int rank = 0; rank < 2; rank++) {
            Map<String, Integer> lambdas = lambdas(rank);
            int count = lambdas.values().stream().mapToInt(Integer::intValue).sum();
            assertTrue(count > 0, "the log of the JVM has no lambda of ferro: does it name them in another way?");
            assertTrue(
                    count <= MAX_LAMBDAS,
                    "one of the ranks links " + count + " lambdas while it joins, at most " + MAX_LAMBDAS
                            + " are expected; their classes, with the number of each: " + lambdas);
        }
    }

    private List<String> line(int rank) {
        List<String> options = List.of("-XX:-UsePerfData", "-Xlog:class+load:file=" + loaded(rank));
        return Jvm.line(LauncherRun.classPath(), options, JoinsAndIsMarked.class.getName());
    }

    private Path loaded(int rank) {
        return folder.resolve("loaded-" + rank);
    }

    /** Returns the classes that have linked lambdas before the join returned, with the number of each. */
    private Map<String, Integer> lambdas(int rank) throws IOException {
        Map<String, Integer> byClass = new TreeMap<>();
        for (String line : Files.readAllLines(loaded(rank))) {
            if (line.contains(JOINED)) {
                return byClass;
            }
            Matcher lambda = LAMBDA.matcher(line);
            if (lambda.matches()) {
                byClass.merge(lambda.group(1), 1, Integer::sum);
            }
        }
        throw new AssertionError("the log of rank " + rank + " has no class " + JOINED);
    }
}
