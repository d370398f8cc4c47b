package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The inputs of every rank and the expected results, which a plain loop computes.
 *
 * <p>No element is an identity of an op. At every index, the results of SUM, PRODUCT, MIN, MAX and AVG differ from each
 * other. SUM, PRODUCT and AVG also differ from the input of every rank. SUM and PRODUCT change if any rank is left out.
 * All differences are larger than rounding errors. A search finds values with the required properties. Signed types
 * have elements of both signs, so that MIN and MAX need a signed comparison. For unsigned types the highest bits differ
 * at every index, so that MIN and MAX need an unsigned comparison.
 *
 * <p>For a signed integer type, one of four adjacent indices has a negative sum that the world size does not divide.
 * The average at this index distinguishes rounding toward zero from rounding down. For any integer type, two of four
 * adjacent indices have sums that the type cannot represent. For a signed type, one of the two sums is positive and the
 * other sum is negative.
 */
public final class ReferenceOracle implements Oracle {
    /**
     * Number of indices after which inputs repeat. The number is a prime, so that chunk and segment borders fall on
     * different inputs.
     */
    static final int PERIOD = 61;

    private static final int TRIALS = 10_000;

    /** Number of indices after which marks repeat. */
    private static final int MARKS = 251;

    private final DataType type;
    private final int worldSize;
    private final long[][] inputs = new long[PERIOD][];
    private final Map<RankReduction, ExpectedElements.ExpectedElement> rights = new ConcurrentHashMap<>();

    /** A reduction of the operands of some ranks. */
    private record RankReduction(CallFactory.RankSpan ranks, ReduceOp op) {}

    /** Creates the operands of one type for each rank, and the expected results. */
    public ReferenceOracle(DataType type, int worldSize) {
        this.type = type;
        this.worldSize = worldSize;
        for (int index = 0; index < PERIOD; index++) {
            inputs[index] = search(index);
        }
    }

    /** Returns one element of a rank's input to a reduction. */
    long input(int rank, int index) {
        return inputs[index % PERIOD][rank];
    }

    /**
     * Returns one element of a rank's input to a collective that only moves data. The element differs between ranks and
     * between adjacent indices.
     */
    public long mark(int rank, int index) {
        int number = 11 + rank * 37 + index % MARKS * 5;
        // for a 16-bit float the mark gives the bits, because not all marks fit as numbers
        boolean real = ReferenceMath.isFloating(type) && !ReferenceMath.isHalf(type);
        return real ? ReferenceMath.ofDouble(type, number * 0.5) : ReferenceMath.narrow(type, number);
    }

    /** Returns the inputs of a rank to a reduction of {@code count} elements. */
    long[] inputs(int rank, int count) {
        return repeated(PERIOD, count, index -> input(rank, index));
    }

    /** Returns {@code count} marks of a rank, from an index on. */
    long[] marks(int rank, int from, int count) {
        return repeated(MARKS, count, index -> mark(rank, from + index));
    }

    private static long[] repeated(int period, int count, IntToLongFunction byIndex) {
        long[] all = new long[count];
        for (int index = 0; index < Math.min(period, count); index++) {
            all[index] = byIndex.applyAsLong(index);
        }
        for (int done = period; done < count; done *= 2) {
            System.arraycopy(all, 0, all, done, Math.min(done, count - done));
        }
        return all;
    }

    /** Returns the check of one element of a reduction of the operands of some ranks. */
    ExpectedElements.ExpectedElement right(CallFactory.RankSpan ranks, ReduceOp op) {
        return rights.computeIfAbsent(new RankReduction(ranks, op), this::plainLoop);
    }

    /**
     * Returns the {@link #inputs} of the rank for a reduction, and its {@link #marks} for any other kind of collective.
     */
    @Override
    public long[] elements(CollectiveKind kind, int rank, int from, int count) {
        return kind.combines() ? inputs(rank, count) : marks(rank, from, count);
    }

    @Override
    public ExpectedElements reduced(CallFactory.RankSpan ranks, ReduceOp op, int from, int count) {
        return ranks.isEmpty()
                ? ExpectedElements.exactly(repeated(1, count, index -> ReferenceMath.identity(type, op)))
                : ExpectedElements.repeating(right(ranks, op), PERIOD, from);
    }

