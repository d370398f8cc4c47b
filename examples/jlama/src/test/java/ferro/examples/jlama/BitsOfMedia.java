package ferro.examples.jlama;

import ferro.examples.jlama.ShardedModel.SamplingOptions;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A program that compares the logits of ranks over TCP with those over shared memory, bit by bit. It runs in a JVM
 * without its last compiler: the order in which the vector module adds the parts of a vector changes when that compiler
 * replaces code, so that two answers of Jlama in one JVM can differ, also without ranks.
 */
final class BitsOfMedia {
    private static final int[] PROMPT = {1, 17, 42, 99, 5, 63, 120, 31, 8};
    private static final int TOKENS = 8;

    private BitsOfMedia() {}

    /** Takes the folder of a model. */
    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[0]);
        compare(folder, 2, "");
        // from three ranks on each medium adds in an order of its own, unless this setting chooses one for both
        compare(folder, 4, "allReduce=recursiveDoubling");
        System.out.println("same bits");
    }

    private static void compare(Path folder, int ranks, String algorithm) {
        List<float[]> overTcp = logits(folder, ranks, Medium.TCP, algorithm);
        List<float[]> overSharedMemory = logits(folder, ranks, Medium.SHM, algorithm);
        for (int at = 0; at < TOKENS; at++) {
            if (!Arrays.equals(overTcp.get(at), overSharedMemory.get(at))) {
                throw new AssertionError("bits of logits " + at + " of " + ranks + " ranks differ");
            }
        }
    }

    private static List<float[]> logits(Path folder, int ranks, Medium medium, String algorithm) {
        return Ranks.run(medium, ranks, Map.of("ferro.algorithm", algorithm), group -> {
                    try (ShardedModel model =
                            ShardedModel.load(group, folder, SamplingOptions.greedy(), Optional.empty())) {
                        List<float[]> logits = new ArrayList<>();
                        int next = model.next(PROMPT);
                        for (logits.add(model.logits()); logits.size() < TOKENS; logits.add(model.logits())) {
                            next = model.next(next);
                        }
                        return logits;
                    }
                })
                .get(0);
    }
}
