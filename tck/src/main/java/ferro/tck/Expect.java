package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Checks that many rules about failures use. */
final class Expect {
    /** Limit for ranks to learn of each other's failures; far above the time that this needs. */
    static final Duration AGREED_BY_THEN = Duration.ofSeconds(5);
    /** Limit for a call to throw while its listener waits for that. */
    static final Duration HELD_UP_AFTER = Duration.ofSeconds(2);
    /** Limit for an event to be delivered. */
    static final Duration LONG = Duration.ofSeconds(10);

    /** Exponent of 2^-16 in a float. */
    private static final int LEAST_EXPONENT = 127 - 16;

    private Expect() {}

    /** Checks that floats are equal, as {@code assertArrayEquals} does, whose loop costs more than most calls. */
    static void same(float[] wanted, float[] found, Supplier<String> what) {
        if (!Arrays.equals(wanted, found)) {
            assertArrayEquals(wanted, found, what);
        }
    }

    /** Checks that the outcome of a rank is a failure of communication with one of these codes; returns it. */
    static FerroException failure(List<Throwable> outcomes, int rank, Code... codes) {
        Throwable outcome = outcomes.get(rank);
        assertNotNull(outcome, "rank " + rank + " ended well, need " + Arrays.toString(codes));
        return failure(outcome, "rank " + rank, codes);
    }

    /** Checks that all ranks have ended without a failure. */
    static void well(List<Throwable> outcomes) {
        for (int rank = 0; rank < outcomes.size(); rank++) {
            if (outcomes.get(rank) != null) {
                throw new AssertionError("rank " + rank + ": " + outcomes.get(rank), outcomes.get(rank));
            }
        }
    }

    /** Checks that a failure is one of communication with one of these codes, and says where; returns it. */
    static FerroException failure(Throwable outcome, String who, Code... codes) {
        if (!(outcome instanceof FerroException)) {
            throw new AssertionError(who + " failed with " + outcome + ", need " + Arrays.toString(codes), outcome);
        }
        FerroException failure = assertInstanceOf(FerroException.class, outcome);
        if (!List.of(codes).contains(failure.code())) {
            throw new AssertionError(
                    who + " failed with " + failure.code() + ", need " + Arrays.toString(codes) + ": " + failure,
                    failure);
        }
        assertNotNull(failure.where(), who + " failed without saying where: " + failure);
        assertNotNull(failure.getMessage(), who + " failed without a message");
        return failure;
    }

    /** Checks that a failure blames a rank. */
    static void blames(FerroException failure, int culprit) {
        List<String> culprits = List.of(failure.where().culprits().split("\\s*,\\s*"));
        assertTrue(
                culprits.contains(Integer.toString(culprit)),
                () -> "need culprit " + culprit + ", found \"" + failure.where().culprits() + "\": " + failure);
    }

    /** Checks that the message of a failure contains all of these parts. */
    static void says(Throwable failure, String... parts) {
        for (String part : parts) {
            assertTrue(
                    String.valueOf(failure.getMessage()).contains(part),
                    () -> "need \"" + part + "\" in the message: " + failure.getMessage());
        }
    }

    /** Runs code that must fail, and returns the failure of communication. */
    static FerroException fails(Ranks.RankCode code, ProcessGroup group, Code... codes) {
        try {
            code.run(group);
        } catch (FerroException failure) {
            return failure(failure, "rank " + group.rank(), codes);
        } catch (Exception other) {
            throw new AssertionError("rank " + group.rank() + " failed with " + other, other);
        }
        throw new AssertionError("rank " + group.rank() + " ended well, need " + Arrays.toString(codes));
    }

    /** Waits for a condition that no event signals. */
    static void eventually(String what, Duration limit, BooleanSupplier condition) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(
                    System.nanoTime() < deadline, () -> what + " has not come true within " + limit.toMillis() + " ms");
            LockSupport.parkNanos(500_000);
        }
    }

    /** Runs a task on its own thread. */
    static CompletableFuture<Void> onThread(Runnable task) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        Runnable body = () -> {
            try {
                task.run();
                ended.complete(null);
            } catch (Throwable failure) {
                ended.completeExceptionally(failure);
            }
        };
        Thread thread = new Thread(body, "ferro-tck-other");
        thread.setDaemon(true);
        thread.start();
        return ended;
    }

    /** Returns the floats 1.5, 2.5 and so on, times a factor. */
    static float[] floats(int length, float factor) {
        float[] data = new float[length];
        for (int index = 0; index < length; index++) {
            data[index] = (index % 97 + 1.5f) * factor;
        }
        return data;
    }

    /**
     * Returns positive random floats of 32 magnitudes, so that the bits of a sum depend on its order. They cost much less than
     * exponentials of normally distributed numbers, which took longer than the calls.
     */
    static float[] magnitudes(int length, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] data = new float[length];
        for (int index = 0; index < length; index++) {
            int bits = random.nextInt();
            int exponent = LEAST_EXPONENT + (bits >>> 27);
            data[index] = Float.intBitsToFloat(exponent << 23 | bits & 0x7fffff);
        }
        return data;
    }

    /** Checks with one short call that a group works. */
    static void works(ProcessGroup group) {
        long[] data = {group.rank() + 3L, 7};
        group.allReduce(data, ReduceOp.SUM);
        long size = group.worldSize();
        assertEquals(size * (size - 1) / 2 + 3 * size, data[0], "sum of rank + 3 over " + size + " ranks");
        assertEquals(7 * size, data[1], "sum of 7 over " + size + " ranks");
    }
}
