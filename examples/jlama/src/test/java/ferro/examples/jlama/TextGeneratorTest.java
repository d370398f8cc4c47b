package ferro.examples.jlama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program with each rank in its own JVM, as a user runs it. */
class TextGeneratorTest {
    private static final String PROMPT = "Once upon a time";
    private static final List<String> VECTORS =
            List.of("--add-modules", "jdk.incubator.vector", "-XX:TieredStopAtLevel=4");
    private static final Map<String, String> ON_DISK = Map.of("FERRO_SHM_DIR", System.getProperty("java.io.tmpdir"));
    private static final Pattern RATE = Pattern.compile("answer: 20 tokens in [\\d.]+ s, [\\d.]+ tokens/s;"
            + " (\\d+) all-reduces of 512 bytes, \\d+ us each; [\\d.]+ % of the time in collectives");

    @TempDir
    private Path folder;

    @Test
    void twoRanksGenerateTheTextOfOneAndPrintTheRate() throws Exception {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        Child alone = run(1, 0, generate(VECTORS, 20)).get(0);
        List<Child> both = run(2, 0, generate(VECTORS, 20));

        List<String> lines = both.get(0).outLines();
        String text = lines.get(0);
        assertEquals(alone.outLines().get(0), text);
        assertTrue(text.startsWith(PROMPT) && text.length() > PROMPT.length() + 20, text);
        assertTrue(RATE.matcher(String.join("\n", lines)).find(), lines::toString);
        assertEquals(List.of(), both.get(1).outLines());
    }

    @Test
    void threeRanksAreRefusedBeforeTheModelIsLoaded() throws Exception {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        List<Child> ended = run(3, 2, generate(VECTORS, 20));

        assertEquals(
                List.of(
                        "jlama: cannot run the model in " + folder
                                + ": its 8 heads, 4 key-value heads, hidden size 128 and"
                                + " intermediate size 256 cannot be split evenly over 3 ranks; possible numbers of ranks: 1, 2, 4"),
                ended.stream().flatMap(TextGeneratorTest::complaints).toList());
        assertEquals(List.of(), ended.get(0).outLines());
    }

    @Test
    void nativeKernelsAndAJvmWithoutVectorsAreRefused() throws Exception {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);
        Path kernels = Path.of(System.getProperty("native.kernels"));

        List<String> withKernels = new ArrayList<>(generate(VECTORS, 20));
        withKernels.replaceAll(word -> word.equals(Jvm.classPath()) ? word + File.pathSeparator + kernels : word);
        String withNative = run(1, 2, withKernels).get(0).errText();
        String withoutVectors = run(1, 2, generate(List.of(), 20)).get(0).errText();

        assertTrue(withNative.contains("which compute wrong answers: remove jlama-native"), withNative);
        assertTrue(withoutVectors.contains("start it with --add-modules jdk.incubator.vector"), withoutVectors);
    }

    @Test
    void aTextLongerThanTheContextIsRefused() throws Exception {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        List<Child> ended = run(1, 2, generate(VECTORS, 1002));

        assertEquals(
                List.of(
                        "jlama: the prompt has 17 tokens, and --tokens is 1002: the longest text of this model has 1018 tokens"),
                ended.stream().flatMap(TextGeneratorTest::complaints).toList());
    }

    @Test
    void logitsHaveTheSameBitsOverTcpAndSharedMemory() throws Exception {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        // sums do not depend on the time at which a compiler replaces code
        List<String> options = List.of("--add-modules", "jdk.incubator.vector");
        Child ended = run(1, 0, line(options, BitsOfMedia.class, folder)).get(0);

        assertEquals(List.of("same bits"), ended.outLines(), ended::toString);
    }

    @Test
    void aRankKilledInTheMiddleOfAnAnswerIsNamed() throws Exception {
        ModelShape slow = new ModelShape(256, 1024, 16, new ModelShape.HeadCounts(8, 4), 160);
        RandomModel.write(folder, slow, "F32", 7);

        try (Job ranks = Job.start(2, ON_DISK, generate(VECTORS, 1000))) {
            String begun = ranks.rank(0).out().begun(PROMPT.length() + 10);
            ranks.rank(1).kill();
            ranks.rank(0).ended(1);

            assertTrue(begun.startsWith(PROMPT), begun);
            String last = complaints(ranks.rank(0)).findFirst().orElseThrow();
            assertTrue(last.matches("jlama: rank 0 failed after token \\d+: PEER_LOST: .*rank 1 .*"), last);
        }
    }

    private static List<Child> run(int ranks, int code, List<String> line) throws Exception {
        try (Job job = Job.start(ranks, ON_DISK, line)) {
            return job.ended(code);
        }
    }

    private List<String> generate(List<String> options, int tokens) {
        return line(options, TextGenerator.class, "--model", folder, "--prompt", PROMPT, "--tokens", tokens);
    }

    private static List<String> line(List<String> more, Class<?> program, Object... arguments) {
        List<String> options =
                new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        options.addAll(more);
        return Jvm.line(options, program, arguments);
    }

    /** Returns the lines of the program itself, without those of the JVM and of loggers. */
    private static Stream<String> complaints(Child rank) {
        return rank.errLines().stream().filter(line -> line.startsWith("jlama: "));
    }
}
