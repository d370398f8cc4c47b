package ferro.collectives.engine.progress;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Tells virtual threads from others, for code that also runs on a JDK without them. */
final class VirtualThreads {
    private static final MethodHandle IS_VIRTUAL = isVirtual();

    private VirtualThreads() {}

    /** Returns whether this thread releases its carrier to other threads while it is parked, and only then. */
    static boolean isCurrent() {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable undeclared) {
            throw new IllegalStateException(
                    "Thread.isVirtual of JDK " + Runtime.version() + " threw an exception: report this as a bug",
                    undeclared);
        }
    }

    private static MethodHandle isVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException before21) {
            return null;
        }
    }
}
