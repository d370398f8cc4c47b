package ferro.recorder;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The stack of one thread of a rank at one time. A frame consists of class, method, file and line. Values of the
 * program are not part of a stack. Objects of this class are immutable.
 */
public final class ThreadStack {
    /** Maximum length of {@link #location}, in bytes of UTF-8. */
    public static final int MAX_LOCATION = 200;

    private static final int MAX_FRAMES = 256;
    private static final StackSampler TRACES = new StackSampler(Thread::getStackTrace, Thread::getAllStackTraces);

    private final String thread;
    private final String group;
    private final boolean isJoining;
    private final StackTraceElement[] stack;
    private final String location;

    private ThreadStack(String thread, String group, boolean isJoining, StackTraceElement[] stack, String idle) {
        this.thread = Objects.requireNonNull(thread, "thread");
        this.group = Objects.requireNonNull(group, "group");
        this.isJoining = isJoining;
        this.stack = stack.length <= MAX_FRAMES ? stack : Arrays.copyOf(stack, MAX_FRAMES);
        this.location = location(stack, group.isEmpty() ? idle : "");
    }

    /**
     * Takes the stack of a thread, which may be a virtual thread.
     *
     * @param thread    thread, which continues to run
     * @param group     name of the group in whose call the thread is; empty if the thread is not in a call
     * @param isJoining whether this thread has joined the group
     * @return stack, empty if the thread has ended
     */
    public static ThreadStack of(Thread thread, String group, boolean isJoining) {
        boolean isBlocked = thread.getState() == Thread.State.BLOCKED;
        return new ThreadStack(
                thread.getName(), group, isJoining, TRACES.of(thread), isBlocked ? "waiting for a lock" : "running");
    }

    /**
     * Returns the stack of a thread that has joined a group and has ended.
     *
     * @param thread name of the thread
     * @return stack without frames
     */
    public static ThreadStack ended(String thread) {
        return new ThreadStack(thread, "", true, new StackTraceElement[0], "");
    }

    /** {@return the name of the thread} */
    public String thread() {
        return thread;
    }

    /** {@return the name of the group in whose call the thread is, empty if the thread is not in a call} */
    public String group() {
        return group;
    }

    /** {@return whether this thread has joined the group} */
    public boolean isJoining() {
        return isJoining;
    }

    /** {@return whether the thread had frames; false if the thread has ended} */
    public boolean isAlive() {
        return stack.length > 0;
    }

    /** {@return the frames, the top frame first, such as {@code Train.step(Train.java:88)}; at most 256} */
    public List<String> frames() {
        return Arrays.stream(stack)
                .map(frame -> method(frame) + "(" + source(frame) + ")")
                .toList();
    }

    /**
     * Returns the top frame of the program. If the thread is not in a call, the text also contains what the thread does
     * in this frame.
     *
     * @return text such as {@code Train.step at Train.java:88 (sleeping)}, of at most {@link #MAX_LOCATION} bytes of
     *     UTF-8; empty if the stack has no frame of the program
     */
    public String location() {
        return location;
    }

