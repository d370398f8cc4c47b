package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** The assertions that several rules share. */
final class RuleChecks {
    /** Time limit until all ranks have received a failure. Ranks usually need much less time. */
    static final Duration AGREED_BY_THEN = Duration.ofSeconds(5);
    /** Maximum time that a listener waits for a failed call to throw. */
    static final Duration HELD_UP_AFTER = Duration.ofSeconds(2);
    /** Time limit for the delivery of an event. */
    static final Duration LONG = Duration.ofSeconds(10);

    /** Biased exponent of 2^-16 in a float. */
    private static final int LEAST_EXPONENT = 127 - 16;

    private RuleChecks() {}

    /**
     * Checks that two arrays of floats are equal. Calls {@code assertArrayEquals} only if the arrays differ, because
     * the loop of {@code assertArrayEquals} takes longer than most collectives.
     */
    static void same(float[] wanted, float[] found, Supplier<String> what) {
        if (!Arrays.equals(wanted, found)) {
            assertArrayEquals(wanted, found, what);
        }
    }

    /** Checks that a rank failed with a {@link FerroException} of one of the codes, and returns the exception. */
    static FerroException failure(List<Throwable> outcomes, int rank, Code... codes) {
        Throwable outcome = outcomes.get(rank);
        assertNotNull(outcome, "rank " + rank + " did not fail, need " + Arrays.toString(codes));
        return failure(outcome, "rank " + rank, codes);
    }

    /** Checks that each of some ranks failed with a {@link FerroException} of one of the codes. */
    static List<FerroException> failures(List<Throwable> outcomes, IntPredicate ranks, Code... codes) {
        return IntStream.range(0, outcomes.size())
                .filter(ranks)
                .mapToObj(rank -> failure(outcomes, rank, codes))
                .toList();
    }

    /** Checks that all ranks have ended without a failure. */
    static void well(List<Throwable> outcomes) {
        for (int rank = 0; rank < outcomes.size(); rank++) {
            if (outcomes.get(rank) != null) {
                throw new AssertionError("rank " + rank + ": " + outcomes.get(rank), outcomes.get(rank));
            }
        }
    }

    /** Checks and returns a {@link FerroException} of one of the codes, with a message and a {@code where()}. */
    static FerroException failure(Throwable outcome, String who, Code... codes) {
        if (!(outcome instanceof FerroException failure)) {
            throw new AssertionError(who + " failed with " + outcome + ", need " + Arrays.toString(codes), outcome);
        }
        if (!List.of(codes).contains(failure.code())) {
            throw new AssertionError(
                    who + " failed with " + failure.code() + ", need " + Arrays.toString(codes) + ": " + failure,
                    failure);
        }
        assertNotNull(failure.where(), who + " failed without a where(): " + failure);
        assertNotNull(failure.getMessage(), who + " failed without a message");
        return failure;
    }

    /** Checks that a failure blames a rank. */
    static void blames(FerroException failure, int culprit) {
        Set<Integer> culprits = failure.where().culprits();
        assertTrue(
                culprits.contains(culprit), () -> "need culprit " + culprit + ", found " + culprits + ": " + failure);
    }

    /** Checks that the message of a failure contains all of the parts. */
    static void says(Throwable failure, String... parts) {
        for (String part : parts) {
            assertTrue(
                    String.valueOf(failure.getMessage()).contains(part),
                    () -> "need \"" + part + "\" in the message: " + failure.getMessage());
        }
    }

    /** Runs a call that must be refused with an exception of a type, whose message contains all of the parts. */
    static void refused(Class<? extends RuntimeException> type, Runnable call, String... parts) {
        says(assertThrows(type, call::run, () -> "need " + Arrays.toString(parts)), parts);
    }

    /** Runs code that must fail with one of the codes, and returns the exception. */
    static FerroException fails(Ranks.RankCode code, ProcessGroup group, Code... codes) {
        try {
            code.run(group);
        } catch (FerroException failure) {
            return failure(failure, "rank " + group.rank(), codes);
        } catch (Exception other) {
            throw new AssertionError("rank " + group.rank() + " failed with " + other, other);
        }
        throw new AssertionError("rank " + group.rank() + " did not fail, need " + Arrays.toString(codes));
    }

    /**
     * Sends a message from rank {@code from} to rank {@code to}, which checks the message. Any other rank does nothing.
     */
    static void passes(ProcessGroup group, int from, int to, int tag, int... data) {
        if (group.rank() == from) {
            group.send(data, to, tag);
        } else if (group.rank() == to) {
            int[] received = new int[data.length];
            group.recv(received, from, tag);
            assertArrayEquals(data, received, () -> "message with tag " + tag + " from rank " + from + " to " + to);
        }
    }

    /** Runs code that must end or fail within a time limit. */
    static void inTime(long limitMillis, String what, Runnable code) {
        long start = System.nanoTime();
        RuntimeException failure = null;
        try {
            code.run();
        } catch (RuntimeException thrown) {
            failure = thrown;
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        if (millis >= limitMillis) {
            throw new AssertionError(what + " took " + millis + " ms", failure);
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Waits for a latch. Fails with the text {@code otherwise} if the latch stays closed. */
    static void opens(CountDownLatch latch, String otherwise) {
        assertTrue(isOpen(latch, Duration.ofSeconds(20)), otherwise);
    }

    /** Waits for a latch. Returns false after the time limit, or after an interrupt. The interrupt stays set. */
    static boolean isOpen(CountDownLatch latch, Duration limit) {
        try {
            return latch.await(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Waits for a condition by polling, because no event signals the condition. */
    static void eventually(String what, Duration limit, BooleanSupplier condition) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(
                    System.nanoTime() - deadline < 0, () -> what + ": not reached within " + limit.toMillis() + " ms");
            LockSupport.parkNanos(500_000);
        }
    }

    /** Runs a task on a new thread, and returns a future that ends with the task. */
    static CompletableFuture<Void> onThread(Runnable task) {
        return CompletableFuture.runAsync(task, command -> {
            Thread thread = new Thread(command, "ferro-tck-other");
            thread.setDaemon(true);
            thread.start();
        });
    }

    /** Returns an array of equal elements. */
    static int[] filled(int length, int value) {
        int[] data = new int[length];
        Arrays.fill(data, value);
        return data;
    }

    /** Returns an array of rising elements. */
    static int[] rising(int length, int first) {
        return IntStream.range(first, first + length).toArray();
    }

    /** Returns the floats 1.5, 2.5 and so on, each multiplied by a factor. */
    static float[] floats(int length, float factor) {
        float[] data = new float[length];
        for (int index = 0; index < length; index++) {
            data[index] = (index % 97 + 1.5f) * factor;
        }
        return data;
    }

    /**
     * Returns positive random floats with 32 different exponents, so that the bits of a sum depend on the order of the
     * floats. Exponentials of normally distributed numbers would take longer to compute than the calls take.
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

    /** Checks with one short all-reduce that a group works. */
    static void works(ProcessGroup group) {
        long[] data = {group.rank() + 3L, 7};
        group.allReduce(data, ReduceOp.SUM);
        long size = group.worldSize();
        assertEquals(size * (size - 1) / 2 + 3 * size, data[0], "sum of rank + 3 over " + size + " ranks");
        assertEquals(7 * size, data[1], "sum of 7 over " + size + " ranks");
    }
}
