package ferro.collectives.reduce;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Combines blocks of f16 by {@link Float16Loops}, and those that hold an infinity or a NaN by a plain kernel. f16 has too many
 * operations for one loop: see {@link Loops}, also for the handles.
 */
final class VectorFloat16Kernel extends Float16Kernel {
    private final Float16Kernel plain;
    private final float scale;
    private final MethodHandle isSpecial;
    private final MethodHandle combine;
    private final MethodHandle narrow;
    /** Whether the block of f32 is in the order of the loops. */
    private boolean inPairs;

    VectorFloat16Kernel(MethodHandles.Lookup loops, Float16Kernel plain, double scale) {
        super((int) plain.worldSize);
        this.plain = plain;
        this.scale = (float) scale;
        MethodType asking = MethodType.methodType(boolean.class, short[].class, short[].class);
        MethodType combining =
                MethodType.methodType(void.class, short[].class, short[].class, float[].class, float.class);
        MethodType narrowing = MethodType.methodType(void.class, float[].class, short[].class);
        try {
            this.isSpecial = loops.findStatic(loops.lookupClass(), "isSpecial", asking);
            this.combine = loops.findStatic(loops.lookupClass(), "combine", combining);
            this.narrow = loops.findStatic(loops.lookupClass(), "narrow", narrowing);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no loop of that name in " + loops, missing);
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
                combine.invokeExact(left, right, results, scale);
            } else {
                plain.combine(left, right, results, taint);
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
