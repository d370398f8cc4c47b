package ferro.tck.cells;

import ferro.DataType;
import ferro.ReduceOp;
import java.math.BigInteger;
import java.util.Arrays;

/** Plain arithmetic for comparisons with a back end's results. Elements are raw bits, sign-extended to a long. */
public final class ReferenceMath {
    private ReferenceMath() {}

    /** Returns whether a type is a floating-point type. */
    public static boolean isFloating(DataType type) {
        return type == DataType.FLOAT64 || type == DataType.FLOAT32 || isHalf(type);
    }

    /** Returns whether a type is a floating-point type of 16 bits. */
    public static boolean isHalf(DataType type) {
        return type == DataType.FLOAT16 || type == DataType.BFLOAT16;
    }

    static boolean isUnsigned(DataType type) {
        return switch (type) {
            case UINT8, UINT16, UINT32, UINT64 -> true;
            default -> false;
        };
    }

    /** Returns half the distance between 1 and the next number, which is the largest relative error of one rounding. */
    static double roundoff(DataType type) {
        return switch (type) {
            case FLOAT64 -> 0x1p-53;
            case FLOAT32 -> 0x1p-24;
            default -> Math.scalb(1.0, -1 - halfFractionBits(type));
        };
    }

    /** Returns the lowest bits that fit into a type, sign-extended, as {@link Operand#bits} returns them. */
    public static long narrow(DataType type, long bits) {
        return switch (type.byteSize()) {
            case 1 -> (byte) bits;
            case 2 -> (short) bits;
            case 4 -> (int) bits;
            default -> bits;
        };
    }

    /** Returns the number that the bits of an element represent. */
    public static double toDouble(DataType type, long bits) {
        return switch (type) {
            case FLOAT32 -> Float.intBitsToFloat((int) bits);
            case FLOAT64 -> Double.longBitsToDouble(bits);
            case FLOAT16, BFLOAT16 -> halfToDouble(type, (int) bits);
            default -> bits;
        };
    }

    /** Returns the bits of the nearest element. Integers lose the fraction, so that all types have the same marks. */
    public static long ofDouble(DataType type, double value) {
        return switch (type) {
            case FLOAT32 -> Float.floatToRawIntBits((float) value);
            case FLOAT64 -> Double.doubleToRawLongBits(value);
            case FLOAT16, BFLOAT16 -> halfOfDouble(type, value);
            default -> narrow(type, (long) value);
        };
    }

    /** Returns the value of an integer element. For u64 above 2^63 - 1, the returned value is too small by 2^64. */
    private static long number(DataType type, long bits) {
        return isUnsigned(type) ? bits & -1L >>> Long.SIZE - Byte.SIZE * type.byteSize() : bits;
    }

    /** Returns the exact number of an element of an integer type. */
    static BigInteger exact(DataType type, long bits) {
        BigInteger number = BigInteger.valueOf(number(type, bits));
        return isUnsigned(type) && number.signum() < 0 ? number.add(BigInteger.ONE.shiftLeft(Long.SIZE)) : number;
    }

    /** Returns the exact sum of elements of an integer type, without wrapping. */
    static BigInteger exactSum(DataType type, long[] operands) {
        return Arrays.stream(operands)
                .mapToObj(operand -> exact(type, operand))
                .reduce(BigInteger.ZERO, BigInteger::add);
    }

    /** Returns the average of elements of an integer type, rounded toward zero, from a sum that cannot wrap. */
    static long average(DataType type, long[] operands) {
        if (type.byteSize() == Long.BYTES) {
            BigInteger sum = exactSum(type, operands);
            return narrow(type, sum.divide(BigInteger.valueOf(operands.length)).longValue());
        }
        long sum = Arrays.stream(operands).map(operand -> number(type, operand)).sum();
        return narrow(type, sum / operands.length);
    }

