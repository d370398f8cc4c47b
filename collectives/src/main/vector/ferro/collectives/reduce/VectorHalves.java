package ferro.collectives.reduce;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;

/** Conversions of f16 by vectors, by handles for the reason that {@link Loops} names. */
final class VectorHalves implements HalfConversion {
    private static final int LANES = ShortVector.SPECIES_PREFERRED.length();

    private final int[] lower = new int[FloatKernel.BLOCK / 2];
    private final MethodHandle widen;
    private final MethodHandle narrowLower;
    private final MethodHandle narrowUpper;

    VectorHalves() {
        MethodType widening = MethodType.methodType(void.class, short[].class, float[].class, int.class);
        MethodType first = MethodType.methodType(void.class, float[].class, int[].class, int.class);
        MethodType second = first.appendParameterTypes(short[].class);
        try {
            this.widen = MethodHandles.lookup().findStatic(Float16Loops.class, "widen", widening);
            this.narrowLower = MethodHandles.lookup().findStatic(Float16Loops.class, "narrowLower", first);
            this.narrowUpper = MethodHandles.lookup().findStatic(Float16Loops.class, "narrowUpper", second);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no loop of that name in " + Float16Loops.class, missing);
        }
        assert IntVector.SPECIES_PREFERRED.length() * 2 == LANES;
    }

    @Override
    public void widen(short[] elements, float[] block, int length) {
        int whole = length & -LANES;
        try {
            widen.invokeExact(elements, block, whole);
        } catch (Throwable failure) {
            throw failed(failure);
        }
        for (int i = whole; i < length; i++) {
            block[i] = HalfFloats.fromFloat16(elements[i]);
        }
    }

    @Override
    public void narrow(float[] block, short[] elements, int length) {
        int whole = length & -LANES;
        try {
            narrowLower.invokeExact(block, lower, whole);
            narrowUpper.invokeExact(block, lower, whole, elements);
        } catch (Throwable failure) {
            throw failed(failure);
        }
        for (int i = whole; i < length; i++) {
            elements[i] = HalfFloats.toFloat16(block[i]);
        }
    }

    private static IllegalStateException failed(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return new IllegalStateException("conversion of f16 failed", failure);
    }
}
