package ferro.collectives.engine.plain;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Backend;
import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Every collective from five methods, over a back end whose sends wait for their receive. */
class PlainEngineTest {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    /** Hands messages over one at a time: a send returns when it is received. */
    private record HandOver(int rank, int worldSize, Map<String, SynchronousQueue<byte[]>> wires) implements Backend {
        @Override
        public void send(ByteBuffer message, int to, int tag, Duration timeout) {
            byte[] bytes = new byte[message.remaining()];
            message.duplicate().get(bytes);
            try {
                wire(rank, to, tag).offer(bytes, 20, TimeUnit.SECONDS);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void recv(ByteBuffer message, int from, int tag, Duration timeout) {
            try {
                byte[] bytes = wire(from, rank, tag).poll(20, TimeUnit.SECONDS);
                assertEquals(message.remaining(), bytes == null ? -1 : bytes.length);
                message.duplicate().put(bytes);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void barrier(Duration timeout) {
            throw new UnsupportedOperationException("the engine has its own barrier, not this of rank " + rank);
        }

        @Override
        public void close() {
            // nothing is held
        }

        private SynchronousQueue<byte[]> wire(int from, int to, int tag) {
            return wires.computeIfAbsent(from + ">" + to + "#" + tag, key -> new SynchronousQueue<>());
        }
    }

    private interface Body {
        void run(ProcessGroup group) throws Exception;
    }

    private static void onRanks(int size, Body body) throws Exception {
        Map<String, SynchronousQueue<byte[]>> wires = new ConcurrentHashMap<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> ranks = new ArrayList<>();
            for (int r = 0; r < size; r++) {
                int rank = r;
                ranks.add(threads.submit(() -> {
                    body.run(ProcessGroup.of(new HandOver(rank, size, wires)));
                    return null;
                }));
            }
            for (Future<?> rank : ranks) {
                rank.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @Timeout(60)
    void aWakeUpBeforeASleepEndsIt() {
        PlainTransport transport = new PlainTransport(new HandOver(0, 2, new ConcurrentHashMap<>()));
        transport.wakeup();
        transport.park(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
        transport.close();
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void aWakeUpEndsTheSleepOfAVirtualThread() throws Exception {
        PlainTransport transport = new PlainTransport(new HandOver(0, 2, new ConcurrentHashMap<>()));
        assertTrue(transport.parksVirtualThreads());
        Runnable sleeps = () -> transport.park(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
        // the sources are of JDK 17
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Thread thread = (Thread) start.invoke(null, sleeps);
        transport.wakeup();
        thread.join(TimeUnit.SECONDS.toMillis(60));
        assertFalse(thread.isAlive(), "not woken");
        transport.close();
    }

    @Test
    void allReduceAddsUpOnEveryRankForAllSizesAndLengths() throws Exception {
        for (int size : new int[] {1, 2, 3, 4, 5, 8}) {
            int world = size;
            onRanks(size, group -> {
                for (int length : new int[] {0, 1, world - 1, world + 1, 1000, 40_000}) {
                    long[] data = new long[length];
                    long[] want = new long[length];
                    for (int i = 0; i < length; i++) {
                        data[i] = (i + 3L) * (group.rank() + 2);
                        want[i] = (i + 3L) * (world * (world + 3) / 2);
                    }
                    group.allReduce(data, ReduceOp.SUM);
                    assertArrayEquals(want, data, "world size " + world + " length " + length);
                }
            });
        }
    }

    @Test
    void queuedOperationsDoNotKeepOneAnotherFromTheirPeers() throws Exception {
        onRanks(5, group -> {
            List<long[]> data = new ArrayList<>();
            List<Work> queued = new ArrayList<>();
            for (int call = 0; call < 40; call++) {
                data.add(new long[] {call + 3L, group.rank() + 2L});
                HostTensor tensor = HostTensor.of(data.get(call));
                queued.add(
                        call % 4 == 3
                                ? group.submit(Collective.broadcast(tensor, call % 5))
                                : group.allReduceAsync(tensor, ReduceOp.SUM));
            }
            for (int call = 0; call < 40; call++) {
                queued.get(call).await();
                long[] want = call % 4 == 3 ? new long[] {call + 3, call % 5 + 2} : new long[] {5 * (call + 3), 20};
                assertArrayEquals(want, data.get(call), "call " + call);
            }
        });
    }

    @Test
    void allGatherJoinsPartsInRankOrder() throws Exception {
        onRanks(5, group -> {
            int[] all = new int[10];
            group.allGather(new int[] {7 * group.rank() + 3, -group.rank() - 1}, all);
            assertArrayEquals(new int[] {3, -1, 10, -2, 17, -3, 24, -4, 31, -5}, all);
        });
    }
}
