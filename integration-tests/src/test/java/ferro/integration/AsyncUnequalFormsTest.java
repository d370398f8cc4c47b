package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The asynchronous forms with counts against the blocking forms of the same name and arguments. */
@Timeout(120)
class AsyncUnequalFormsTest {
    private static final int RANKS = 3;
    private static final int ROOT = 1;
    /** The second part is empty. */
    private static final long[] COUNTS = {4, 0, 3};

    private static final List<String> KINDS = List.of("allGather", "reduceScatter", "gather", "scatter", "allToAll");

    /** Operand and result of one rank; null where the rank has none. */
    private record Operands(float[] in, float[] out) {
        Tensor input() {
            return in == null ? null : HostTensor.of(in);
        }

        Tensor output() {
            return out == null ? null : HostTensor.of(out);
        }
    }

    @Test
    void everyFormWithCountsHasAnAsynchronousForm() {
        Set<String> started = withCounts(Work.class, "");

        assertEquals(withCounts(void.class, "Async"), started);
        assertEquals(
                KINDS.stream().map(kind -> kind + "Async").collect(Collectors.toSet()),
                started.stream()
                        .map(form -> form.substring(0, form.indexOf('[')))
                        .collect(Collectors.toSet()));
    }

    private static Set<String> withCounts(Class<?> returned, String suffix) {
        return Stream.<Class<?>>iterate(ProcessGroup.class, type -> type != Object.class, Class::getSuperclass)
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(form -> Modifier.isPublic(form.getModifiers()) && !form.isSynthetic())
                .filter(form -> form.getReturnType() == returned)
                .filter(form -> List.of(form.getParameterTypes()).contains(long[].class))
                .filter(form -> form.getParameterTypes()[0] == Tensor.class)
                .map(form -> form.getName() + suffix + Arrays.toString(form.getParameterTypes()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void asynchronousFormsLeaveWhatBlockingFormsLeave(String medium) {
        List<CountDownLatch> started =
                KINDS.stream().map(kind -> new CountDownLatch(1)).toList();
        Ranks.each(medium, RANKS, group -> {
            for (int index = 0; index < KINDS.size(); index++) {
                String kind = KINDS.get(index);
                Operands blocking = operands(kind, group.rank());
                call(group, kind, blocking);

                Operands asynchronous = operands(kind, group.rank());
                if (group.rank() > 0) {
                    await(started.get(index), kind);
                }
                Work work = start(group, kind, asynchronous);
                // the other ranks begin only now: a form that waited for them would never return
                started.get(index).countDown();
                work.await();

                assertTrue(work.isDone(), kind);
                String where = kind + " on rank " + group.rank() + " over " + medium;
                assertArrayEquals(blocking.out(), asynchronous.out(), where);
                assertArrayEquals(blocking.in(), asynchronous.in(), where);
                assertResult(kind, group.rank(), asynchronous.out(), where);
            }
        });
    }

    private static void await(CountDownLatch started, String kind) {
        try {
            assertTrue(started.await(60, TimeUnit.SECONDS), () -> kind + " on rank 0 has not returned");
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted before " + kind, interrupted);
        }
    }

    private static void call(ProcessGroup group, String kind, Operands data) {
        switch (kind) {
            case "allGather" -> group.allGather(data.input(), data.output(), COUNTS);
            case "reduceScatter" -> group.reduceScatter(data.input(), data.output(), ReduceOp.SUM, COUNTS);
            case "gather" -> group.gather(data.input(), data.output(), ROOT, COUNTS);
            case "scatter" -> group.scatter(data.input(), data.output(), ROOT, COUNTS);
            default -> group.allToAll(data.input(), data.output(), sends(group.rank()), receives(group.rank()));
        }
    }

    private static Work start(ProcessGroup group, String kind, Operands data) {
        return switch (kind) {
            case "allGather" -> group.allGatherAsync(data.input(), data.output(), COUNTS);
            case "reduceScatter" -> group.reduceScatterAsync(data.input(), data.output(), ReduceOp.SUM, COUNTS);
            case "gather" -> group.gatherAsync(data.input(), data.output(), ROOT, COUNTS);
            case "scatter" -> group.scatterAsync(data.input(), data.output(), ROOT, COUNTS);
            default -> group.allToAllAsync(data.input(), data.output(), sends(group.rank()), receives(group.rank()));
        };
    }

    /** Returns how many elements a rank sends to another rank. A rank sends none to itself. */
    private static long length(int from, int to) {
        return from == to ? 0 : 2L * from + to + 1;
    }

    private static long[] sends(int rank) {
        return LongStream.range(0, RANKS).map(to -> length(rank, (int) to)).toArray();
    }

    private static long[] receives(int rank) {
        return LongStream.range(0, RANKS).map(from -> length((int) from, rank)).toArray();
    }

    private static Operands operands(String kind, int rank) {
        int all = (int) sum(COUNTS);
        int own = (int) COUNTS[rank];
        return switch (kind) {
            case "allGather" -> new Operands(marked(own, rank), new float[all]);
            case "reduceScatter" -> new Operands(marked(all, rank), new float[own]);
            case "gather" -> new Operands(marked(own, rank), rank == ROOT ? new float[all] : null);
            case "scatter" -> new Operands(rank == ROOT ? marked(all, rank) : null, new float[own]);
            default -> new Operands(marked((int) sum(sends(rank)), rank), new float[(int) sum(receives(rank))]);
        };
    }

    private static long sum(long[] counts) {
        return LongStream.of(counts).sum();
    }

    /** Returns elements that are neither 0 nor 1, and that differ by rank and by index. */
    private static float[] marked(int length, int rank) {
        float[] elements = new float[length];
        for (int i = 0; i < length; i++) {
            elements[i] = 100 * (rank + 2) + i;
        }
        return elements;
    }

    private static void assertResult(String kind, int rank, float[] found, String where) {
        int begin = (int) LongStream.of(COUNTS).limit(rank).sum();
        float[] need = switch (kind) {
            case "allGather" -> gathered();
            case "gather" -> rank == ROOT ? gathered() : null;
            case "reduceScatter" -> {
                float[] sums = new float[(int) COUNTS[rank]];
                for (int i = 0; i < sums.length; i++) {
                    sums[i] = 100 * (2 + 3 + 4) + RANKS * (begin + i);
                }
                yield sums;
            }
            case "scatter" -> Arrays.copyOfRange(marked((int) sum(COUNTS), ROOT), begin, begin + (int) COUNTS[rank]);
            default -> exchanged(rank);
        };
        assertArrayEquals(need, found, where);
    }

    private static float[] gathered() {
        float[] all = new float[(int) sum(COUNTS)];
        int at = 0;
        for (int from = 0; from < RANKS; from++) {
            System.arraycopy(marked((int) COUNTS[from], from), 0, all, at, (int) COUNTS[from]);
            at += (int) COUNTS[from];
        }
        return all;
    }

    private static float[] exchanged(int rank) {
        float[] all = new float[(int) sum(receives(rank))];
        int at = 0;
        for (int from = 0; from < RANKS; from++) {
            int length = (int) length(from, rank);
            int begin = (int) LongStream.of(sends(from)).limit(rank).sum();
            System.arraycopy(marked((int) sum(sends(from)), from), begin, all, at, length);
            at += length;
        }
        return all;
    }
}
