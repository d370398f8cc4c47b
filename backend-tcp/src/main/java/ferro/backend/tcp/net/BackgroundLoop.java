package ferro.backend.tcp.net;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** A daemon thread that serves sockets. The thread does work that must continue while no thread calls a group. */
public final class BackgroundLoop implements AutoCloseable {
    private static final long CLOSE_MILLIS = 2_000;

    private final EventLoopGroup group;
    private volatile Thread thread;

    /** Starts the daemon thread. */
    public BackgroundLoop(SocketConfig io, String name) {
        // a Netty group of several loops would report a loop's end on a thread that keeps the JVM alive for a second
        ThreadFactory threads = new ThreadFactory() {
            @Override
            public Thread newThread(Runnable task) {
                Thread made = new Thread(task, name);
                made.setDaemon(true);
                thread = made;
                return made;
            }
        };
        group = NettyCaller.call(() -> new ClosingLoop(threads, io.handlers()));
    }

    /** Returns the event loop group for the registration of Netty's channels. */
    public EventLoopGroup group() {
        return group;
    }

    /** Returns whether the calling thread is the loop's thread. */
    public boolean inLoop() {
        return Thread.currentThread() == thread;
    }

    /** Runs a task on the loop. A caller on the loop runs the task at once. Returns false if the loop has ended. */
    public boolean run(Runnable task) {
        if (inLoop()) {
            task.run();
            return true;
        }
        try {
            group.execute(task);
            return true;
        } catch (RejectedExecutionException ended) {
            return false;
        }
    }

    /**
     * Closes all channels and ends the thread of the loop. Waits a limited time until the thread has ended, unless the
     * thread calls this method itself. The interrupt flag is kept.
     */
    @Override
    public void close() {
        group.shutdownGracefully(0, CLOSE_MILLIS, TimeUnit.MILLISECONDS);
        if (inLoop()) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        try {
            group.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException stop) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A loop that closes its channels before it ends. Netty's loop closes channels only after it has polled sockets. If
     * the request to end arrives while Netty's loop runs tasks, the loop does not poll again and leaves the channels
     * open. Peers would detect the end of these channels only when the process ends.
     *
     * <p>Source: {@code SingleThreadIoEventLoop.run} of Netty 4.2.18.
     */
    private static final class ClosingLoop extends SingleThreadIoEventLoop {
        ClosingLoop(ThreadFactory threads, IoHandlerFactory handlers) {
            super(null, threads, handlers);
        }

        @Override
        protected boolean confirmShutdown() {
            if (!isShuttingDown()) {
                return false;
            }
            ioHandler().prepareToDestroy();
            return super.confirmShutdown();
        }
    }
}
