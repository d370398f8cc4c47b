package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rules 530 and 531, about failure messages that name several ranks. A message that names several ranks states the
 * correct facts about each rank.
 */
public interface TextRules extends Subject {
    /**
     * Checks that if one of four ranks makes a different call, the messages of all ranks name this rank and its call.
     * The call is a collective, a message or {@code newGroup}.
     *
     * @param what call
     * @param odd  rank that makes a different call
     */
    @Rule(530)
    @ParameterizedTest(name = "{0}, rank {1} of 4")
    @CsvSource({"collective,1", "message,3", "newGroup,2"})
    default void aMismatchReportsTheCallOfEachRank(String what, int odd) {
        needs(BackendContract.MISMATCHES, BackendContract.ABORT_ACROSS_RANKS);
        if (what.equals("newGroup")) {
            needs(BackendContract.SUBGROUPS);
        }
        try (Ranks ranks = group(4)) {
            switch (what) {
                case "collective" -> collective(ranks, odd);
                case "newGroup" -> newGroup(ranks, odd);
                default -> message(ranks, odd);
            }
        }
    }

    private static void collective(Ranks ranks, int odd) {
        List<FerroException> thrown = mismatches(ranks, group -> {
            group.allReduce(new float[group.rank() == odd ? 65 : 64], ReduceOp.SUM);
            group.barrier();
        });
        for (FerroException failure : thrown) {
            Expect.blames(failure, odd);
            saysOf(failure, rank -> rank != odd, "[64]");
            saysOf(failure, rank -> rank == odd, "[65]");
        }
    }

    private static void newGroup(Ranks ranks, int odd) {
        int[] other = {3, 1, 2, 0};
        List<FerroException> thrown =
                mismatches(ranks, group -> group.newGroup(group.rank() == odd ? other : new int[] {0, 1, 2, 3}));
        for (int rank = 0; rank < thrown.size(); rank++) {
            FerroException failure = thrown.get(rank);
            if (rank != odd) {
                // the odd rank knows only that the lists differ
                Expect.blames(failure, odd);
            }
            saysOf(failure, member -> member != odd, "[0, 1, 2, 3]");
            saysOf(failure, member -> member == odd, "[3, 1, 2, 0]");
        }
    }

    private static List<FerroException> mismatches(Ranks ranks, Ranks.RankCode code) {
        List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> code.run(group.within(Duration.ofSeconds(20))));
        return Expect.failures(outcomes, rank -> true, Code.MISMATCH);
    }

    /** Checks that a message contains a text. The last rank that the message names before the text must be right. */
    private static void saysOf(FerroException failure, IntPredicate right, String text) {
        Expect.says(failure, text);
        String message = failure.getMessage();
        for (int at = message.indexOf(text); at >= 0; at = message.indexOf(text, at + 1)) {
            Matcher named = Pattern.compile("rank (\\d+)").matcher(message.substring(0, at));
            int last = -1;
            while (named.find()) {
                last = Integer.parseInt(named.group(1));
            }
            int rank = last;
            assertTrue(
                    rank >= 0 && right.test(rank),
                    () -> "\"" + text + "\" is not the call of rank " + rank + ": " + message);
        }
    }

    /** Sends 9 elements from rank {@code from} to rank 2, which receives 10 elements. */
    private static void message(Ranks ranks, int from) {
        List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> {
            ProcessGroup patient = group.within(Duration.ofSeconds(20));
            if (group.rank() == from) {
                patient.send(new int[9], 2, 0);
                patient.barrier();
            } else if (group.rank() == 2) {
                patient.recv(new int[10], from, 0);
            }
        });
        FerroException failure = Expect.failure(outcomes, 2, Code.MISMATCH);
        Expect.blames(failure, from);
        String message = failure.getMessage();
        Pattern inOrder = Pattern.compile("rank " + from + " sent\\b.*\\b36 bytes.*\\breceive.*\\b40\\b");
        assertTrue(
                inOrder.matcher(message).find(), () -> "need the sent bytes, and then the received bytes: " + message);
    }

    /**
     * Checks that if two of five ranks never call, the messages of the other ranks name these two ranks. No other rank
     * is blamed.
     *
     * @param what call
     */
    @Rule(531)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"collective", "newGroup"})
    default void aTimeoutNamesAllRanksThatNeverCalled(String what) {
        needs(BackendContract.ABORT_ACROSS_RANKS);
        if (what.equals("newGroup")) {
            needs(BackendContract.SUBGROUPS);
        }
        CyclicBarrier together = new CyclicBarrier(3);
        List<Throwable> outcomes = outcomes(5, group -> {
            if (group.rank() % 2 == 0) {
                together.await(10, TimeUnit.SECONDS);
                // from 1 s on, ranks are asked early enough that a slow thread does not count as silent
                ProcessGroup hasty = group.within(Duration.ofSeconds(1));
                if (what.equals("newGroup")) {
                    hasty.newGroup(4, 3, 2, 1, 0);
                } else {
                    hasty.allReduce(new float[1000], ReduceOp.SUM);
                }
            }
        });
        for (FerroException failure : Expect.failures(outcomes, rank -> rank % 2 == 0, Code.TIMED_OUT, Code.ABORTED)) {
            assertEquals(Set.of(1, 3), failure.where().culprits(), () -> "ranks to blame: " + failure);
            String message = failure.getMessage();
            assertTrue(Pattern.compile("ranks 1, ?3\\b").matcher(message).find(), () -> "need ranks 1, 3: " + message);
        }
    }
}
