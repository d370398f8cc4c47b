package ferro.collectives.reduce;

import ferro.DataType;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.Vector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loop for the element types that vectors support. The class is a template, from which {@link Loops} defines a
 * class for each type, op and pair of memories.
 *
 * <p>A result is NaN if its bits without the sign are above the bits of infinity. The largest of all results without
 * their signs shows whether a full run has a NaN. Computing the largest result costs two instructions per vector. A
 * mask per vector costs more, and some JDKs allocate masks on the heap.
 *
 * <p>A quotient of an f64 number s by a number n is computed as {@code fma(s, high, s * low)}. In this formula,
 * {@code high} is 1 / n truncated to f64, and {@code low} is the remainder. The result has the bits of a division. The
 * relative error of {@code high + low} is at most 2^-104. A quotient by an integer below 2^31 is never in the middle
 * between two neighbouring numbers. The relative distance of a quotient from the middle between two numbers is at least
 * 2^-85. Zeros, infinities and NaNs are correct too, because {@code low} is positive. If {@code s * low} may be
 * subnormal, the loop stops, and a plain kernel does the rest. A division instruction would take ten cycles per vector.
 * When the data is in the caches, no wait for memory hides these cycles.
 */
final class ElementLoops {
    private static final Loops.LoopConstants CHOICE = Loops.LoopConstants.of(MethodHandles.lookup());
    private static final VectorOperators.Binary OP = CHOICE.op();
    private static final VectorOperators.Binary SCALING = CHOICE.scaling();
    private static final PreMulOperands MULTIPLIES = CHOICE.multiplies();
    /**
     * Whether a quotient is computed as a corrected product with the reciprocal. If so, the scale is the upper part of
     * the reciprocal.
     */
    private static final boolean CORRECTED = SCALING == VectorOperators.DIV && CHOICE.type() == DataType.FLOAT64;

    /**
     * The number that is added to the bits of a magnitude, so that the magnitude 0 becomes the largest value and the
     * next magnitude the smallest.
     */
    private static final long ABOVE_ZERO = Long.MIN_VALUE - 1;

    /**
     * Magnitude, raised by {@link #ABOVE_ZERO}, below which a product with the lower part of a reciprocal may be
     * subnormal.
     */
    private static final long SMALL = Double.doubleToRawLongBits(0x1p-900) + ABOVE_ZERO;

    private static final boolean COPIES = MULTIPLIES == PreMulOperands.COPY;
    private static final boolean BOTH = CHOICE.both();
    private static final boolean FIRST_DIRECT = CHOICE.firstDirect();
    private static final boolean SECOND_DIRECT = CHOICE.secondDirect();
    private static final Class<?> ELEMENT = CHOICE.type().carrier().elementClass();
    /**
     * Mask that flips the sign bit of unsigned elements, so that a signed comparison orders them; 0 if no bit is
     * flipped.
     */
    private static final long FLIP = flipOf(CHOICE);

    private static final VectorSpecies<?> SPECIES = VectorSpecies.of(ELEMENT, VectorShape.preferredShape());
    private static final int LANES = SPECIES.length();
    private static final int BYTES = SPECIES.elementSize() / Byte.SIZE;
    /** Whether the loop checks the results for NaNs. */
    private static final boolean TRACKS_NAN = !COPIES && (ELEMENT == float.class || ELEMENT == double.class);

    private static final long INFINITY = ELEMENT == float.class
            ? Float.floatToRawIntBits(Float.POSITIVE_INFINITY)
            : Double.doubleToRawLongBits(Double.POSITIVE_INFINITY);
    private static final long MAGNITUDE = ELEMENT == float.class ? Integer.MAX_VALUE : Long.MAX_VALUE;

    private ElementLoops() {}

    /** Combines full vectors. Returns whether a result is NaN or the loop has stopped. */
    static boolean run(Loops.Operands operands) {
        Object first = operands.first;
        Object second = operands.second;
        // the index of an array is an int, so that the JIT compiler can check it once per run
        int at = FIRST_DIRECT ? 0 : Math.toIntExact(operands.firstAt);
        int from = SECOND_DIRECT ? 0 : Math.toIntExact(operands.secondAt);
        long firstAt = operands.firstAt;
        long secondAt = operands.secondAt;
        int count = operands.count;
        Vector<?> scale = scale(operands);
        Vector<?> low = low(operands);
        Vector<?> largest = SPECIES.zero().viewAsIntegralLanes();
        for (int i = 0; i < count; i += LANES) {
            long step = (long) i * BYTES;
            Vector<?> left = FIRST_DIRECT
                    ? DirectVectorAccess.load(SPECIES, first, firstAt + step)
                    : SPECIES.fromArray(first, at + i);
            Vector<?> right = SECOND_DIRECT
                    ? DirectVectorAccess.load(SPECIES, second, secondAt + step)
                    : SPECIES.fromArray(second, from + i);
            Vector<?> result = combine(left, right, scale);
            largest = larger(largest, result);
            if (CORRECTED) {
                if (isSmall(result)) {
                    return stopped(operands, i);
                }
                result = quotient(result, scale, low);
            }
            if (FIRST_DIRECT) {
                DirectVectorAccess.store(result, first, firstAt + step);
            } else {
                put(result, first, at + i);
            }
            if (BOTH) {
                if (SECOND_DIRECT) {
                    DirectVectorAccess.store(result, second, secondAt + step);
                } else {
                    put(result, second, from + i);
                }
            }
        }
        return holdsNaN(largest);
    }

