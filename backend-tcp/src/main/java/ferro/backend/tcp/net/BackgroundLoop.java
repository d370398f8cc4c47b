package ferro.backend.tcp.net;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** One daemon thread that serves sockets by itself, for all work that must go on while no thread makes progress. */
public final class BackgroundLoop implements AutoCloseable {
    private static final long CLOSE_MILLIS = 2_000;

    private final EventLoopGroup group;
    private volatile Thread thread;

    /** Starts the loop's one daemon thread. */
    public BackgroundLoop(TcpIo io, String name) {
        // a group of loops learns of this loop's end on a thread that keeps the JVM alive for a second
        ThreadFactory threads = new ThreadFactory() {
            @Override
            public Thread newThread(Runnable task) {
                Thread made = new Thread(task, name);
                made.setDaemon(true);
                thread = made;
                return made;
            }
        };
        group = OwnThread.call(() -> new ClosingLoop(threads, io.handlers()));
    }

    /** Returns the group that Netty registers channels with. */
    public EventLoopGroup group() {
        return group;
    }

    /** Returns whether the calling thread is the thread of the loop. */
    public boolean inLoop() {
        return Thread.currentThread() == thread;
    }

    /** Runs a task on the loop, at once if the caller is the loop; returns false if the loop has ended. */
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
     * Closes all channels, ends the thread and waits for it a bounded time, unless it is the calling thread; the interrupt
     * flag is kept.
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
     * Closes its channels before it ends. Netty's loop leaves them open if the request to end comes while it runs tasks: it
     * closes channels after polling sockets only, and does not poll them again. Then the peers would not notice the end
     * before the process ends.
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
