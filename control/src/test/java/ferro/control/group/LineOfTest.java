package ferro.control.group;

import java.util.concurrent.atomic.AtomicInteger;

/** A thread whose stack shows a line that a test sets, because lines of ferro's own tests are not program lines. */
final class LineOfTest extends Thread {
    final AtomicInteger taken = new AtomicInteger();
    private volatile StackTraceElement[] stack;

    /** Creates a thread that sleeps in a method of a program. */
    LineOfTest(String method, int line) {
        at(method, line);
    }

    /** Lets the thread sleep in another line of the program. */
    void at(String method, int line) {
        stack = new StackTraceElement[] {
            new StackTraceElement("java.lang.Thread", "sleep", "Thread.java", -2),
            new StackTraceElement("Train", method, "Train.java", line),
        };
    }

    /** Lets the thread execute only code of the JDK. */
    void atJdk() {
        stack = new StackTraceElement[] {new StackTraceElement("java.lang.Object", "wait", "Object.java", -2)};
    }

    void end() {
        stack = new StackTraceElement[0];
    }

    @Override
    public StackTraceElement[] getStackTrace() {
        taken.incrementAndGet();
        return stack;
    }
}
