package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a join and a first call load. A lambda costs a rank half a millisecond or more at every start, a loop nothing.
 * The time of the call is the time of its classes: each takes 0.1 ms and more, and each lambda more than that. The classes are counted in place of the time, because the time depends on the machine.
 */
class FirstCallTest {
    private static final int RANKS = 2;
    /** Classes of heartbeats, of looks at processes and of Netty, which threads in the background load when they are due. */
    private static final List<String> BACKGROUND =
            List.of("ferro.control.", "ferro.group.", "ferro.shaded.", "ferro.spi.ProcessTable");

    /** The number that a join needs today, and a few. If it is too small, look for a loop or a class before you raise it. */
    private static final int MAX_LAMBDAS_OF_A_JOIN = 150;

    private static final Pattern LAMBDA = Pattern.compile("ferro\\.(?!shaded\\.)\\S+\\$\\$Lambda.*");

    @TempDir
    private Path folder;

    /** The call loads 41 to 44 classes and links 3 lambdas. With the rows of all kinds of algorithms, and all kernels, it had 59 and 21. */
    @Test
    void theFirstAllReduceInSharedMemoryLoadsFewClassesAndLambdas() throws Exception {
        assertLoads("shm", "shared memory", 48, 8);
    }

    /** The call loads 91 to 99 classes and links 5 lambdas. With the rows of all kinds of algorithms, and all kernels, it had 103 and 24. */
    @Test
    void theFirstAllReduceOverTcpLoadsFewClassesAndLambdas() throws Exception {
        assertLoads("tcp", "TCP (loopback)", 104, 12);
    }

    private void assertLoads(String links, String medium, int maxClasses, int maxLambdas) throws Exception {
        List<Child> ranks;
        try (Job job = Job.byHand(RANKS, Map.of("FERRO_LINKS", links), this::line)) {
            ranks = job.ended(0);
        }
        for (int rank = 0; rank < RANKS; rank++) {
            List<String> said = ranks.get(rank).outLines();
            assertTrue(said.contains("sum 6.0 by " + medium), said::toString);
            List<String> lines = Files.readAllLines(log(rank));
            int joined = at(lines, FirstCall.Joined.class);
            List<String> joining = lines.subList(0, joined).stream()
                    .filter(line -> LAMBDA.matcher(line).matches())
                    .toList();
            assertTrue(
                    !joining.isEmpty(), "the log of the JVM has no lambda of ferro: does it name them in another way?");
            assertTrue(joining.size() <= MAX_LAMBDAS_OF_A_JOIN, () -> "of the join: " + String.join("\n", joining));
            List<String> loaded = new ArrayList<>(lines.subList(joined + 1, at(lines, FirstCall.Called.class)));
            loaded.removeIf(line -> BACKGROUND.stream().anyMatch(line::startsWith));
            List<String> lambdas =
                    loaded.stream().filter(line -> line.contains("$$Lambda")).toList();
            assertTrue(lambdas.size() <= maxLambdas, () -> "lambdas: " + String.join("\n", lambdas));
            List<String> classes = new ArrayList<>(loaded);
            classes.removeIf(line -> !line.startsWith("ferro.") || lambdas.contains(line));
            assertTrue(classes.size() <= maxClasses, () -> "classes: " + String.join("\n", classes));
        }
    }

    private List<String> line(int rank) {
        List<String> options = List.of("-XX:-UsePerfData", "-Xlog:class+load:file=" + log(rank) + ":none");
        return Jvm.line(LauncherRun.classPath(), options, FirstCall.class.getName());
    }

    private Path log(int rank) {
        return folder.resolve("loaded-" + rank);
    }

    private static int at(List<String> lines, Class<?> mark) {
        for (int line = 0; line < lines.size(); line++) {
            if (lines.get(line).startsWith(mark.getName() + " ")) {
                return line;
            }
        }
        throw new AssertionError("no " + mark + " in " + lines.size() + " lines");
    }
}
