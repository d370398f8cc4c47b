package ferro.tck;

import ferro.DataType;
import ferro.ReduceOp;

/** Elements as raw bits in a long, sign-extended; the plain arithmetic that a back end is held against. */
final class Numbers {
    private Numbers() {}

    static boolean isFloating(DataType type) {
        return type == DataType.FLOAT32 || type == DataType.FLOAT64;
    }

    /** Keeps the bits that fit, sign-extended, as {@link Operand#bits} returns them. */
    static long narrow(DataType type, long bits) {
        return switch (type.byteSize()) {
            case 1 -> (byte) bits;
            case 2 -> (short) bits;
            case 4 -> (int) bits;
            default -> bits;
        };
    }

    static double toDouble(DataType type, long bits) {
        return switch (type) {
            case FLOAT32 -> Float.intBitsToFloat((int) bits);
            case FLOAT64 -> Double.longBitsToDouble(bits);
            default -> bits;
        };
    }

    /** The nearest element; a fraction is cut for integers, so that marks can be made for every type alike. */
    static long ofDouble(DataType type, double value) {
        return switch (type) {
            case FLOAT32 -> Float.floatToRawIntBits((float) value);
            case FLOAT64 -> Double.doubleToRawLongBits(value);
            default -> narrow(type, (long) value);
        };
    }

    /** Combines integers; they wrap. */
    static long combine(DataType type, ReduceOp op, long left, long right) {
        return switch (op.name()) {
            case "sum" -> narrow(type, left + right);
            case "product" -> narrow(type, left * right);
            case "min" -> compare(type, left, right) <= 0 ? left : right;
            case "max" -> compare(type, left, right) >= 0 ? left : right;
            default ->
                throw new IllegalArgumentException("the kit has no plain loop for " + op + " of " + type.label());
        };
    }

    /** Combines floating-point numbers, in double. */
    static double combine(ReduceOp op, double left, double right) {
        return switch (op.name()) {
            case "sum", "avg" -> left + right;
            case "product" -> left * right;
            case "min" -> Math.min(left, right);
            case "max" -> Math.max(left, right);
            default -> throw new IllegalArgumentException("the kit has no plain loop for " + op + " of floats");
        };
    }

    static String show(DataType type, long bits) {
        return isFloating(type) ? Double.toString(toDouble(type, bits)) : Long.toString(bits);
    }

    private static int compare(DataType type, long left, long right) {
        boolean unsigned = type == DataType.UINT8 || type == DataType.UINT32 || type == DataType.UINT64;
        // sign extension keeps the order of unsigned numbers when compared as unsigned 64-bit ones
        return unsigned ? Long.compareUnsigned(left, right) : Long.compare(left, right);
    }
}
