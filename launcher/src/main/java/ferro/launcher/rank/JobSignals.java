package ferro.launcher.rank;

import ferro.launcher.input.ExitCode;
import ferro.launcher.input.NodesApartException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Passes the signals that this launcher is sent on to its ranks. Signals that ask for the end of the job are counted and
 * passed on to the launchers of other nodes as well.
 *
 * <p>It uses reflection, because the compiler warns of every mention of {@code sun.misc.Signal} and warnings are errors in
 * this build. If the class is missing, or if the JVM keeps a signal for itself, the signal ends the launcher, and the
 * leashes end the ranks.
 */
public final class JobSignals {
    /** Ask the job to end. */
    private static final List<String> ENDING = List.of("INT", "TERM", "HUP");

    /**
     * Ask for no end; a program may do anything at them. Each is known to every POSIX shell. USR2 and QUIT are missing: the
     * JVM uses them itself. PROF is missing: profilers of the launcher use it.
     */
    private static final List<String> PASSED = List.of("USR1", "ALRM", "VTALRM", "XCPU", "URG");

    /** Stop and continue the job, as keys of a terminal do. */
    private static final List<String> JOB_CONTROL = List.of("TSTP", "CONT");

    private BlockingQueue<JobEvent> events;
    private final Consumer<String> early;
    private BiConsumer<String, Integer> onward = (name, times) -> {};
    private boolean ranksStart;
    private String start = "a rank was started";
    private Thread waiting;
    private String last;
    private int times;

    JobSignals(BlockingQueue<JobEvent> events, Consumer<String> early) {
        this.events = events;
        this.early = early;
    }

    /**
     * Reports signals of this process as events until it is closed.
     *
     * @param jobControl whether to listen to TSTP and CONT, which then do not stop this process by themselves
     * @param first      run at each signal that asks for the end, before anybody else hears of it
     * @param early      told of each other signal that comes before ranks are started
     */
    public static JobSignals into(
            BlockingQueue<JobEvent> events, boolean jobControl, Runnable first, Consumer<String> early) {
        JobSignals signals = new JobSignals(events, early);
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
                // missing, or kept by the JVM: the signal keeps its default, which ends the launcher
                continue;
            }
        }
        return signals;
    }

    private static void listen(String name, Runnable listener) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        Object told = Proxy.newProxyInstance(
                JobSignals.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                    listener.run();
                    return null;
                });
        signal.getMethod("handle", signal, handler)
                .invoke(null, signal.getConstructor(String.class).newInstance(name), told);
    }

    /** Whether a signal asks the job to end. */
    static boolean ends(String name) {
        return ENDING.contains(name);
    }

    synchronized void heard(String name) {
        if (ends(name)) {
            asksForTheEnd(name);
        } else if (ranksStart) {
            events.add(new JobEvent.Passed(name));
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
        events.add(new JobEvent.Signalled(name, times));
    }

    /**
     * Begins another generation of ranks, which are not started yet. Launchers of other nodes are not told of signals until
     * {@link #tell}.
     *
     * @param queue  queue for the events of the generation
     * @param number of the generation, from 1
     */
    public synchronized void begin(BlockingQueue<JobEvent> queue, int number) {
        events = queue;
        onward = (name, count) -> {};
        ranksStart = false;
        start = "generation " + number + " was started";
    }

    /** From now on signals that ask for no end are events. */
    public synchronized void ranksStart() {
        ranksStart = true;
    }

    /** Makes a signal that asks for the end interrupt the calling thread from now on: no rank runs yet that could receive it. */
    public synchronized void interruptMe() {
        waiting = Thread.currentThread();
        if (times > 0) {
            waiting.interrupt();
        }
    }

    /**
     * Waits before ranks are started. A signal that asks for the end, also an earlier one, ends the wait.
     *
     * @param time time to wait; may be zero
     * @throws InterruptedException if there is such a signal
     */
    public void holdBack(Duration time) throws InterruptedException {
        interruptMe();
        // a sleep of no time would not look
        if (Thread.interrupted()) {
            throw new InterruptedException(beforeAnyRank().getMessage());
        }
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
    }

    /** Ends this mode, on the same thread. From now on the others are told of signals too, and of those that came before. */
    public synchronized void tell(BiConsumer<String, Integer> others) {
        waiting = null;
        // a signal that came just now is already an event and must not interrupt anything else
        Thread.interrupted();
        onward = others;
        for (int told = 1; told <= times; told++) {
            others.accept(last, told);
        }
    }

    /** Returns the reason with which launchers end if a signal came before a rank was started. */
    public synchronized NodesApartException beforeAnyRank() {
        return new NodesApartException(
                "was ended by signal " + last + " before " + start,
                last == null ? ExitCode.FAILED : ExitCode.ofSignal(last));
    }
}
