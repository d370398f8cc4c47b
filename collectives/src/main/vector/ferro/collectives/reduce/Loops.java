package ferro.collectives.reduce;

import ferro.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicReferenceArray;
import jdk.incubator.vector.VectorOperators;

/**
 * The loops of one type and op. Each pair of kinds of memory has a separate class of {@link ElementLoops} or
 * {@link HalfLoops}, because a loop that gets both arrays and buffers is slow for arrays and for buffers. A class is
 * defined by the first run that needs the class. Thread-safe.
 *
 * <p>Each class is a new hidden class of a template class. The Vector API is fast only if shape and op are constants of
 * a loop. A new class makes shape and op constants without sixty copies of the source, and gives each op a separate
 * profile in the JIT compiler.
 *
 * <p>The loops are called by method handles that are not constants, so that the JIT compiler compiles each loop as a
 * separate method. Two loops inlined into one caller exceed the JIT compiler's limit of nodes. Above the limit of
 * nodes, the JIT compiler leaves vectors on the heap, and the loop is ten times slower.
 */
final class Loops {
    private static final MethodType LOOP = MethodType.methodType(boolean.class, Operands.class);

    private final LoopConstants choice;
    /** Loops by the kinds of memory of both operands. An entry is null until its loop is needed. */
    private final AtomicReferenceArray<MethodHandle> byMemories = new AtomicReferenceArray<>(4);

    /**
     * The constants of one class of a loop.
     *
     * @param type    element type
     * @param op      how elements are combined
     * @param scaling how the result is scaled: DIV or MUL for averages, otherwise null
     * @param multiplies the operands that are multiplied before they are combined
     * @param both    whether the second operand gets the result too
     * @param firstDirect  whether the first operand is a view of a direct buffer
     * @param secondDirect whether the second operand is a view of a direct buffer
     */
    record LoopConstants(
            DataType type,
            VectorOperators.Binary op,
            VectorOperators.Binary scaling,
            PreMulOperands multiplies,
            boolean both,
            boolean firstDirect,
            boolean secondDirect) {
        LoopConstants of(boolean isFirstDirect, boolean isSecondDirect) {
            return new LoopConstants(type, op, scaling, multiplies, both, isFirstDirect, isSecondDirect);
        }

        /** Returns the constants with which the class of a lookup was defined. */
        static LoopConstants of(Lookup lookup) {
            try {
                return MethodHandles.classData(lookup, "_", LoopConstants.class);
            } catch (IllegalAccessException refused) {
                throw new IllegalStateException(lookup + " may not read its own class data", refused);
            }
        }
    }

    /**
     * The operands of one call of a loop. A kernel reuses one object for all calls, so that a call allocates nothing.
     */
    static final class Operands {
        /** The first operand: an array, or a view from {@link DirectVectorAccess}. */
        Object first;

        /** Index of the first element in an array, or of the first byte in a view. */
        long firstAt;

        Object second;
        long secondAt;

        /** Number of elements, a multiple of the elements of a vector. */
        int count;

        /**
         * Number by which sums are divided or multiplied for an average, or by which operands are multiplied before a
         * sum.
         */
        final double scale;

        Operands(double scale) {
            this.scale = scale;
        }
    }

    Loops(LoopConstants choice) {
        this.choice = choice;
    }

    /** Combines full vectors of arrays or views from {@link DirectVectorAccess}. Returns whether a result is NaN. */
    boolean run(Operands operands) {
        boolean isFirstDirect = !operands.first.getClass().isArray();
        boolean isSecondDirect = !operands.second.getClass().isArray();
        int memories = (isFirstDirect ? 2 : 0) + (isSecondDirect ? 1 : 0);
        MethodHandle loop = byMemories.get(memories);
        if (loop == null) {
            synchronized (byMemories) {
                loop = byMemories.get(memories);
                if (loop == null) {
                    loop = define(isFirstDirect, isSecondDirect);
                    byMemories.set(memories, loop);
                }
            }
        }
        try {
            return (boolean) loop.invokeExact(operands);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable undeclared) {
            throw new IllegalStateException("loop of " + operands.count + " elements", undeclared);
        }
    }

    private MethodHandle define(boolean isFirstDirect, boolean isSecondDirect) {
        boolean isHalf = choice.type.isFloating() && choice.type.byteSize() == Short.BYTES;
        Class<?> template = isHalf ? HalfLoops.class : ElementLoops.class;
        LoopConstants constants = choice.of(isFirstDirect, isSecondDirect);
        try (InputStream stream = template.getResourceAsStream(template.getSimpleName() + ".class")) {
            Lookup defined =
                    MethodHandles.lookup().defineHiddenClassWithClassData(stream.readAllBytes(), constants, true);
            return defined.findStatic(defined.lookupClass(), "run", LOOP);
        } catch (ReflectiveOperationException | IOException failure) {
            throw new IllegalStateException("cannot define " + template.getName() + " for " + constants, failure);
        }
    }
}
