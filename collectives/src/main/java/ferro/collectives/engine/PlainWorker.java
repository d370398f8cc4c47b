package ferro.collectives.engine;

import java.util.concurrent.LinkedBlockingQueue;

/** A thread that runs blocking calls of a plain back end one after the other; started with the first of them. */
final class PlainWorker {
    private static final long JOIN_MILLIS = 5000;

    private final String name;
    private final Trouble trouble;
    private final LinkedBlockingQueue<PlainTask> tasks = new LinkedBlockingQueue<>();
    private volatile boolean stopped;
    /** The peer of the call that runs; -1 if none runs. */
    private volatile int peerInCall = -1;

    private Thread thread;

    /** Receives the failure of a call. */
    interface Trouble {
        void with(int peer, Throwable failure);
    }

    private record PlainTask(int peer, Runnable call) {}

    PlainWorker(String name, Trouble trouble) {
        this.name = name;
        this.trouble = trouble;
    }

    synchronized void add(int peer, Runnable call) {
        tasks.add(new PlainTask(peer, call));
        if (thread == null && !stopped) {
            thread = new Thread(this::work, name);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Returns the peer of the call that runs, or -1. */
    int peerInCall() {
        return peerInCall;
    }

    /** Returns whether no call runs, and none waits. */
    boolean isIdle() {
        return peerInCall < 0 && tasks.isEmpty();
    }

    synchronized void stop() {
        stopped = true;
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** Waits for a bounded time until no call is under way any more, so that posted memory is free. */
    void join() {
        Thread running;
        synchronized (this) {
            running = thread;
        }
        if (running == null || running == Thread.currentThread()) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        try {
            running.join(JOIN_MILLIS);
        } catch (InterruptedException again) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void work() {
        while (!stopped) {
            int peer = -1;
            try {
                PlainTask task = tasks.take();
                peer = task.peer;
                peerInCall = peer;
                task.call.run();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                return;
            } catch (RuntimeException | Error failure) {
                trouble.with(peer, failure);
                return;
            } finally {
                peerInCall = -1;
            }
        }
    }
}
