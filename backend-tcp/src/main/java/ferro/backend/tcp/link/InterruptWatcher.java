package ferro.backend.tcp.link;

import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;

/**
 * Runs a task when a thread is interrupted during a wait that ignores interrupts, such as the wait of epoll. The JDK
 * closes an interruptible channel when a thread is interrupted in a call on the channel. This class passes the JDK a
 * channel whose close method only runs the task. Only one thread at a time may wait.
 */
final class InterruptWatcher {
    private final Runnable task;
    private WaitChannel wait;

    /** Sets the task. The task runs on the thread that interrupts the waiting thread. */
    InterruptWatcher(Runnable task) {
        this.task = task;
        this.wait = new WaitChannel();
    }

    /** Begins a wait of this thread. If the thread is already interrupted, the task runs now. */
    void begin() {
        if (!wait.isOpen()) {
            wait = new WaitChannel();
        }
        wait.begins();
    }

    /** Ends the wait; the interrupt flag stays set. */
    void end() {
        wait.ends();
    }

    private final class WaitChannel extends AbstractInterruptibleChannel {
        void begins() {
            begin();
        }

        void ends() {
            try {
                end(true);
            } catch (AsynchronousCloseException interrupted) {
                // the interrupt flag is set, and the caller checks the flag
            }
        }

        @Override
        protected void implCloseChannel() {
            task.run();
        }
    }
}
