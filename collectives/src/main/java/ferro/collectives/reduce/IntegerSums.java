package ferro.collectives.reduce;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.TensorMemory;
import java.util.Optional;

/**
 * Sums of integers, which are added as 64-bit numbers so that no sum overflows. Averages of integers are computed from
 * sums of 64-bit numbers. An element of 8 to 32 bits becomes one number. An element of 64 bits becomes two numbers, one
 * for its upper 32 bits and one for its lower 32 bits. The upper number has the sign if the type is signed. A sum
 * therefore has 31 spare bits, enough for as many ranks as an int can count. Any thread may call the methods.
 */
public final class IntegerSums {
    private static final int HALF = 32;
    private static final long LOWER_HALF = 0xffff_ffffL;
    /** Maximum length of an array. Some JVMs cannot make a longer array. */
    private static final long MAX_LONGS = Integer.MAX_VALUE - 8;

    private IntegerSums() {}

    /**
     * Returns whether a reduction uses sums of 64-bit numbers.
     *
     * @param type element type
     * @param op   reduction, or null
     * @return true for AVG of an integer type
     */
    public static boolean serve(DataType type, ReduceOp op) {
        return op == ReduceOp.AVG && !type.isFloating();
    }

    /**
     * Returns how many 64-bit numbers represent an element.
     *
     * @param type integer type
     * @return 1, or 2 for a type of 64 bits
     */
    public static int longsPerElement(DataType type) {
        return type.byteSize() == Long.BYTES ? 2 : 1;
    }

    /**
     * Returns why elements cannot be averaged in one call.
     *
     * @param type     integer type
     * @param elements number of elements
     * @return empty if an array can hold the sums of all elements
     */
    public static Optional<String> unsupportedBecause(DataType type, long elements) {
        long max = MAX_LONGS / longsPerElement(type);
        return elements <= max
                ? Optional.empty()
                : Optional.of("no avg of " + elements + " elements of " + type.label() + " at once: an array holds the"
                        + " sums of " + max + " elements; average parts of it, or use sum");
    }

    /**
     * Writes the numbers that represent elements.
     *
     * @param given elements of an integer type
     * @param sums  target, filled from index 0
     */
    public static void widen(HostTensor given, long[] sums) {
        DataType type = given.dataType();
        // mask of the bits that remain of a sign-extended element
        long bits = type.isUnsigned() ? -1L >>> Long.SIZE - Byte.SIZE * type.byteSize() : -1;
        // each type has a separate method, because in one method the JIT compiler compiles only the first loop well
        switch (type.carrier()) {
            case BYTE -> ByteKernel.widen(given, bits, sums);
            case SHORT -> ShortKernel.widen(given, bits, sums);
            case INT -> IntKernel.widen(given, bits, sums);
            default -> halve(given, sums);
        }
    }

    private static void halve(HostTensor given, long[] sums) {
        boolean unsigned = given.dataType().isUnsigned();
        int count = Math.toIntExact(given.elementCount());
        long[] array = TensorMemory.memoryAt(given, 0) instanceof long[] longs ? longs : null;
        int from = array == null ? 0 : Math.toIntExact(given.offset());
        for (int i = 0; i < count; i++) {
            long element = array == null ? given.getLong(i) : array[from + i];
            sums[2 * i] = unsigned ? element >>> HALF : element >> HALF;
            sums[2 * i + 1] = element & LOWER_HALF;
        }
    }

    /**
     * Divides sums and rounds each quotient once, toward zero.
     *
     * @param sums  sums of the numbers that {@link #widen} writes
     * @param first index of the number that belongs to the first element
     * @param ranks number of ranks; every sum has one element of each rank
     * @param into  tensor for the averages
     */
    public static void divide(long[] sums, int first, int ranks, HostTensor into) {
        switch (into.dataType().carrier()) {
            case BYTE -> ByteKernel.divide(sums, first, ranks, into);
            case SHORT -> ShortKernel.divide(sums, first, ranks, into);
            case INT -> IntKernel.divide(sums, first, ranks, into);
            default -> divideHalves(sums, first, ranks, into);
        }
    }

    private static void divideHalves(long[] sums, int first, int ranks, HostTensor into) {
        int count = Math.toIntExact(into.elementCount());
        for (int i = 0; i < count; i++) {
            into.setLong(i, quotient(sums[first + 2 * i], sums[first + 2 * i + 1], ranks));
        }
    }

    /** Returns (upper * 2^32 + lower) / divisor, rounded toward zero, by long division with digits of 32 bits. */
    private static long quotient(long upper, long lower, int divisor) {
        long carried = upper + (lower >>> HALF);
        long rest = lower & LOWER_HALF;
        long first = Math.floorDiv(carried, divisor);
        // the remainder is below the divisor, so 63 bits hold it and the next digit
        long left = (carried - first * divisor << HALF) + rest;
        long second = left / divisor;
        boolean cut = left != second * divisor;
        long downward = (first << HALF) + second;
        return carried < 0 && cut ? downward + 1 : downward;
    }
}
