package ferro.backend.simulated;

import static ferro.backend.simulated.Ends.call;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What only shows between threads: waking, and memory that is given back. */
@Timeout(60)
class SimulatedThreadsTest {
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);
    private final Ends ends = new Ends(2);

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    @Test
    void aWakeUpBeforeTheParkIsNotLost() {
        ends.end(0).wakeup();
        assertTrue(parked(LONG_NANOS) < LONG_NANOS / 2);
    }

    @Test
    void aParkEndsAfterItsTimeout() {
        long nanos = TimeUnit.MILLISECONDS.toNanos(20);
        assertTrue(parked(nanos) >= nanos);
    }

    @Test
    void anInterruptEndsTheParkAndKeepsTheFlag() {
        Thread.currentThread().interrupt();
        assertTrue(parked(LONG_NANOS) < LONG_NANOS / 2);
        assertTrue(Thread.currentThread().isInterrupted());
    }

    @Test
    void aPostOfThePeerEndsThePark() {
        ends.link(0, 1).receive(call(1), HostTensor.of(new int[1]), 0, 1);
        assertFalse(ends.end(0).poll());
        CompletableFuture<Void> sending =
                CompletableFuture.runAsync(() -> ends.link(1, 0).send(call(1), HostTensor.of(new int[] {4}), 0, 1));
        assertTrue(parked(LONG_NANOS) < LONG_NANOS / 2);
        assertTrue(ends.end(0).poll());
        sending.join();
    }

    @Test
    void twoThreadsStreamInDifferentPieces() {
        int[] sent = new Random(11).ints(200_000).toArray();
        int[] got = new int[sent.length];
        for (Lane lane : Lane.values()) {
            CompletableFuture<Void> sender =
                    CompletableFuture.runAsync(() -> stream(ends.end(0), lane, sent, new Random(1), true));
            stream(ends.end(1), lane, got, new Random(2), false);
            sender.join();
            assertArrayEquals(sent, got);
            assertEquals(4L * got.length, ends.end(1).link(0, lane).bytesMoved());
        }
    }

    private static void stream(Transport end, Lane lane, int[] data, Random random, boolean sends) {
        Link link = end.link(1 - end.rank(), lane);
        int posts = 0;
        int from = 0;
        while (from < data.length) {
            CallHeader call = call(1 + from / 40_000);
            int count = Math.min(40_000 - from % 40_000, random.nextInt(random.nextInt(20) == 0 ? 50_000 : 50));
            if (sends) {
                link.send(call, HostTensor.of(data), from, count);
            } else {
                link.receive(call, HostTensor.of(data), from, count);
            }
            from += count;
            int ahead = ++posts - random.nextInt(4);
            drive(end, () -> (sends ? link.sent() : link.received()) >= ahead);
        }
        int all = posts;
        drive(end, () -> (sends ? link.sent() : link.received()) == all);
    }

    @Test
    void noThreadWritesTheMemoryAfterAbandon() {
        for (int round = 0; round < 50; round++) {
            Ends pair = new Ends(2);
            int[] data = new int[1 << 18];
            int[] got = new int[data.length];
            pair.link(0, 1).send(call(1), HostTensor.of(data), 0, data.length);
            pair.link(1, 0).receive(call(1), HostTensor.of(got), 0, got.length);
            CompletableFuture<Void> copying = CompletableFuture.runAsync(pair.end(1)::poll);
            if (round % 2 == 1) {
                drive(pair.end(0), () -> pair.link(1, 0).bytesMoved() > 0);
            }
            pair.end(0).abandon();
            Arrays.fill(data, 1);
            copying.join();
            assertEquals(0, Arrays.stream(got).sum());
        }
    }

    @Test
    void aThousandRanksUseNoThreadsOrLinksBeforeTheFirstCall() {
        int threads = Thread.activeCount();
        Ends many = new Ends(1000);
        many.settle();
        assertTrue(Thread.activeCount() <= threads);
        assertFalse(many.end(999).poll());
    }

    private static void drive(Transport end, BooleanSupplier until) {
        while (!until.getAsBoolean()) {
            if (!end.poll()) {
                end.park(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100));
            }
        }
    }

    private long parked(long nanos) {
        long start = System.nanoTime();
        ends.end(0).park(start + nanos);
        return System.nanoTime() - start;
    }
}