    private static String location(StackTraceElement[] stack, String idle) {
        int top = 0;
        while (top < stack.length && !ProgramFrames.isOfTheProgram(stack[top])) {
            top++;
        }
        if (top == stack.length) {
            return "";
        }
        String action = idle.isEmpty() ? "" : " (" + action(stack, top, idle) + ")";
        String text = method(stack[top]) + " at " + source(stack[top]) + action;
        // a long text is cut at the start, which has only packages, since the end has the line
        return end(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the end of a text. The text is cut between two characters. */
    private static String end(byte[] utf8) {
        int start = Math.max(0, utf8.length - MAX_LOCATION);
        while (start > 0 && (utf8[start] & 0xC0) == 0x80) {
            start++;
        }
        return new String(utf8, start, utf8.length - start, StandardCharsets.UTF_8);
    }

    /** Returns what the thread does in a frame: the thread sleeps, or is in a method that the frame has called. */
    private static String action(StackTraceElement[] stack, int frame, String idle) {
        if (frame == 0) {
            return idle;
        }
        for (int above = 0; above < frame; above++) {
            if (stack[above].getClassName().equals("java.lang.Thread")
                    && stack[above].getMethodName().equals("sleep")) {
                return "sleeping";
            }
        }
        String method = method(stack[frame - 1]);
        return "in " + method.substring(method.lastIndexOf('.', method.lastIndexOf('.') - 1) + 1);
    }

    private static String method(StackTraceElement frame) {
        return clean(frame.getClassName() + "." + frame.getMethodName());
    }

    private static String source(StackTraceElement frame) {
        if (frame.isNativeMethod()) {
            return "native";
        }
        String file = frame.getFileName() == null ? "unknown source" : clean(frame.getFileName());
        return frame.getLineNumber() < 0 ? file : file + ":" + frame.getLineNumber();
    }

    /** Replaces control characters, which names in class files may contain. */
    private static String clean(String name) {
        return name.replaceAll("\\p{Cntrl}", "?");
    }

    @Override
    public String toString() {
        return "ThreadStack[thread=" + thread + ", group=" + group + ", isJoining=" + isJoining + ", location="
                + location + ", frames=" + stack.length + "]";
    }

    /**
     * Takes stacks of threads. To take one stack, the JVM may stop all threads of the process. If a group fails, all
     * ranks of a process take stacks at the same moment, so all requests that wait for a stop share the next stop.
     * Thread-safe.
     */
    static final class StackSampler {
        private static final StackTraceElement[] NONE = new StackTraceElement[0];

        private final Function<Thread, StackTraceElement[]> one;
        private final Supplier<Map<Thread, StackTraceElement[]>> all;
        private final Queue<StackRequest> waiting = new ConcurrentLinkedQueue<>();
        /** Whether a thread takes stacks for all requests that wait. */
        private final AtomicBoolean isTaking = new AtomicBoolean();

        /** A stack that a thread waits for. */
        private static final class StackRequest {
            private final Thread of;
            private final Thread caller = Thread.currentThread();
            /** The stack; null until a thread has taken it. */
            private volatile StackTraceElement[] stack;

            StackRequest(Thread of) {
                this.of = of;
            }
        }

        /**
         * Takes stacks by two functions.
         *
         * @param one takes the stack of one thread
         * @param all takes the stacks of all platform threads
         */
        StackSampler(Function<Thread, StackTraceElement[]> one, Supplier<Map<Thread, StackTraceElement[]>> all) {
            this.one = one;
            this.all = all;
        }

        /**
         * Returns the stack of a thread. The stack is taken after this call has begun, and is empty if the thread has
         * ended.
         */
        StackTraceElement[] of(Thread thread) {
            StackRequest request = new StackRequest(thread);
            waiting.add(request);
            while (request.stack == null) {
                if (isTaking.compareAndSet(false, true)) {
                    try {
                        take();
                    } finally {
                        isTaking.set(false);
                        wakeNext();
                    }
                } else {
                    LockSupport.park(this);
                }
            }
            return request.stack;
        }

        /** Wakes a thread whose request came while other requests were served. The thread takes the next stacks. */
        private void wakeNext() {
            StackRequest next = waiting.peek();
            if (next != null) {
                LockSupport.unpark(next.caller);
            }
        }

        /** Returns how many requests wait for the next stop. */
        int waiting() {
            return waiting.size();
        }

        private void take() {
            List<StackRequest> requests = new ArrayList<>();
            try {
                for (StackRequest next = waiting.peek(); next != null; next = waiting.peek()) {
                    requests.add(next);
                    waiting.remove();
                }
                Map<Thread, StackTraceElement[]> stacks = requests.size() <= 1 ? Map.of() : all.get();
                for (StackRequest request : requests) {
                    StackTraceElement[] stack = stacks.get(request.of);
                    // a stack is missing for the only request, for a virtual thread, and for a thread that has ended
                    request.stack = stack == null ? one.apply(request.of) : stack;
                }
            } finally {
                for (StackRequest request : requests) {
                    // if the memory for stacks is lacking, no thread waits for a stack
                    request.stack = request.stack == null ? NONE : request.stack;
                    LockSupport.unpark(request.caller);
                }
            }
        }
    }
}
