package ferro.launcher.rank;

import ferro.launcher.input.ExitCode;
import ferro.launcher.input.JobStartException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Forwards signals that this launcher receives to its ranks. Signals that request the end of the job are counted, and
 * are also forwarded to the launchers of other nodes.
 *
 * <p>This class uses reflection, because the compiler warns about each use of {@code sun.misc.Signal}, and this build
 * treats warnings as errors. If {@code sun.misc.Signal} is missing, or if the JVM reserves a signal for itself, the
 * signal ends the launcher, and the guard shells end the ranks.
 */
public final class SignalForwarder {
    /** Signals that request the end of the job. */
    private static final List<String> ENDING = List.of("INT", "TERM", "HUP");

    /**
     * Signals that do not request the end. A program may use these signals in any way. Each POSIX shell has these
     * signals. USR2 and QUIT are not in the list, because the JVM uses them. PROF is not in the list, because profilers
     * of the launcher use PROF.
     */
    private static final List<String> PASSED = List.of("USR1", "ALRM", "VTALRM", "XCPU", "URG");

    /** Signals that suspend and resume the job, such as the signal of ctrl-Z. */
    private static final List<String> JOB_CONTROL = List.of("TSTP", "CONT");

    private BlockingQueue<JobEvent> events;
    private final Consumer<String> early;
    private BiConsumer<String, Integer> onward = (name, times) -> {};
    private boolean ranksStart;
    private String start = "a rank was started";
    private Thread waiting;
    private String last;
    private int times;

    SignalForwarder(BlockingQueue<JobEvent> events, Consumer<String> early) {
        this.events = events;
        this.early = early;
    }

    /**
     * Reports signals of this process as events from now on.
     *
     * @param jobControl whether to handle TSTP and CONT. If true, TSTP and CONT do not suspend this process by
     *     themselves
     * @param first      task that runs at each signal that requests the end, before any other action
     * @param early      receives each other signal that comes before ranks are started
     */
    public static SignalForwarder into(
            BlockingQueue<JobEvent> events, boolean jobControl, Runnable first, Consumer<String> early) {
        SignalForwarder signals = new SignalForwarder(events, early);
        List<String> names = new ArrayList<>(ENDING);
        names.addAll(PASSED);
        names.addAll(jobControl ? JOB_CONTROL : List.of());
        for (String name : names) {
            try {
                listen(name, () -> {
                    if (ends(name)) {
                        first.run();
                    }
                    signals.heard(name);
                });
            } catch (ReflectiveOperationException kept) {
                // the class is missing, or the JVM reserves the signal, which keeps its default: to end the launcher
                continue;
            }
        }
        return signals;
    }

    private static void listen(String name, Runnable listener) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        Object told = Proxy.newProxyInstance(
                SignalForwarder.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                    listener.run();
                    return null;
                });
        signal.getMethod("handle", signal, handler)
                .invoke(null, signal.getConstructor(String.class).newInstance(name), told);
    }

    /** Whether a signal requests the end of the job. */
    static boolean ends(String name) {
        return ENDING.contains(name);
    }

    synchronized void heard(String name) {
        if (ends(name)) {
            asksForTheEnd(name);
        } else if (ranksStart) {
            events.add(new JobEvent.SignalEvent(name));
        } else {
            early.accept(name);
        }
    }

    private void asksForTheEnd(String name) {
        last = name;
        times++;
        if (waiting != null) {
            waiting.interrupt();
        }
        onward.accept(name, times);
        events.add(new JobEvent.StopSignalEvent(name, times));
    }

    /**
     * Begins another generation, whose ranks are not started yet. Signals go to other launchers only after {@link
     * #tell}.
     *
     * @param queue  queue for the events of the generation
     * @param number number of the generation, from 1
     */
    public synchronized void begin(BlockingQueue<JobEvent> queue, int number) {
        events = queue;
        onward = (name, count) -> {};
        ranksStart = false;
        start = "generation " + number + " was started";
    }

    /** Reports signals that do not request the end as events from now on. */
    public synchronized void ranksStart() {
        ranksStart = true;
    }

    /** Lets a signal that requests the end interrupt the calling thread from now on, while no rank runs. */
    public synchronized void interruptMe() {
        waiting = Thread.currentThread();
        if (times > 0) {
            waiting.interrupt();
        }
    }

    /**
     * Waits before ranks are started. A signal that requests the end ends the wait, even a signal that came earlier.
     *
     * @param time time to wait; may be zero
     * @throws InterruptedException if a signal that requests the end ends the wait
     */
    public void holdBack(Duration time) throws InterruptedException {
        interruptMe();
        // a sleep of zero would not detect the interrupt
        if (Thread.interrupted()) {
            throw new InterruptedException(beforeAnyRank().getMessage());
        }
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
    }

    /** Stops the interrupts of {@link #interruptMe}. Called on the same thread. Forwards earlier and later signals. */
    public synchronized void tell(BiConsumer<String, Integer> others) {
        waiting = null;
        // a signal that has just arrived is already an event, so it must not interrupt other code
        Thread.interrupted();
        onward = others;
        for (int told = 1; told <= times; told++) {
            others.accept(last, told);
        }
    }

    /** Returns the reason for the end of launchers by a signal that came before a rank was started. */
    public synchronized JobStartException beforeAnyRank() {
        return new JobStartException(
                "was ended by signal " + last + " before " + start,
                last == null ? ExitCode.FAILED : ExitCode.ofSignal(last));
    }
}
