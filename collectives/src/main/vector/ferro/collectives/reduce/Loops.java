package ferro.collectives.reduce;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The loops of one type and op: static methods of a class that {@link Specialised} has defined. There is one loop per
 * pair of kinds of memory, because a loop that gets both arrays and buffers is fast for neither.
 *
 * <p>The loops are called by method handles that are no constants, so that the JIT compiler compiles each loop as a
 * separate method. Two loops inlined into one caller exceed the compiler's limit of nodes. Above this limit the
 * compiler leaves vectors on the heap, and the loop is ten times slower.
 */
final class Loops {
    private static final MethodType LOOP = MethodType.methodType(boolean.class, LoopOperands.class);

    private final MethodHandle arrays;
    private final MethodHandle arrayAndDirect;
    private final MethodHandle directAndArray;
    private final MethodHandle directs;

    /**
     * The loops of one type and op, by the operands that get the result.
     *
     * @param intoFirst loops that write results into the first operand
     * @param intoBoth  loops that write results into both operands
     */
    record BothWays(Loops intoFirst, Loops intoBoth) {}

    /** Finds the loops of a class. Buffers are passed to the loops as views from {@link Direct}. */
    Loops(MethodHandles.Lookup defined) {
        try {
            Class<?> owner = defined.lookupClass();
            this.arrays = defined.findStatic(owner, "arrays", LOOP);
            this.arrayAndDirect = defined.findStatic(owner, "arrayAndDirect", LOOP);
            this.directAndArray = defined.findStatic(owner, "directAndArray", LOOP);
            this.directs = defined.findStatic(owner, "directs", LOOP);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(defined + " has no loop of type " + LOOP, missing);
        }
    }

    /** Combines full vectors of arrays or views. Returns whether a result is NaN. */
    boolean run(LoopOperands operands) {
        try {
            return (boolean) of(operands.first, operands.second).invokeExact(operands);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable undeclared) {
            throw new IllegalStateException("loop of " + operands.count + " elements", undeclared);
        }
    }

    private MethodHandle of(Object first, Object second) {
        if (first.getClass().isArray()) {
            return second.getClass().isArray() ? arrays : arrayAndDirect;
        }
        return second.getClass().isArray() ? directAndArray : directs;
    }
}
