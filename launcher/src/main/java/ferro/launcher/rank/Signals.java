package ferro.launcher.rank;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reports signals sent to this process.
 *
 * <p>It uses reflection, because the compiler warns of every mention of {@code sun.misc.Signal} and warnings are errors in
 * this build. If the class is missing, or if the JVM keeps a signal for itself, the signal ends the launcher, and the
 * leashes end the ranks.
 */
final class Signals {
    private static final List<String> FORWARDED = List.of("INT", "TERM", "HUP");

    private Signals() {}

    static void onEach(Consumer<String> listener) {
        for (String name : FORWARDED) {
            try {
                listen(name, listener);
            } catch (ReflectiveOperationException kept) {
                // missing, or kept by the JVM: the signal keeps its default, which ends the launcher
                continue;
            }
        }
    }

    private static void listen(String name, Consumer<String> listener) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        Object told = Proxy.newProxyInstance(
                Signals.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                    listener.accept(name);
                    return null;
                });
        signal.getMethod("handle", signal, handler)
                .invoke(null, signal.getConstructor(String.class).newInstance(name), told);
    }
}
