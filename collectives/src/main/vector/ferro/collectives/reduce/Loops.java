package ferro.collectives.reduce;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The loops of one type and op: static methods of a class that {@link Specialised} defined, one per pair of memories, since a
 * loop that meets arrays and buffers is fast for neither.
 *
 * <p>They are called by handles that are no constants, so that the JIT compiler makes each a method of its own. Two of them
 * inlined into one caller exceed its limit of nodes; then it leaves vectors on the heap, and the loop is ten times slower.
 */
final class Loops {
    private static final MethodType LOOP = MethodType.methodType(boolean.class, LoopOperands.class);

    private final MethodHandle arrays;
    private final MethodHandle arrayAndDirect;
    private final MethodHandle directAndArray;
    private final MethodHandle directs;

    /**
     * Loops of one type and op.
     *
     * @param intoFirst writes results into the first operand
     * @param intoBoth  writes them into both
     */
    record BothWays(Loops intoFirst, Loops intoBoth) {}

    /** Takes the loops of a class; buffers come as the views that {@link Direct} makes. */
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

    /** Combines whole vectors of arrays or views; returns whether a result is NaN. */
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