    /** Computes the expected results once for every index of the period, because rules check millions of elements. */
    private ExpectedElements.ExpectedElement plainLoop(RankReduction made) {
        ReduceOp op = made.op;
        Stream<long[]> combined =
                Stream.of(inputs).map(operands -> Arrays.copyOfRange(operands, made.ranks.from(), made.ranks.to()));
        if (!ReferenceMath.isFloating(type)) {
            long[] rights =
                    combined.mapToLong(operands -> integer(op, operands, -1)).toArray();
            return (index, found) -> {
                long right = rights[index % PERIOD];
                return found == right
                        ? null
                        : "need " + ReferenceMath.show(type, right) + ", found " + ReferenceMath.show(type, found);
            };
        }
        Approximation[] rights =
                combined.map(operands -> answer(op, operands, -1)).toArray(Approximation[]::new);
        return (index, found) -> {
            Approximation right = rights[index % PERIOD];
            double value = ReferenceMath.toDouble(type, found);
            boolean isClose = Math.abs(value - right.value) <= right.off;
            return isClose ? null : "need " + right.value + ", found " + value;
        };
    }

    /**
     * Returns the largest allowed distance from the result of the plain loop. A sum of n elements has n - 1 roundings.
     * An average that first multiplies by a rounded 1/n, as in NCCL, has two more roundings. In f64 the plain loop has
     * as many roundings as the back end.
     *
     * <p>Source: gamma of n roundings in Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1.
     */
    private double tolerance(ReduceOp op, long[] operands, int leftOut) {
        if (!ReferenceMath.isFloating(type) || op == ReduceOp.MIN || op == ReduceOp.MAX) {
            return 0;
        }
        int roundings = (operands.length + 1) * (type == DataType.FLOAT64 ? 2 : 1);
        double relative = roundings * ReferenceMath.roundoff(type) / (1 - roundings * ReferenceMath.roundoff(type));
        if (op == ReduceOp.PRODUCT) {
            return relative * Math.abs(real(op, operands, leftOut));
        }
        double scale = 0;
        for (long operand : operands) {
            scale += Math.abs(ReferenceMath.toDouble(type, operand));
        }
        return relative * (op == ReduceOp.AVG ? scale / operands.length : scale);
    }

    private long[] search(int index) {
        Random random = new Random(31L * index + worldSize);
        for (int trial = 0; trial < TRIALS; trial++) {
            long[] operands = new long[worldSize];
            for (int rank = 0; rank < worldSize; rank++) {
                operands[rank] =
                        ReferenceMath.isFloating(type) ? draw(random) : integer(random, rank, SumProperty.of(index));
            }
            if (distinguishes(operands) && isAsSought(operands, SumProperty.of(index))) {
                return operands;
            }
        }
        throw new IllegalStateException("no values distinguish the ops of " + type.label() + " at world size "
                + worldSize + ", index " + index + ": widen the range of random numbers");
    }

    private long draw(Random random) {
        // for a half, the distance from 1 exceeds the rounding of bf16, and the product of eight is below 65504, the
        // maximum of f16
        double size = ReferenceMath.isHalf(type)
                ? 1.375 + random.nextInt(256) / 128.0
                : 1.5 + random.nextInt(48_000) / 1024.0 / 3.0;
        return ReferenceMath.ofDouble(type, random.nextInt(4) == 0 ? -size : size);
    }

    /** The property that the sum of integers at an index must have. */
    private enum SumProperty {
        /** A sum below zero that is not a multiple of the world size. */
        NEGATIVE,
        /** A sum above the range of the type. */
        ABOVE,
        /** A sum without a required property. */
        ANY,
        /** A sum below the range of a signed type, or above the range of an unsigned type. */
        BELOW;

        static SumProperty of(int index) {
            return values()[index % values().length];
        }
    }

    /**
     * Returns a random odd number, so that wrapped products do not become zero. One rank may have an even number,
     * because the average of two odd numbers has no fraction.
     */
    private long integer(Random random, int rank, SumProperty sought) {
        boolean large = sought == SumProperty.ABOVE || sought == SumProperty.BELOW;
        // large elements are in the upper half of the range of a signed element
        long quarter = 1L << Byte.SIZE * type.byteSize() - 2;
        long size = large ? quarter + (random.nextLong() & quarter - 1 | 1) : 3 + 2L * random.nextInt(24);
        boolean even = rank == 0 && (sought == SumProperty.NEGATIVE || sought == SumProperty.BELOW);
        int negativeOfEight =
                ReferenceMath.isUnsigned(type) ? 4 : List.of(6, 1, 2, 7).get(sought.ordinal());
        long element = even ? size - 1 : size;
        return ReferenceMath.narrow(type, random.nextInt(8) < negativeOfEight ? -element : element);
    }

