package ferro.group;

import ferro.spi.Deadlines;
import ferro.spi.ExitTask;
import ferro.spi.ExitTask.JvmExit;
import ferro.spi.ExitTask.Stage;
import ferro.spi.LogLines;
import ferro.spi.RankContext;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tasks that one context runs when its JVM exits. The tasks share one shutdown hook, because the JVM runs hooks in
 * no order. The hook is registered only while there are tasks. Thread-safe.
 */
final class ExitTasks {
    private static final System.Logger LOG = LogLines.logger("ferro.group");
    private static final Duration BOUND = Duration.ofSeconds(5);
    /** The JDK handles a signal on a thread of this name, which stays until the hooks are done. */
    private static final String SIGNAL_THREAD = "(SIG[A-Z0-9]+) handler";

    private final RankContext context;
    private final List<OrderedTask> entries = new ArrayList<>();
    private Thread hook;

    private record OrderedTask(Stage stage, ExitTask task) {}

    ExitTasks(RankContext context) {
        this.context = context;
    }

    synchronized ExitTask.Handle add(Stage stage, ExitTask task) {
        OrderedTask entry = new OrderedTask(stage, task);
        entries.add(entry);
        if (hook == null) {
            hook = new Thread(this::run, "ferro-exit");
            try {
                Runtime.getRuntime().addShutdownHook(hook);
            } catch (IllegalStateException ending) {
                LOG.log(Level.DEBUG, "the JVM is already exiting, so its exit tasks do not run", ending);
            }
        }
        return () -> remove(entry);
    }

    private synchronized void remove(OrderedTask entry) {
        // two tasks may be equal, and each is removed once
        entries.removeIf(known -> known == entry);
        if (entries.isEmpty() && hook != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException ending) {
                LOG.log(Level.DEBUG, "the JVM is already exiting, so its shutdown hook stays registered", ending);
            }
            hook = null;
        }
    }

    /** Initialised by the first hook that runs. */
    private static final class Exit {
        /**
         * The signal that ends this JVM; empty if none does. It is found once for all contexts, because the search stops
         * every thread: the exit of 1,000 simulated ranks would take a minute.
         */
        private static final String SIGNAL = signal();

        private Exit() {}
    }

    private void run() {
        String signal = Exit.SIGNAL;
        // a signal ends the job, also one in a debugger
        Duration bound = signal.isEmpty() ? Deadlines.inForce(BOUND, context) : BOUND;
        JvmExit exit = new JvmExit(signal, context.nanoTime() + Deadlines.nanos(bound));
        List<OrderedTask> now;
        synchronized (this) {
            now = new ArrayList<>(entries);
        }
        now.sort(Comparator.comparing(OrderedTask::stage));
        for (OrderedTask entry : now) {
            try {
                entry.task.run(exit);
            } catch (RuntimeException | Error broken) {
                LOG.log(Level.WARNING, "a task at the exit of the JVM failed", broken);
            }
        }
    }

    private static String signal() {
        Pattern handler = Pattern.compile(SIGNAL_THREAD);
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            Matcher matched = handler.matcher(thread.getName());
            if (matched.matches()) {
                return matched.group(1);
            }
        }
        return "";
    }
}
