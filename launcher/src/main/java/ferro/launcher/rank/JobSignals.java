package ferro.launcher.rank;

import ferro.launcher.input.ExitCode;
import ferro.launcher.nodes.NodesApartException;
import java.util.concurrent.BlockingQueue;
import java.util.function.BiConsumer;

/** Counts the signals that this launcher is sent, and passes them on to its ranks and to the launchers of other nodes. */
public final class JobSignals {
    private final BlockingQueue<JobEvent> events;
    private BiConsumer<String, Integer> onward = (name, times) -> {};
    private Thread waiting;
    private String last;
    private int times;

    JobSignals(BlockingQueue<JobEvent> events) {
        this.events = events;
    }

    /**
     * Reports signals of this process as events until it is closed.
     *
     * @param first run at each signal, before anybody hears of it
     */
    public static JobSignals into(BlockingQueue<JobEvent> events, Runnable first) {
        JobSignals signals = new JobSignals(events);
        Signals.onEach(name -> {
            first.run();
            signals.heard(name);
        });
        return signals;
    }

    synchronized void heard(String name) {
        last = name;
        times++;
        if (waiting != null) {
            waiting.interrupt();
        }
        onward.accept(name, times);
        events.add(new JobEvent.Signalled(name, times));
    }

    /** Makes a signal interrupt the calling thread from now on: no rank runs yet that could receive it. */
    public synchronized void interruptMe() {
        waiting = Thread.currentThread();
        if (times > 0) {
            waiting.interrupt();
        }
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
                "was ended by signal " + last + " before a rank was started",
                last == null ? ExitCode.FAILED : ExitCode.ofSignal(last));
    }
}