    /** Combines two integers. The result wraps around. */
    public static long combine(DataType type, ReduceOp op, long left, long right) {
        return switch (op.name()) {
            case "sum" -> narrow(type, left + right);
            case "product" -> narrow(type, left * right);
            case "band" -> left & right;
            case "bor" -> left | right;
            case "bxor" -> left ^ right;
            case "min" -> compare(type, left, right) <= 0 ? left : right;
            case "max" -> compare(type, left, right) >= 0 ? left : right;
            default ->
                throw new IllegalArgumentException("the TCK has no plain loop for " + op + " of " + type.label());
        };
    }

    /** Combines two floating-point numbers in double precision. */
    static double combine(ReduceOp op, double left, double right) {
        return switch (op.name()) {
            case "sum", "avg" -> left + right;
            case "product" -> left * right;
            case "min" -> Math.min(left, right);
            case "max" -> Math.max(left, right);
            default -> throw new IllegalArgumentException("the TCK has no plain loop for " + op + " of floats");
        };
    }

    /** Returns the bits of the identity of an op. The identity combined with any number gives the number. */
    public static long identity(DataType type, ReduceOp op) {
        long sign = 1L << Byte.SIZE * type.byteSize() - 1;
        return switch (op.name()) {
            case "sum", "bor", "bxor" -> 0;
            case "product" -> ofDouble(type, 1);
            case "band" -> -1;
            case "min" ->
                isFloating(type)
                        ? ofDouble(type, Double.POSITIVE_INFINITY)
                        : narrow(type, isUnsigned(type) ? -1 : sign - 1);
            case "max" ->
                isFloating(type) ? ofDouble(type, Double.NEGATIVE_INFINITY) : narrow(type, isUnsigned(type) ? 0 : sign);
            default -> throw new IllegalArgumentException("the TCK has no identity of " + op);
        };
    }

    static String show(DataType type, long bits) {
        if (isUnsigned(type)) {
            return Long.toUnsignedString(number(type, bits));
        }
        return isFloating(type) ? Double.toString(toDouble(type, bits)) : Long.toString(bits);
    }

    private static int compare(DataType type, long left, long right) {
        // sign extension keeps the order of unsigned numbers if they are compared as unsigned 64-bit numbers
        return isUnsigned(type) ? Long.compareUnsigned(left, right) : Long.compare(left, right);
    }

    /**
     * Returns the number of fraction bits (IEEE 754-2019, sections 3.4 and 3.6). A bf16 is the upper half of a
     * binary32.
     */
    private static int halfFractionBits(DataType type) {
        return type == DataType.FLOAT16 ? 10 : 7;
    }

    private static int halfBias(DataType type) {
        return type == DataType.FLOAT16 ? 15 : 127;
    }

    private static double halfToDouble(DataType type, int bits) {
        int fractionBits = halfFractionBits(type);
        int bias = halfBias(type);
        int exponent = (bits & 0x7fff) >> fractionBits;
        int fraction = bits & (1 << fractionBits) - 1;
        double magnitude;
        if (exponent > 2 * bias) {
            magnitude = fraction == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else {
            int hidden = exponent == 0 ? 0 : 1 << fractionBits;
            magnitude = Math.scalb((double) (hidden + fraction), Math.max(exponent, 1) - bias - fractionBits);
        }
        return (bits & 0x8000) == 0 ? magnitude : -magnitude;
    }

    /** Returns the bits of the nearest element, ties to even. {@link Math#rint} rounds the units in the last place. */
    private static long halfOfDouble(DataType type, double value) {
        int fractionBits = halfFractionBits(type);
        int bias = halfBias(type);
        int infinity = 2 * bias + 1 << fractionBits;
        if (Double.isNaN(value)) {
            return infinity | 1 << fractionBits - 1;
        }
        int exponent = Math.max(Math.getExponent(value), 1 - bias);
        int magnitude = infinity;
        if (exponent <= bias) {
            double units = Math.rint(Math.scalb(Math.abs(value), fractionBits - exponent));
            // the variable places includes the hidden bit, so the exponent is one less
            magnitude = (exponent + bias - 1 << fractionBits) + (int) units;
        }
        return (short) (Math.copySign(1, value) < 0 ? 0x8000 | magnitude : magnitude);
    }
}
