package ferro.recorder;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Takes stacks of threads. The JVM may stop all its threads to take one. If a group fails, all ranks of a process take
 * stacks at the same moment, so those that wait for a stop share the next one. Thread-safe.
 */
final class StackTraces {
    private static final StackTraceElement[] NONE = new StackTraceElement[0];

    private final Function<Thread, StackTraceElement[]> one;
    private final Supplier<Map<Thread, StackTraceElement[]>> all;
    private final Queue<Request> waiting = new ConcurrentLinkedQueue<>();
    /** Whether a thread takes stacks for all that wait. */
    private final AtomicBoolean isTaking = new AtomicBoolean();

    /** A stack that a thread waits for. */
    private static final class Request {
        private final Thread of;
        private final Thread caller = Thread.currentThread();
        /** Null until the stack is taken. */
        private volatile StackTraceElement[] stack;

        Request(Thread of) {
            this.of = of;
        }
    }

    /**
     * Takes stacks by two functions.
     *
     * @param one takes the stack of one thread
     * @param all takes the stacks of all platform threads
     */
    StackTraces(Function<Thread, StackTraceElement[]> one, Supplier<Map<Thread, StackTraceElement[]>> all) {
        this.one = one;
        this.all = all;
    }

    /** Returns the stack of a thread, which is taken after the begin of this call; empty if the thread has ended. */
    StackTraceElement[] of(Thread thread) {
        Request request = new Request(thread);
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

    /** Wakes a thread whose request came while others were served: it takes the next stacks. */
    private void wakeNext() {
        Request next = waiting.peek();
        if (next != null) {
            LockSupport.unpark(next.caller);
        }
    }

    /** Returns how many requests wait for the next stop. */
    int waiting() {
        return waiting.size();
    }

    /** Takes the stacks that all requests wait for. */
    private void take() {
        List<Request> requests = new ArrayList<>();
        try {
            for (Request next = waiting.peek(); next != null; next = waiting.peek()) {
                requests.add(next);
                waiting.remove();
            }
            Map<Thread, StackTraceElement[]> stacks = requests.size() <= 1 ? Map.of() : all.get();
            for (Request request : requests) {
                StackTraceElement[] stack = stacks.get(request.of);
                // not there: the only request, a virtual thread, or a thread that has ended
                request.stack = stack == null ? one.apply(request.of) : stack;
            }
        } finally {
            for (Request request : requests) {
                // without memory for stacks nobody waits for them
                request.stack = request.stack == null ? NONE : request.stack;
                LockSupport.unpark(request.caller);
            }
        }
    }
}
