package ferro.training;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * A handler of SIGTERM that replaces the handler of the JVM.
 *
 * <p>This class uses reflection, because the compiler warns about every mention of {@code sun.misc.Signal}, and
 * warnings are errors in this build. {@code sun.misc.Signal} is in the supported part of {@code jdk.unsupported}, and
 * no JDK since 17 prints a warning when it is used.
 */
final class TerminationHandler {
    private static final String NAME = "TERM";

    /** The previous handler of the signal. */
    private final Object before;

    private TerminationHandler(Object before) {
        this.before = before;
    }

    static TerminationHandler taken(Runnable listener) {
        try {
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object handlerProxy = Proxy.newProxyInstance(
                    TerminationHandler.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                        listener.run();
                        return null;
                    });
            return new TerminationHandler(handle(handlerProxy));
        } catch (InvocationTargetException kept) {
            throw new UnsupportedOperationException(
                    "this JVM does not allow another handler of SIG" + NAME + ": "
                            + kept.getCause().getMessage(),
                    kept.getCause());
        } catch (ReflectiveOperationException missing) {
            throw new UnsupportedOperationException("this JVM has no " + missing.getMessage(), missing);
        }
    }

    private static Object handle(Object handler) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Object term = signal.getConstructor(String.class).newInstance(NAME);
        return signal.getMethod("handle", signal, Class.forName("sun.misc.SignalHandler"))
                .invoke(null, term, handler);
    }

    /** Restores the previous handler. */
    void giveBack() {
        try {
            handle(before);
        } catch (ReflectiveOperationException kept) {
            throw new IllegalStateException("cannot restore the previous handler of SIG" + NAME, kept);
        }
    }
}
