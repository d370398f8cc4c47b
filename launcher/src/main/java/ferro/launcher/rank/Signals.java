package ferro.launcher.rank;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
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
    /** Ask the job to end. */
    private static final List<String> ENDING = List.of("INT", "TERM", "HUP");

    /**
     * Ask for no end; a program may do anything at them. Each is known to every POSIX shell. USR2 and QUIT are missing: the
     * JVM uses them itself. PROF is missing: profilers of the launcher use it.
     */
    private static final List<String> PASSED = List.of("USR1", "ALRM", "VTALRM", "XCPU", "URG");

    /** Stop and continue the job, as keys of a terminal do. */
    private static final List<String> JOB_CONTROL = List.of("TSTP", "CONT");

    private Signals() {}

    /** Whether a signal asks the job to end. */
    static boolean ends(String name) {
        return ENDING.contains(name);
    }

    /**
     * Listens to signals of this process.
     *
     * @param jobControl whether to listen to TSTP and CONT, which then do not stop this process by themselves
     * @param listener   called with the name of each signal, without SIG
     */
    static void onEach(boolean jobControl, Consumer<String> listener) {
        List<String> names = new ArrayList<>(ENDING);
        names.addAll(PASSED);
        names.addAll(jobControl ? JOB_CONTROL : List.of());
        for (String name : names) {
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
