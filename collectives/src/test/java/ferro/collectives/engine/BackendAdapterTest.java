package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import ferro.Backend;
import ferro.Collective;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every collective from five methods, over a back end whose sends wait for their receive. */
class BackendAdapterTest {
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
                long nanos = Math.min(timeout.toNanos(), TimeUnit.SECONDS.toNanos(20));
                byte[] bytes = wire(from, rank, tag).poll(nanos, TimeUnit.NANOSECONDS);
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
    void aWakeUpBeforeASleepEndsThatSleep() {
        BackendTransport transport = new BackendTransport(new HandOver(0, 2, new ConcurrentHashMap<>()));
        transport.wakeup();
        transport.park(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
        transport.close();
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void aWakeUpEndsTheSleepOfAVirtualThread() throws Exception {
        BackendTransport transport = new BackendTransport(new HandOver(0, 2, new ConcurrentHashMap<>()));
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
    void allReduceSumsOnAllRanksForAllSizesAndLengths() throws Exception {
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

    private static List<String> labels() {
        return List.of("", "weights of layer 1", "\u5c64".repeat(128));
    }

    @Test
    void aTooLongTextIsCutInTheMiddle() {
        String call = "gather \"" + "\u5c64".repeat(128) + "\" f32[12] in parts of [" + "1,".repeat(60)
                + "1] root 3 by linear";
        String text = BackendLink.shortened(call);
        assertTrue(text.getBytes(StandardCharsets.UTF_8).length <= 512, text);
        assertTrue(text.startsWith("gather ") && text.endsWith("1] root 3 by linear"), text);
        assertEquals("barrier by flat", BackendLink.shortened("barrier by flat"));
    }

    @ParameterizedTest
    @MethodSource("labels")
    void rootsThatDifferAreAMismatchWithBothCallsOnBothRanks(String label) throws Exception {
        Map<Integer, FerroException> failures = rootsThatDiffer(2, label);

        failures.forEach((rank, failure) -> {
            String text = failure.getMessage();
            assertEquals(FerroException.Code.MISMATCH, failure.code(), text);
            assertEquals(Set.of(0, 1), failure.where().culprits(), text);
            assertTrue(text.contains("roots differ: rank "), text);
            assertTrue(text.contains(" root 0 by ") && text.contains(" root 1 by "), text);
            assertTrue(text.endsWith("all ranks must name the same root"), text);
        });
        assertEquals(Set.of(0, 1), failures.keySet());
    }

    @Test
    void noRankIsReportedHangingInItsSendOfDifferentRoots() throws Exception {
        Map<Integer, FerroException> failures = rootsThatDiffer(3, "");

        assertFalse(failures.isEmpty());
        failures.forEach((rank, failure) -> {
            String text = failure.getMessage();
            assertFalse(text.contains("hangs"), text);
            assertTrue(
                    failure.code() == FerroException.Code.MISMATCH
                                    && text.contains(" root 0 ")
                                    && text.contains(" root 1 ")
                            || text.contains("cannot be asked what it does")
                            || failure.code() == FerroException.Code.ABORTED,
                    text);
        });
    }

    @Test
    void aRankThatIsOneCallAheadIsNotADifferentCall() throws Exception {
        Map<Integer, FerroException> failures = new ConcurrentHashMap<>();
        onRanks(3, group -> {
            // rank 1 is missing; rank 2, which gets its data first, is in its next call when rank 0 looks for calls
            // that
            // differ
            ProcessGroup calls = group.within(Duration.ofSeconds(group.rank() == 0 ? 2 : 6));
            try {
                if (group.rank() != 1) {
                    calls.broadcast(new int[] {4}, 0);
                    calls.reduce(new int[] {5}, ReduceOp.SUM, 0);
                }
            } catch (FerroException failure) {
                failures.put(group.rank(), failure);
            }
        });
        failures.forEach((rank, failure) -> {
            String text = failure.getMessage();
            assertEquals(FerroException.Code.TIMED_OUT, failure.code(), text);
            assertTrue(text.contains(rank == 0 ? "broadcast on" : "reduce on"), text);
        });
        assertEquals(Set.of(0, 2), failures.keySet());
    }

    /** Rank 1 names itself as the root of a broadcast, the others rank 0. Returns the failures by rank. */
    private static Map<Integer, FerroException> rootsThatDiffer(int size, String label) throws Exception {
        Map<Integer, FerroException> failures = new ConcurrentHashMap<>();
        CyclicBarrier together = new CyclicBarrier(size);
        onRanks(size, group -> {
            ProcessGroup named = label.isEmpty() ? group : group.labelled(label);
            ProcessGroup calls = named.within(Duration.ofSeconds(4));
            // the searches after the deadlines must overlap
            together.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            try {
                calls.broadcast(new int[] {group.rank()}, group.rank() == 1 ? 1 : 0);
            } catch (FerroException failure) {
                failures.put(group.rank(), failure);
            }
        });
        return failures;
    }

    @Test
    @Timeout(60)
    void aDifferentCallIsReportedBeforeTheSearchEnds() throws Exception {
        // a test process that stands still at the end of the search says nothing
        for (int attempt = 0; attempt < 3; attempt++) {
            try (BackendTransport late = new BackendTransport(new HandOver(1, 2, new ConcurrentHashMap<>()));
                    BackendTransport asking =
                            new BackendTransport(new HandOver(0, 2, ((HandOver) late.plain()).wires))) {
                CompletableFuture<Boolean> isOver = new CompletableFuture<>();
                asking.events(lost(() -> isOver.complete(asking.hasCompared(DEADLINE.toNanos()))));
                HostTensor data = HostTensor.of(new int[] {4});
                late.link(0, Transport.Lane.COLLECTIVE).send(CallHeader.of(3, 1, 8, "barrier"), data, 0, 1);
                beginSearch(asking, CallHeader.of(3, 1, 7, "broadcast"), data);
                if (!isOver.get(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
                    return;
                }
            }
        }
        fail("the call may time out before the difference is reported");
    }

    @Test
    @Timeout(60)
    void aPostDoesNotEndOnceASearchHasBegun() throws Exception {
        try (BackendTransport late = new BackendTransport(new HandOver(1, 2, new ConcurrentHashMap<>()));
                BackendTransport asking = new BackendTransport(new HandOver(0, 2, ((HandOver) late.plain()).wires))) {
            CountDownLatch over = new CountDownLatch(2);
            CallHeader call = CallHeader.of(3, 1, 7, "broadcast");
            int[] into = {0};
            beginSearch(asking, call, HostTensor.of(new int[] {4}));
            Link ours = asking.link(1, Transport.Lane.COLLECTIVE);
            Link theirs = late.link(0, Transport.Lane.COLLECTIVE);
            // the search takes the header of the late rank, which makes the same call
            theirs.send(call, HostTensor.of(new int[] {5}), 0, 1);
            theirs.receive(call, HostTensor.of(new int[] {0}), 0, 1);
            ours.receive(call, HostTensor.of(into), 0, 1);
            asking.send(1, over::countDown);
            asking.receive(1, over::countDown);
            assertTrue(over.await(DEADLINE.toSeconds(), TimeUnit.SECONDS), "a post has failed");
            assertEquals(0, into[0]);
            assertEquals(0, ours.sent() + ours.received());
        }
    }

    @Test
    void aSearchTakesAtMostAQuarterOfTheTimeout() {
        try (BackendTransport transport = new BackendTransport(new HandOver(0, 2, new ConcurrentHashMap<>()))) {
            beginSend(transport, CallHeader.of(3, 1, 7, "broadcast"), HostTensor.of(new int[] {4}));
            // three nanoseconds are over at once
            assertTrue(transport.hasCompared(3));
        }
    }

    /** Begins a search on rank 0, which is in its send to rank 1. */
    private static void beginSearch(BackendTransport transport, CallHeader call, HostTensor data) {
        beginSend(transport, call, data);
        assertFalse(transport.hasCompared(DEADLINE.toNanos()));
    }

    private static void beginSend(BackendTransport transport, CallHeader call, HostTensor data) {
        transport.link(1, Transport.Lane.COLLECTIVE).send(call, data, 0, 1);
        while (!((HandOver) transport.plain()).wires.containsKey("0>1#" + BackendLink.TAG)) {
            Thread.onSpinWait();
        }
    }

    private static Transport.Events lost(Runnable action) {
        return (Transport.Events) Proxy.newProxyInstance(
                Transport.Events.class.getClassLoader(),
                new Class<?>[] {Transport.Events.class},
                (self, method, of) -> {
                    if (method.getName().equals("lost")) {
                        action.run();
                    }
                    return null;
                });
    }

    @Test
    void aWorkerAfterAFailedCallIsInNoCall() throws Exception {
        CompletableFuture<Integer> failed = new CompletableFuture<>();
        BackendTransport.BlockingWorker worker =
                new BackendTransport.BlockingWorker("test", (failure, peer) -> failed.complete(peer));
        worker.add(3, () -> {
            throw new IllegalStateException("the peer is gone");
        });
        assertEquals(3, failed.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
        worker.stop();
        worker.join();
        assertEquals(-1, worker.peerInCall());
        assertTrue(worker.isIdle());
    }

    @Test
    void allGatherJoinsPartsInRankOrder() throws Exception {
        onRanks(5, group -> {
            int[] all = new int[10];
            group.allGather(new int[] {7 * group.rank() + 3, -group.rank() - 1}, all);
            assertArrayEquals(new int[] {3, -1, 10, -2, 17, -3, 24, -4, 31, -5}, all);
        });
    }

    @Test
    void recvUpToIsRefusedWithTheNameOfThePlainBackend() throws Exception {
        onRanks(2, group -> {
            Executable call = () -> group.recvUpTo(HostTensor.of(new int[3]), 1 - group.rank(), 7);
            String text =
                    assertThrows(UnsupportedOperationException.class, call).getMessage();
            assertTrue(text.contains(" on the plain back end HandOver: its messages do not carry their length"), text);
        });
    }
}
