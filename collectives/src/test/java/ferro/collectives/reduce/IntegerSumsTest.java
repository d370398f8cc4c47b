package ferro.collectives.reduce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.Memories.Kind;
import ferro.collectives.reduce.Memories.Run;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Held against numbers that have no end. */
class IntegerSumsTest {
    private static final int RANKS = 5;
    private static final int LENGTH = 200;

    @ParameterizedTest
    @EnumSource(names = {"INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"})
    void averagesEqualThoseOfExactSumsRoundedTowardZero(DataType type) {
        for (Kind kind : Kind.values()) {
            Random random = new Random(41);
            long[] sums = new long[IntegerSums.longsPerElement(type) * LENGTH];
            BigInteger[] exact = new BigInteger[LENGTH];
            Arrays.fill(exact, BigInteger.ZERO);
            for (int rank = 0; rank < RANKS; rank++) {
                Run given = Memories.of(type, kind, 3, LENGTH);
                for (int index = 0; index < LENGTH; index++) {
                    given.put(index, element(type, random));
                    exact[index] = exact[index].add(exact(type, given.at(index).longValue()));
                }
                add(sums, tensor(given, LENGTH));
            }
            Run found = Memories.of(type, kind, 3, LENGTH);
            found.put(-1, 77);
            found.put(LENGTH, 78);

            IntegerSums.divide(sums, 0, RANKS, tensor(found, LENGTH));

            for (int index = 0; index < LENGTH; index++) {
                BigInteger average = exact[index].divide(BigInteger.valueOf(RANKS));
                assertEquals(average, exact(type, found.at(index).longValue()), kind + ": average of " + exact[index]);
            }
            assertEquals(77, found.at(-1).intValue(), "the element before the run");
            assertEquals(78, found.at(LENGTH).intValue(), "the element behind the run");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"})
    void aSumOverTheLargestNumberOfRanksDoesNotWrap(DataType type) {
        int ranks = Integer.MAX_VALUE;
        long least = type.label().startsWith("u") ? 0 : -1L << 8 * type.byteSize() - 1;
        for (long element : new long[] {least, ~least}) {
            Run given = Memories.of(type, Kind.ARRAY, 0, 1);
            given.put(0, element);
            long[] sums = new long[2];
            IntegerSums.widen(tensor(given, 1), sums);
            sums[0] = Math.multiplyExact(sums[0], ranks);
            sums[1] = Math.multiplyExact(sums[1], ranks);
            long wanted = given.at(0).longValue();
            given.put(0, 5);

            IntegerSums.divide(sums, 0, ranks, tensor(given, 1));

            assertEquals(wanted, given.at(0).longValue(), type.label());
        }
    }

    @Test
    void aPartOfTheSumsIsDividedFromItsOffset() {
        long[] sums = {-7, 9, -11, 13};
        int[] into = {1, 1, 1, 1};

        IntegerSums.divide(sums, 2, 2, HostTensor.of(into).slice(1, 2));

        assertEquals("[1, -5, 6, 1]", Arrays.toString(into));
    }

    @Test
    void integerSumsServeOnlyAveragesOfIntegers() {
        assertTrue(IntegerSums.serve(DataType.UINT64, ReduceOp.AVG));
        assertFalse(IntegerSums.serve(DataType.INT32, ReduceOp.SUM));
        assertFalse(IntegerSums.serve(DataType.BFLOAT16, ReduceOp.AVG));
        assertFalse(IntegerSums.serve(null, null));
    }

    @Test
    void moreSumsThanFitIntoAnArrayAreRefused() {
        long max = Integer.MAX_VALUE - 8;
        assertEquals(Optional.empty(), IntegerSums.unsupportedBecause(DataType.INT8, max));
        assertEquals(Optional.empty(), IntegerSums.unsupportedBecause(DataType.INT64, max / 2));

        String reason =
                IntegerSums.unsupportedBecause(DataType.INT64, max / 2 + 1).orElseThrow();

        assertTrue(reason.contains("1073741820 elements of i64") && reason.contains("1073741819 elements;"), reason);
        assertTrue(IntegerSums.unsupportedBecause(DataType.INT8, max + 1).isPresent());
    }

    /** The ends of the type, what is beside zero, and anything. */
    private static long element(DataType type, Random random) {
        long least = -1L << 8 * type.byteSize() - 1;
        long[] edges = {least, least + 1, ~least, ~least - 1, -1, 0, 1, random.nextLong(), random.nextLong()};
        return edges[random.nextInt(edges.length)];
    }

    private static void add(long[] sums, HostTensor given) {
        long[] wide = new long[sums.length];
        IntegerSums.widen(given, wide);
        for (int i = 0; i < sums.length; i++) {
            sums[i] += wide[i];
        }
    }

    private static BigInteger exact(DataType type, long bits) {
        BigInteger number = BigInteger.valueOf(bits);
        boolean above = type.label().startsWith("u") && bits < 0;
        return above ? number.add(BigInteger.TWO.pow(8 * type.byteSize())) : number;
    }

    private static HostTensor tensor(Run run, int count) {
        int from = (int) run.offset();
        if (run.memory() instanceof ByteBuffer bytes) {
            ByteBuffer part = bytes.duplicate().order(ByteOrder.nativeOrder());
            return HostTensor.of(
                    run.type(),
                    part.position(from).limit(from + count * run.type().byteSize()));
        } else if (run.memory() instanceof byte[] array) {
            return HostTensor.of(run.type(), array, from, count);
        } else if (run.memory() instanceof short[] array) {
            return HostTensor.of(run.type(), array, from, count);
        } else if (run.memory() instanceof int[] array) {
            return HostTensor.of(run.type(), array, from, count);
        }
        return HostTensor.of(run.type(), (long[]) run.memory(), from, count);
    }
}
