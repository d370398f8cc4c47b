package ferro.backend.tcp;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** One daemon thread that serves sockets by itself; for all that must go on while nobody drives. */
final class BackgroundLoop implements AutoCloseable {
    private static final long CLOSE_MILLIS = 2_000;

    private final EventLoopGroup group;
    private volatile Thread thread;

    BackgroundLoop(TcpIo io, String name) {
        // a group of loops would hear of this one's end on a thread that keeps the JVM from ending for a second
        group = new SingleThreadIoEventLoop(
                null,
                task -> {
                    Thread made = new Thread(task, name);
                    made.setDaemon(true);
                    thread = made;
                    return made;
                },
                io.handlers());
    }

    EventLoopGroup group() {
        return group;
    }

    boolean inLoop() {
        return Thread.currentThread() == thread;
    }

    /** Runs a task on the loop, at once if the caller is the loop; says false if the loop has ended. */
    boolean run(Runnable task) {
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

    /** Ends the thread and, unless that is the caller, waits for it a bounded time; the interrupt flag is kept. */
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
}