    @SuppressWarnings("unchecked")
    private static Vector<?> combine(Vector<?> left, Vector<?> right, Vector<?> scale) {
        Vector<Object> a = (Vector<Object>) left;
        Vector<Object> b = (Vector<Object>) right;
        if (MULTIPLIES != PreMulOperands.NEITHER) {
            return sum(a, b, (Vector<Object>) scale);
        }
        if (SCALING != null && !CORRECTED) {
            return a.lanewise(OP, b).lanewise(SCALING, (Vector<Object>) scale);
        }
        if (FLIP == 0) {
            return a.lanewise(OP, b);
        }
        return a.lanewise(VectorOperators.XOR, FLIP)
                .lanewise(OP, b.lanewise(VectorOperators.XOR, FLIP))
                .lanewise(VectorOperators.XOR, FLIP);
    }

    private static Vector<?> sum(Vector<Object> a, Vector<Object> b, Vector<Object> factor) {
        Vector<Object> first = MULTIPLIES.first() ? a.lanewise(VectorOperators.MUL, factor) : a;
        Vector<Object> second = MULTIPLIES.second() ? b.lanewise(VectorOperators.MUL, factor) : b;
        return COPIES ? second : first.lanewise(OP, second);
    }

    private static Vector<?> scale(Loops.Operands operands) {
        if (ELEMENT == float.class) {
            return FloatVector.broadcast(FloatVector.SPECIES_PREFERRED, (float) operands.scale);
        }
        if (ELEMENT == double.class) {
            double scale = CORRECTED ? high(operands.scale) : operands.scale;
            return DoubleVector.broadcast(DoubleVector.SPECIES_PREFERRED, scale);
        }
        if (MULTIPLIES == PreMulOperands.NEITHER) {
            return SPECIES.zero();
        }
        // the lower bits of a product depend on the lower bits of its factors alone
        int dropped = Long.SIZE - SPECIES.elementSize();
        return SPECIES.broadcast((long) operands.scale << dropped >> dropped);
    }

    /** Returns 1 / n truncated to f64. */
    private static double high(double n) {
        double reciprocal = 1 / n;
        return Math.fma(-reciprocal, n, 1) < 0 ? Math.nextDown(reciprocal) : reciprocal;
    }

    /** Returns the remainder of 1 / n that {@link #high} leaves. */
    private static Vector<?> low(Loops.Operands operands) {
        if (!CORRECTED) {
            return SPECIES.zero();
        }
        double low = Math.fma(-high(operands.scale), operands.scale, 1) / operands.scale;
        return DoubleVector.broadcast(DoubleVector.SPECIES_PREFERRED, low);
    }

    /** Returns whether the quotient of a lane may differ from the quotient of a division. */
    @SuppressWarnings("unchecked")
    private static boolean isSmall(Vector<?> sums) {
        Vector<Object> bits = (Vector<Object>) sums.viewAsIntegralLanes();
        return bits.lanewise(VectorOperators.AND, MAGNITUDE)
                .lanewise(VectorOperators.ADD, ABOVE_ZERO)
                .compare(VectorOperators.LT, SMALL)
                .anyTrue();
    }

    @SuppressWarnings("unchecked")
    private static Vector<?> quotient(Vector<?> sums, Vector<?> high, Vector<?> low) {
        Vector<Object> sum = (Vector<Object>) sums;
        Vector<Object> small = sum.lanewise(VectorOperators.MUL, (Vector<Object>) low);
        return sum.lanewise(VectorOperators.FMA, (Vector<Object>) high, small);
    }

    /** Ends a loop before a vector that the loop has not written yet. */
    private static boolean stopped(Loops.Operands operands, int at) {
        operands.count = at;
        return true;
    }

    @SuppressWarnings("unchecked")
    private static Vector<?> larger(Vector<?> largest, Vector<?> result) {
        if (!TRACKS_NAN) {
            return largest;
        }
        Vector<Object> magnitude =
                (Vector<Object>) result.viewAsIntegralLanes().lanewise(VectorOperators.AND, MAGNITUDE);
        return ((Vector<Object>) largest).lanewise(VectorOperators.MAX, magnitude);
    }

    private static boolean holdsNaN(Vector<?> largest) {
        return TRACKS_NAN && largest.compare(VectorOperators.GT, INFINITY).anyTrue();
    }

    private static long flipOf(Loops.LoopConstants choice) {
        boolean ordered = choice.op() == VectorOperators.MIN || choice.op() == VectorOperators.MAX;
        // the lowest number with so many bits
        long sign = -1L << Byte.SIZE * choice.type().byteSize() - 1;
        return ordered && choice.type().isUnsigned() ? sign : 0;
    }

    private static void put(Vector<?> vector, Object array, int at) {
        if (ELEMENT == float.class) {
            ((FloatVector) vector).intoArray((float[]) array, at);
        } else if (ELEMENT == double.class) {
            ((DoubleVector) vector).intoArray((double[]) array, at);
        } else if (ELEMENT == int.class) {
            ((IntVector) vector).intoArray((int[]) array, at);
        } else if (ELEMENT == long.class) {
            ((LongVector) vector).intoArray((long[]) array, at);
        } else if (ELEMENT == short.class) {
            ((ShortVector) vector).intoArray((short[]) array, at);
        } else {
            ((ByteVector) vector).intoArray((byte[]) array, at);
        }
    }
}
