package ferro.examples.jlama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.examples.jlama.RankJvms.Ended;
import ferro.examples.jlama.RankJvms.Setup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program with each rank in its own JVM, as a user runs it. */
class GenerateTest {
    private static final String PROMPT = "Once upon a time";
    private static final Pattern RATE = Pattern.compile("answer: 20 tokens in [\\d.]+ s, [\\d.]+ tokens/s;"
            + " (\\d+) all-reduces of 512 bytes, \\d+ us each; [\\d.]+ % of the time in collectives");

    @TempDir
    private Path folder;

    @TempDir
    private Path logs;

    @Test
    void twoRanksAnswerWithTheTextOfOneAndPrintTheRate() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        Ended alone = RankJvms.run(1, usual(), arguments(20)).get(0);
        List<Ended> both = RankJvms.run(2, usual(), arguments(20));

        assertEquals(
                List.of(0, 0, 0),
                List.of(alone.code(), both.get(0).code(), both.get(1).code()),
                both::toString);
        String text = both.get(0).out().lines().findFirst().orElseThrow();
        assertEquals(alone.out().lines().findFirst().orElseThrow(), text);
        assertTrue(text.startsWith(PROMPT) && text.length() > PROMPT.length() + 20, text);
        assertTrue(RATE.matcher(both.get(0).out()).find(), both.get(0).out());
        assertEquals("", both.get(1).out());
    }

    @Test
    void threeRanksAreRefusedByOneMessageBeforeAnyoneLoadsTheModel() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        List<Ended> ended = RankJvms.run(3, usual(), arguments(20));

        assertEquals(List.of(2, 2, 2), ended.stream().map(Ended::code).toList());
        assertEquals(
                List.of(
                        "jlama: cannot run the model in " + folder
                                + ": its 8 heads, 4 key-value heads, hidden size 128 and"
                                + " intermediate size 256 cannot be split evenly over 3 ranks; possible numbers of ranks: 1, 2, 4"),
                ended.stream().flatMap(each -> each.complaints().stream()).toList());
        assertEquals("", ended.get(0).out());
    }

    @Test
    void nativeKernelsAndAJvmWithoutVectorsAreRefused() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);
        Path kernels = Path.of(System.getProperty("native.kernels"));

        Ended withNative = RankJvms.run(
                        1, new Setup(logs, usual().options(), List.of(kernels), Generate.class), arguments(20))
                .get(0);
        Ended withoutVectors = RankJvms.run(1, new Setup(logs, List.of(), List.of(), Generate.class), arguments(20))
                .get(0);

        assertEquals(2, withNative.code(), withNative::err);
        assertTrue(withNative.err().contains("which compute wrong answers: remove jlama-native"), withNative::err);
        assertEquals(2, withoutVectors.code(), withoutVectors::err);
        assertTrue(
                withoutVectors.err().contains("start it with --add-modules jdk.incubator.vector"), withoutVectors::err);
    }

    @Test
    void aTextLongerThanTheContextIsRefused() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        List<Ended> ended = RankJvms.run(1, usual(), arguments(1002));

        assertEquals(List.of(2), ended.stream().map(Ended::code).toList());
        assertEquals(
                List.of(
                        "jlama: the prompt has 17 tokens, and --tokens is 1002: the longest text of this model has 1018 tokens"),
                ended.stream().flatMap(each -> each.complaints().stream()).toList());
    }

    @Test
    void logitsHaveTheSameBitsOverTcpAndSharedMemory() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        Ended ended = RankJvms.run(1, Setup.reproducible(logs, BitsOfMedia.class), folder.toString())
                .get(0);

        assertEquals("same bits", ended.out().strip(), ended::err);
    }

    @Test
    void aRankKilledInTheMiddleOfAnAnswerIsNamed() throws IOException {
        ModelShape slow = new ModelShape(256, 1024, 16, new ModelShape.Heads(8, 4), 160);
        RandomModel.write(folder, slow, "F32", 7);

        try (RankJvms ranks = RankJvms.start(2, usual(), arguments(1000))) {
            String begun = ranks.read(0, PROMPT.length() + 10);
            ranks.kill(1);
            Ended ended = ranks.end(0);

            assertTrue(begun.startsWith(PROMPT), begun);
            assertEquals(1, ended.code(), ended::err);
            String last = ended.complaints().get(0);
            assertTrue(last.matches("jlama: rank 0 failed after token \\d+: PEER_LOST: .*rank 1 .*"), last);
        }
    }

    private Setup usual() {
        return Setup.usual(logs);
    }

    private String[] arguments(int tokens) {
        return new String[] {"--model", folder.toString(), "--prompt", PROMPT, "--tokens", Integer.toString(tokens)};
    }
}