    private boolean isAsSought(long[] operands, SumProperty sought) {
        if (worldSize == 1 || ReferenceMath.isFloating(type) || sought == SumProperty.ANY) {
            return true;
        }
        BigInteger sum = ReferenceMath.exactSum(type, operands);
        boolean fits = ReferenceMath.exact(type, ReferenceMath.narrow(type, sum.longValue()))
                .equals(sum);
        if (ReferenceMath.isUnsigned(type)) {
            return sought == SumProperty.NEGATIVE || !fits;
        }
        boolean leaves = sum.mod(BigInteger.valueOf(worldSize)).signum() != 0;
        return switch (sought) {
            case NEGATIVE -> fits && sum.signum() < 0 && leaves;
            case ABOVE -> !fits && sum.signum() > 0;
            default -> !fits && sum.signum() < 0 && leaves;
        };
    }

    private boolean distinguishes(long[] operands) {
        if (worldSize == 1) {
            return true;
        }
        for (int first = 0; first < Cell.OPS.size(); first++) {
            for (int second = 0; second < first; second++) {
                if (same(answer(Cell.OPS.get(first), operands, -1), answer(Cell.OPS.get(second), operands, -1))) {
                    return false;
                }
            }
        }
        return IntStream.range(0, worldSize).noneMatch(rank -> hides(operands, rank))
                && (!ReferenceMath.isUnsigned(type) || signBitsDiffer(operands));
    }

    /** Returns whether a signed comparison would choose other elements than an unsigned comparison. */
    private static boolean signBitsDiffer(long[] operands) {
        long all = operands[0];
        long any = operands[0];
        for (long operand : operands) {
            all &= operand;
            any |= operand;
        }
        return all >= 0 && any < 0;
    }

    /** Returns whether an error in the data of one rank could still give a right result. */
    private boolean hides(long[] operands, int rank) {
        Approximation own = new Approximation(ReferenceMath.toDouble(type, operands[rank]), 0);
        Approximation sum = answer(ReduceOp.SUM, operands, -1);
        Approximation product = answer(ReduceOp.PRODUCT, operands, -1);
        boolean twin = false;
        for (int other = 0; other < rank; other++) {
            twin |= same(own, new Approximation(ReferenceMath.toDouble(type, operands[other]), 0));
        }
        return twin
                || same(own, sum)
                || same(own, product)
                || same(own, answer(ReduceOp.AVG, operands, -1))
                || same(sum, answer(ReduceOp.SUM, operands, rank))
                || same(product, answer(ReduceOp.PRODUCT, operands, rank));
    }

    private Approximation answer(ReduceOp op, long[] operands, int leftOut) {
        double value = ReferenceMath.isFloating(type) ? real(op, operands, leftOut) : integer(op, operands, leftOut);
        return new Approximation(value, tolerance(op, operands, leftOut));
    }

    private long integer(ReduceOp op, long[] operands, int leftOut) {
        if (op == ReduceOp.AVG) {
            return ReferenceMath.average(type, operands);
        }
        int start = leftOut == 0 ? 1 : 0;
        long result = operands[start];
        for (int rank = start + 1; rank < operands.length; rank++) {
            if (rank != leftOut) {
                result = ReferenceMath.combine(type, op, result, operands[rank]);
            }
        }
        return result;
    }

    private double real(ReduceOp op, long[] operands, int leftOut) {
        int start = leftOut == 0 ? 1 : 0;
        double result = ReferenceMath.toDouble(type, operands[start]);
        for (int rank = start + 1; rank < operands.length; rank++) {
            if (rank != leftOut) {
                result = ReferenceMath.combine(op, result, ReferenceMath.toDouble(type, operands[rank]));
            }
        }
        return op == ReduceOp.AVG ? result / operands.length : result;
    }

    private static boolean same(Approximation left, Approximation right) {
        double larger = Math.max(Math.abs(left.value), Math.abs(right.value));
        return Math.abs(left.value - right.value) <= 0.001 * larger + left.off + right.off;
    }

    /** A result and the largest allowed error of the result. */
    private record Approximation(double value, double off) {}
}
