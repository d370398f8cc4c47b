package ferro.backend.tcp.link;

import io.netty.channel.Channel;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.IoEvent;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Netty's epoll handler, polled by the progress thread. Sockets are registered once, edge-triggered, and are read and
 * written by descriptor. Waits and reads do not change the watched events. No pipeline of Netty handles the elements.
 */
final class EpollLoop implements PolledLoop {
    /** Maximum events of one poll. The next poll returns the remaining events. */
    private static final int EVENTS = 64;

    private static final EpollIoOps EDGES = EpollIoOps.EPOLLIN
            .with(EpollIoOps.EPOLLOUT)
            .with(EpollIoOps.EPOLLRDHUP)
            .with(EpollIoOps.EPOLLET);

    /** Memory for errno. It is allocated first: if direct memory is exhausted, no descriptor is open yet. */
    private final ByteBuffer errno = ByteBuffer.allocateDirect(Integer.BYTES).order(ByteOrder.nativeOrder());

    private final LoopExecutor owner = new LoopExecutor();
    private final IoHandler handler = EpollIoHandler.newFactory(EVENTS, DefaultSelectStrategyFactory.INSTANCE)
            .newHandler(owner);
    private final KernelWaitLimit now = new KernelWaitLimit(false);
    private final KernelWaitLimit waiting = new KernelWaitLimit(true);
    /** System calls for arrays, created for the first array, because the lookup takes tens of milliseconds. */
    private ArraySocketCalls arrays;

    private final InterruptWatcher interrupts = new InterruptWatcher(this::wakeup);
    private volatile boolean woken;

    EpollLoop() {
        handler.initialize();
    }

    @Override
    public DataSocket adopt(Channel channel) throws IOException {
        owner.driver = Thread.currentThread();
        try {
            EpollDataSocket wire = new EpollDataSocket(channel);
            wire.registration = handler.register(wire);
            wire.registration.submit(EDGES);
            return wire;
        } catch (IOException unable) {
            throw unable;
        } catch (Exception unable) {
            throw new IOException("cannot watch " + channel + ": " + unable.getMessage(), unable);
        } finally {
            owner.driver = null;
        }
    }

    @Override
    public void look() {
        turn(now);
    }

    @Override
    public void block(long nanos) {
        interrupts.begin();
        try {
            waiting.until = System.nanoTime() + nanos;
            turn(waiting);
        } finally {
            interrupts.end();
            woken = false;
        }
    }

    @Override
    public void wakeup() {
        woken = true;
        handler.wakeup();
    }

    @Override
    public void close() {
        owner.driver = Thread.currentThread();
        try {
            handler.prepareToDestroy();
            handler.destroy();
        } finally {
            owner.driver = null;
        }
    }

    private ArraySocketCalls arrays() {
        if (arrays == null) {
            arrays = new ArraySocketCalls(errno);
        }
        return arrays;
    }

    private void turn(KernelWaitLimit turn) {
        owner.driver = Thread.currentThread();
        try {
            handler.run(turn);
            owner.runTasks();
        } finally {
            owner.driver = null;
        }
    }

    /**
     * An executor that Netty asks whether a thread is the loop's thread. The loop's thread is the thread that polls
     * now.
     */
    private static final class LoopExecutor implements ThreadAwareExecutor {
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        private volatile Thread driver;

        @Override
        public boolean isExecutorThread(Thread thread) {
            return thread == driver;
        }

        /**
         * Queues a task until the next poll. Netty would call this method only for a cancellation by another thread.
         */
        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void runTasks() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }

    /** Limits how long Netty's handler may wait in the kernel. */
    private final class KernelWaitLimit implements IoHandlerContext {
        private final boolean waits;
        private long until;

        KernelWaitLimit(boolean waits) {
            this.waits = waits;
        }

        @Override
        public boolean canBlock() {
            return waits && !woken;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return waits ? Math.max(0, until - currentTimeNanos) : 0;
        }

        @Override
        public long deadlineNanos() {
            return waits ? until : -1;
        }
    }

    private final class EpollDataSocket implements DataSocket, EpollIoHandle {
        private final Channel channel;
        private final FileDescriptor descriptor;
        private IoRegistration registration;
        private boolean readable = true;
        private boolean writable = true;
        private boolean ended;

        EpollDataSocket(Channel channel) {
            this.channel = channel;
            this.descriptor = ((UnixChannel) channel).fd();
        }

        @Override
        public int write(ByteBuffer bytes, int from, int to) throws IOException {
            int taken = descriptor.write(bytes, from, to);
            writable = taken > 0;
            return taken;
        }

        @Override
        public int read(ByteBuffer bytes, int from, int to) throws IOException {
            int came = descriptor.read(bytes, from, to);
            readable = came != 0;
            return came;
        }

        @Override
        public boolean takesLent() {
            return ArraySocketCalls.absentBecause() == null;
        }

        @Override
        public int writeLent(Object array, long from, int bytes) throws IOException {
            int taken = arrays().send(descriptor, array, from, bytes);
            writable = taken > 0;
            return taken;
        }

        @Override
        public int readLent(Object array, long from, int bytes) throws IOException {
            int came = arrays().receive(descriptor, array, from, bytes);
            readable = came != 0;
            return came;
        }

        @Override
        public boolean ended() {
            look();
            return ended;
        }

        @Override
        public boolean readable() {
            return readable;
        }

        @Override
        public boolean writable() {
            return writable;
        }

        @Override
        public void want(boolean reading, boolean writing) {
            // epoll always reports edges, so nothing has to be requested
        }

        @Override
        public FileDescriptor fd() {
            return descriptor;
        }

        @Override
        public void handle(IoRegistration source, IoEvent event) {
            EpollIoOps ops = ((EpollIoEvent) event).ops();
            boolean onlyWritable = ops.equals(EpollIoOps.EPOLLOUT);
            readable |= !onlyWritable;
            writable |= !ops.equals(EpollIoOps.EPOLLIN);
            ended |= ops.contains(EpollIoOps.EPOLLRDHUP) || ops.contains(EpollIoOps.EPOLLERR);
        }

        @Override
        public void endOutput() throws IOException {
            ((Socket) descriptor).shutdown(false, true);
        }

        @Override
        public void close() {
            release().unsafe().closeForcibly();
        }

        @Override
        public Channel release() {
            owner.driver = Thread.currentThread();
            try {
                registration.cancel();
            } finally {
                owner.driver = null;
            }
            return channel;
        }
    }
}
