package ferro.collectives.reduce;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The loops of one type and op: one class of {@link ElementLoops} or {@link HalfLoops} per pair of kinds of memory, because a
 * loop that gets both arrays and buffers is fast for neither. A class is defined when a run first needs it. Thread-safe.
 *
 * <p>The loops are called by method handles that are no constants, so that the JIT compiler compiles each loop as a
 * separate method. Two loops inlined into one caller exceed the compiler's limit of nodes. Above this limit the
 * compiler leaves vectors on the heap, and the loop is ten times slower.
 */
final class Loops {
    private static final MethodType LOOP = MethodType.methodType(boolean.class, LoopOperands.class);

    private final Specialised.Choice choice;
    /** Loops by the kinds of memory of both operands; null until they are needed. */
    private final AtomicReferenceArray<MethodHandle> byMemories = new AtomicReferenceArray<>(4);

    Loops(Specialised.Choice choice) {
        this.choice = choice;
    }

    /** Combines full vectors of arrays or views from {@link Direct}. Returns whether a result is NaN. */
    boolean run(LoopOperands operands) {
        boolean isFirstDirect = !operands.first.getClass().isArray();
        boolean isSecondDirect = !operands.second.getClass().isArray();
        int memories = (isFirstDirect ? 2 : 0) + (isSecondDirect ? 1 : 0);
        MethodHandle loop = byMemories.get(memories);
        if (loop == null) {
            synchronized (byMemories) {
                loop = byMemories.get(memories);
                if (loop == null) {
                    loop = define(choice.of(isFirstDirect, isSecondDirect));
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

    private static MethodHandle define(Specialised.Choice choice) {
        boolean isHalf = choice.type().isFloating() && choice.type().byteSize() == Short.BYTES;
        Lookup defined = Specialised.define(isHalf ? HalfLoops.class : ElementLoops.class, choice);
        try {
            return defined.findStatic(defined.lookupClass(), "run", LOOP);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(defined + " has no loop of type " + LOOP, missing);
        }
    }
}
