package ferro.collectives.reduce;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * A kernel for products of f16. The kernel combines blocks with {@link Float16Loops}. A plain kernel combines the
 * blocks that have an infinity or a NaN. The loops are called by method handles, for the reason that {@link Loops}
 * gives.
 */
final class VectorFloat16Kernel extends Float16Kernel {
    private final Float16Kernel plain;
    private final MethodHandle isSpecial;
    private final MethodHandle multiply;
    private final MethodHandle multiplyBy;
    private final MethodHandle narrow;
    /** Whether the block of f32 is in the order in which {@link Float16Loops} reads and writes pairs. */
    private boolean inPairs;

    /** Makes a kernel from a plain kernel of PRODUCT, or from a plain kernel that multiplies operands. */
    VectorFloat16Kernel(Float16Kernel plain) {
        super((int) plain.worldSize);
        this.plain = plain;
        this.isSpecial = loop("isSpecial", boolean.class, short[].class, short[].class);
        this.multiply = loop("multiply", void.class, short[].class, short[].class, float[].class);
        this.multiplyBy = loop("multiplyBy", void.class, float.class, short[].class, float[].class);
        this.narrow = loop("narrow", void.class, float[].class, short[].class);
    }

    private static MethodHandle loop(String name, Class<?> result, Class<?>... operands) {
        try {
            MethodType type = MethodType.methodType(result, operands);
            return MethodHandles.lookup().findStatic(Float16Loops.class, name, type);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no loop " + name, missing);
        }
    }

    @Override
    float combine(float left, float right) {
        return plain.combine(left, right);
    }

    @Override
    void combine(short[] left, short[] right, float[] results, float[] taint) {
        try {
            inPairs = !(boolean) isSpecial.invokeExact(left, right);
            if (inPairs) {
                multiply.invokeExact(left, right, results);
            } else {
                plain.combine(left, right, results, taint);
            }
        } catch (Throwable failure) {
            throw failed(failure);
        }
    }

    @Override
    void multiply(short[] elements, float by, float[] products) {
        try {
            inPairs = !(boolean) isSpecial.invokeExact(elements, elements);
            if (inPairs) {
                multiplyBy.invokeExact(by, elements, products);
            } else {
                super.multiply(elements, by, products);
            }
        } catch (Throwable failure) {
            throw failed(failure);
        }
    }

    @Override
    void narrow(float[] results, short[] elements) {
        if (!inPairs) {
            super.narrow(results, elements);
            return;
        }
        try {
            narrow.invokeExact(results, elements);
        } catch (Throwable failure) {
            throw failed(failure);
        }
    }

    private static IllegalStateException failed(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return new IllegalStateException("loop of f16 failed", failure);
    }
}
