package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import ferro.ReduceOp;
import ferro.group.Codec;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.provider.Arguments;

/** The ranks of a test of objects, and how a call ends on each. */
abstract class ObjectRanks {
    Ranks ranks;

    /** After every test the ranks make another call. */
    @AfterEach
    void ranksAreUsable() {
        if (ranks != null) {
            try (Ranks opened = ranks) {
                assertUsable(opened);
            }
        }
    }

    static Stream<Arguments> groups() {
        return Stream.of("simulated", "tcp", "shm")
                .flatMap(medium -> IntStream.rangeClosed(medium.equals("simulated") ? 1 : 2, 4)
                        .mapToObj(worldSize -> Arguments.of(medium, worldSize)));
    }

    /** Runs a call on all ranks; returns what each returned or threw, by rank. */
    static List<Object> outcomes(Ranks ranks, Function<ProcessGroup, Object> call) {
        List<Object> outcomes =
                new ArrayList<>(Collections.nCopies(ranks.groups().size(), null));
        List<Ranks.Ended> ended = ranks.ends(group -> {
            Object outcome;
            try {
                outcome = call.apply(group);
            } catch (IllegalArgumentException
                    | IllegalStateException
                    | NullPointerException
                    | StackOverflowError refused) {
                outcome = refused;
            }
            synchronized (outcomes) {
                outcomes.set(group.rank(), outcome);
            }
        });
        ended.forEach(each -> assertEquals(null, each.failure()));
        return outcomes;
    }

    static String refusal(Object outcome) {
        return assertInstanceOf(IllegalArgumentException.class, outcome).getMessage();
    }

    /** The ranks are in step, and another call works. */
    static void assertUsable(Ranks ranks) {
        int worldSize = ranks.groups().size();
        List<Object> sums =
                outcomes(ranks, group -> group.objects(Codec.utf8()).allReduce(group.rank() + 1.5, ReduceOp.SUM));
        double expected =
                IntStream.range(0, worldSize).mapToDouble(rank -> rank + 1.5).sum();
        assertEquals(Collections.nCopies(worldSize, (Object) expected), sums);
        ranks.groups().forEach(group -> assertEquals(Optional.empty(), group.failure()));
    }
}
