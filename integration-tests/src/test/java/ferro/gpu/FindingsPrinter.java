package ferro.gpu;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Prints the findings of a part, each as one line of a Markdown list. A check that throws or hangs also gives a line. */
final class FindingsPrinter {
    /** Prefix of lines of failed checks; {@link GpuReport} counts them. */
    static final String FAIL = "- FAIL ";

    static final String PASS = "- PASS ";
    static final String SKIP = "- SKIP ";

    private static final Duration PATIENCE = Duration.ofSeconds(45);

    private final PrintStream out;

    FindingsPrinter(PrintStream out) {
        this.out = out;
    }

    /** This machine cannot run the check, which is not a fault of ferro. */
    static final class Skipped extends Exception {
        private static final long serialVersionUID = 1L;

        Skipped(String why) {
            super(why);
        }
    }

    /** Runs a check on a thread of its own, so that a check that never returns counts as failed after a while. */
    void check(String name, Callable<String> check) {
        FutureTask<String> task = new FutureTask<>(check);
        Thread thread = new Thread(task, "check " + name);
        thread.setDaemon(true);
        thread.start();
        try {
            line(PASS, name, task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (ExecutionException failure) {
            boolean skipped = failure.getCause() instanceof Skipped;
            line(skipped ? SKIP : FAIL, name, skipped ? failure.getCause().getMessage() : "" + failure.getCause());
        } catch (TimeoutException hangs) {
            line(FAIL, name, "no answer after " + PATIENCE.toSeconds() + " s, the check waits at " + where(thread));
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            line(FAIL, name, "interrupted");
        }
    }

    void info(String name, String format, Object... values) {
        line("- INFO ", name, String.format(Locale.ROOT, format, values));
    }

    private void line(String kind, String name, String text) {
        out.println(kind + name + ": "
                + text.lines()
                        .map(String::strip)
                        .reduce((a, b) -> a + " / " + b)
                        .orElse(""));
        out.flush();
    }

    private static String where(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        StringBuilder text = new StringBuilder();
        for (int depth = 0; depth < Math.min(5, stack.length); depth++) {
            text.append(depth == 0 ? "" : " < ").append(stack[depth]);
        }
        return text.toString();
    }

    static void require(boolean holds, String format, Object... values) {
        if (!holds) {
            throw new IllegalStateException(String.format(Locale.ROOT, format, values));
        }
    }
}
