package ferro.examples.jlama;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallCounters;
import ferro.CollectiveKind;
import ferro.examples.jlama.ShardedModel.SamplingOptions;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Logits against a reference in double: ranks can agree on wrong answers. */
class LogitsTest {
    private static final int[] PROMPT = {1, 17, 42, 99, 5, 63, 120, 31, 8};
    private static final int TOKENS = 8;
    private static final double TOLERANCE = 1e-5;

    @TempDir
    private Path folder;

    /** What one rank has computed; only rank 0 has logits. */
    private record Answer(int[] tokens, List<float[]> logits) {}

    @ParameterizedTest
    @CsvSource({"1,false", "2,false", "4,false", "1,true", "2,true", "4,true"})
    void logitsEqualThoseOfTheReferenceOverBothMedia(int ranks, boolean isGrouped) throws IOException {
        RandomModel.write(folder, SmallModels.of(isGrouped), "F32", 7);

        List<Answer> overTcp = answers(ranks, Medium.TCP);
        List<Answer> overSharedMemory = answers(ranks, Medium.SHM);

        compareWithReference(overTcp.get(0));
        compareWithReference(overSharedMemory.get(0));
        for (int rank = 0; rank < ranks; rank++) {
            assertArrayEquals(overTcp.get(0).tokens(), overTcp.get(rank).tokens());
            assertArrayEquals(
                    overTcp.get(0).tokens(), overSharedMemory.get(rank).tokens());
        }
    }

    private void compareWithReference(Answer answer) throws IOException {
        Reference reference = new Reference(folder);
        List<Integer> read = new ArrayList<>();
        Arrays.stream(PROMPT).forEach(read::add);
        for (int at = 0; at < TOKENS; at++) {
            double[] expected =
                    reference.logits(read.stream().mapToInt(Integer::intValue).toArray());
            float[] found = answer.logits().get(at);
            int position = at;
            double largest = IntStream.range(0, found.length)
                    .mapToDouble(i -> Math.abs(found[i] - expected[i]))
                    .max()
                    .orElseThrow();
            assertTrue(largest < TOLERANCE, () -> "logits " + position + " differ by " + largest);
            read.add(answer.tokens()[at]);
        }
        assertTrue(
                Arrays.stream(answer.tokens()).distinct().count() > 2,
                "a model that repeats one token tests little: " + Arrays.toString(answer.tokens()));
    }

    private List<Answer> answers(int ranks, Medium medium) {
        return Ranks.run(medium, ranks, Ranks.ON_DISK, group -> {
            try (ShardedModel model = ShardedModel.load(group, folder, SamplingOptions.greedy(), Optional.empty())) {
                Answer answer = new Answer(new int[TOKENS], new ArrayList<>());
                for (int at = 0; at < TOKENS; at++) {
                    answer.tokens()[at] = at == 0 ? model.next(PROMPT) : model.next(answer.tokens()[at - 1]);
                    answer.logits().add(model.logits());
                }
                return answer;
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTextOfTheLongestLengthIsRead(boolean isGrouped) throws IOException {
        RandomModel.write(folder, SmallModels.of(isGrouped), "F32", 7);
        Path config = folder.resolve("config.json");
        Files.writeString(config, Files.readString(config).replace("" + ModelShape.CONTEXT, "64"));
        int longest = ModelMetadata.read(folder).longestText();
        int[] text = IntStream.range(0, longest).map(at -> 3 + at % 97).toArray();

        List<Integer> next = Ranks.run(Medium.SHM, 2, Ranks.ON_DISK, group -> {
            try (ShardedModel model = ShardedModel.load(group, folder, SamplingOptions.greedy(), Optional.empty())) {
                return model.next(text);
            }
        });

        double[] expected = new Reference(folder).logits(text);
        int best = IntStream.range(0, expected.length)
                .reduce((a, b) -> expected[a] >= expected[b] ? a : b)
                .orElseThrow();
        assertEquals(List.of(best, best), next);
    }

    @Test
    void allRanksUseTheTokensThatRank0Samples() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        List<List<Integer>> sampled = Ranks.run(Medium.SHM, 2, Ranks.ON_DISK, group -> {
            // the seeds of other ranks do not count
            SamplingOptions sampling = new SamplingOptions(1.5f, new Random(11 + group.rank()));
            try (ShardedModel model = ShardedModel.load(group, folder, sampling, Optional.empty())) {
                List<Integer> tokens = new ArrayList<>(List.of(model.next(PROMPT)));
                while (tokens.size() < TOKENS) {
                    tokens.add(model.next(tokens.get(tokens.size() - 1)));
                }
                return tokens;
            }
        });

        assertEquals(sampled.get(0), sampled.get(1));
        assertNotEquals(
                Arrays.stream(answers(2, Medium.SHM).get(0).tokens()).boxed().toList(), sampled.get(0));
    }

    @Test
    void eachLayerMakesTwoAllReducesAndEachTokenABroadcast() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        List<CallCounters> counted = Ranks.run(Medium.SHM, 2, Ranks.ON_DISK, group -> {
            try (ShardedModel model = ShardedModel.load(group, folder, SamplingOptions.greedy(), Optional.empty())) {
                model.next(PROMPT);
                CallCounters before = group.counters();
                model.next(3);
                return group.counters().minus(before);
            }
        });

        for (CallCounters each : counted) {
            assertEquals(6, each.of(CollectiveKind.ALL_REDUCE).calls());
            assertEquals(
                    6 * 128 * Float.BYTES, each.of(CollectiveKind.ALL_REDUCE).bytes());
            assertEquals(1, each.of(CollectiveKind.BROADCAST).calls());
            assertEquals(7, each.all().calls());
        }
    }
}
