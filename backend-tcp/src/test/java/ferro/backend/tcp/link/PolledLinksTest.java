package ferro.backend.tcp.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.backend.tcp.net.Memory;
import ferro.spi.CallHeader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who drives, and what ends a wait. */
@Timeout(60)
class PolledLinksTest {
    private static final CallHeader CALL = CallHeader.of(7, 17, 0x1234, "exchange");

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void threadsMayTakeTurnsAtDrivingTheLinks(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            ReentrantLock turn = new ReentrantLock();
            int exchanges = 500;
            Thread one = exchanging(pair, turn, exchanges);
            Thread other = exchanging(pair, turn, exchanges);
            one.join();
            other.join();
            assertEquals(2 * exchanges, pair.first().link.received());
            assertEquals(2 * exchanges, pair.second().link.received());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void arrivingDataEndsAWait(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            HostTensor into = Memory.ARRAY.floats(1);
            pair.second().link.receive(CALL, into, 0, 1);
            while (pair.second().links.poll()) {
                Thread.onSpinWait();
            }
            Thread peer = new Thread(() -> {
                pair.first().link.send(CALL, Memory.ARRAY.filled(1, 3), 0, 1);
                pair.first().links.poll();
            });
            peer.start();
            while (pair.second().link.received() == 0) {
                pair.second().links.block(TimeUnit.SECONDS.toNanos(30));
                pair.second().links.poll();
            }
            peer.join();
            assertEquals(Memory.value(0, 3), Memory.at(into, 0));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void freeSpaceInTheSocketBufferEndsAWait(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            int count = 16 << 20;
            pair.first().link.send(CALL, Memory.DIRECT.floats(count), 0, count);
            Thread reader = new Thread(() -> {
                pair.second().link.receive(CALL, Memory.DIRECT.floats(count), 0, count);
                while (pair.second().link.received() == 0) {
                    if (!pair.second().links.poll()) {
                        pair.second().links.block(TimeUnit.SECONDS.toNanos(30));
                    }
                }
            });
            while (pair.first().links.poll()) {
                Thread.onSpinWait();
            }
            reader.start();
            while (pair.first().link.sent() == 0) {
                if (!pair.first().links.poll()) {
                    pair.first().links.block(TimeUnit.SECONDS.toNanos(30));
                }
            }
            reader.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aWakeUpEndsAWaitOrTheNextOne(String io) throws Exception {
        try (TcpPair.Side side = new TcpPair.Side(TcpPair.io(io))) {
            side.links.wakeup();
            side.links.block(TimeUnit.SECONDS.toNanos(30));
            Thread waker = new Thread(side.links::wakeup);
            waker.start();
            side.links.block(TimeUnit.SECONDS.toNanos(30));
            waker.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void anInterruptedDriverDoesNotWaitAndStaysInterrupted(String io) throws Exception {
        try (TcpPair pair = TcpPair.onLoopback(TcpPair.io(io))) {
            pair.first().link.receive(CALL, Memory.ARRAY.floats(1), 0, 1);
            Thread.currentThread().interrupt();
            pair.first().links.poll();
            pair.first().links.block(TimeUnit.SECONDS.toNanos(30));
            assertTrue(Thread.interrupted());
            assertTrue(pair.first().broken.isEmpty(), pair.first().toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void eachInterruptEndsAWait(String io) throws Exception {
        try (TcpPair.Side side = new TcpPair.Side(TcpPair.io(io))) {
            BlockingQueue<Boolean> ends = new SynchronousQueue<>();
            Thread driver = new Thread(() -> {
                try {
                    for (int wait = 0; wait < 3; wait++) {
                        ends.put(Thread.interrupted());
                        side.links.block(TimeUnit.HOURS.toNanos(1));
                    }
                    ends.put(Thread.interrupted());
                } catch (InterruptedException early) {
                    throw new IllegalStateException("interrupted outside of a wait", early);
                }
            });
            driver.start();
            assertEquals(false, ends.poll(30, TimeUnit.SECONDS));
            for (int wait = 0; wait < 3; wait++) {
                while (!waitsForSockets(driver)) {
                    Thread.onSpinWait();
                }
                driver.interrupt();
                assertEquals(true, ends.poll(30, TimeUnit.SECONDS), "wait " + wait);
            }
            driver.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void aWaitEndsAfterItsTimeout(String io) throws Exception {
        try (TcpPair.Side side = new TcpPair.Side(TcpPair.io(io))) {
            long before = System.nanoTime();
            side.links.block(TimeUnit.MILLISECONDS.toNanos(10));
            assertFalse(System.nanoTime() - before < TimeUnit.MILLISECONDS.toNanos(8));
        }
    }

    private static boolean waitsForSockets(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0
                && stack[0].isNativeMethod()
                && !stack[0].getClassName().endsWith("Unsafe");
    }

    private static Thread exchanging(TcpPair pair, ReentrantLock turn, int exchanges) {
        Thread thread = new Thread(() -> {
            HostTensor data = Memory.ARRAY.filled(3, 5);
            HostTensor into = Memory.ARRAY.floats(3);
            for (int i = 0; i < exchanges; i++) {
                turn.lock();
                try {
                    exchange(pair.first(), pair.second(), data, into);
                    long wanted = pair.first().link.received() + 1;
                    pair.driveUntil(() -> pair.first().link.received() == wanted
                            && pair.second().link.received() == wanted);
                } finally {
                    turn.unlock();
                }
            }
        });
        thread.start();
        return thread;
    }

    private static void exchange(TcpPair.Side one, TcpPair.Side other, HostTensor data, HostTensor into) {
        one.link.receive(CALL, into, 0, 3);
        other.link.receive(CALL, into, 0, 3);
        one.link.send(CALL, data, 0, 3);
        other.link.send(CALL, data, 0, 3);
    }
}
