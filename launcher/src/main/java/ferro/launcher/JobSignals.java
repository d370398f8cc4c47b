package ferro.launcher;

import ferro.launcher.nodes.NodesApartException;
import java.util.concurrent.BlockingQueue;
import java.util.function.BiConsumer;

/** Counts the signals that this launcher is sent, and passes them on: to its ranks, and to the launchers of other nodes. */
final class JobSignals {
    private final BlockingQueue<JobEvent> events;
    private BiConsumer<String, Integer> onward = (name, times) -> {};
    private Thread waiting;
    private String last;
    private int times;

    JobSignals(BlockingQueue<JobEvent> events) {
        this.events = events;
    }

    static JobSignals into(BlockingQueue<JobEvent> events) {
        JobSignals signals = new JobSignals(events);
        Signals.onEach(signals::heard);
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

    /** From now on a signal interrupts the calling thread: no rank runs yet that could be told. */
    synchronized void interruptMe() {
        waiting = Thread.currentThread();
        if (times > 0) {
            waiting.interrupt();
        }
    }

    /** Ends that, on the same thread; others are told, too, also of signals that came before. */
    synchronized void tell(BiConsumer<String, Integer> others) {
        waiting = null;
        // what came just now is an event, and must interrupt nothing else
        Thread.interrupted();
        onward = others;
        for (int told = 1; told <= times; told++) {
            others.accept(last, told);
        }
    }

    /** Returns what launchers end with if a signal came before a rank was started. */
    synchronized NodesApartException beforeAnyRank() {
        return new NodesApartException(
                "was ended by signal " + last + " before a rank was started",
                last == null ? ExitCode.FAILED : ExitCode.ofSignal(last));
    }
}
