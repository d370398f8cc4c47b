package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.collectives.CollectiveEngine;
import ferro.group.SystemContext;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.Link;
import ferro.spi.Transport.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranks that are threads, over rings alone: no link of the bare medium is there. */
@Timeout(120)
class IntraNodeTransportTest {
    private static final Duration LONG = Duration.ofSeconds(50);

    private final ExecutorService background = Executors.newSingleThreadExecutor();
    private final ExecutorService ranks = Executors.newCachedThreadPool();
    private ThreadMedium[] bare;

    @AfterEach
    void end() {
        background.shutdownNow();
        ranks.shutdownNow();
    }

    @Test
    void aControlMessageWakesASleepingRank() throws Exception {
        manyRounds(ends(2));
        assertTrue(bare[0].controlMessages + bare[1].controlMessages > 0);
    }

    @Test
    void aDoorbellWakesASleepingRankWithoutControlMessages() throws Exception {
        IntraNodeTransport[] ends = ends(2);
        for (ThreadMedium medium : bare) {
            medium.hasBells = true;
        }
        manyRounds(ends);
        assertEquals(0, bare[0].controlMessages + bare[1].controlMessages);
    }

    private void manyRounds(IntraNodeTransport[] ends) throws Exception {
        NoEvents.on(ends);
        int rounds = 3000;
        together(2, rank -> {
            Link link = ends[rank].link(1 - rank, Lane.COLLECTIVE);
            SplittableRandom random = new SplittableRandom(71 + rank);
            long[] sent = new long[1];
            long[] came = new long[1];
            for (int round = 1; round <= rounds; round++) {
                // about as long as the other takes to fall asleep
                spin(random.nextLong(2 * SleepingRanks.SETTLE_NANOS));
                CallHeader call = CallHeader.of(3, round, round, "round");
                sent[0] = round * 3L;
                link.send(call, HostTensor.of(sent), 0, 1);
                link.receive(call, HostTensor.of(came), 0, 1);
                while (link.received() < round || link.sent() < round) {
                    if (!ends[rank].poll()) {
                        ends[rank].park(Long.MAX_VALUE);
                    }
                }
                assertEquals(round * 3L, came[0]);
            }
        });
        assertEquals(0, bare[0].longSleeps + bare[1].longSleeps);
    }

    @Test
    void everyCollectiveAndMessagesWorkOverRings() throws Exception {
        for (int worldSize : new int[] {2, 3, 4}) {
            CollectiveBackend[] groups = groups(worldSize);
            together(worldSize, rank -> everything(groups[rank], worldSize));
            together(worldSize, rank -> groups[rank].close());
        }
    }

    private static void everything(CollectiveBackend group, int worldSize) {
        int rank = group.rank();
        for (int count : new int[] {1, 7, 1000, 100_003}) {
            float[] sum = numbers(count, rank + 2);
            group.run(Collective.allReduce(HostTensor.of(sum), HostTensor.of(sum), ReduceOp.SUM), LONG);
            float[] expected = new float[count];
            for (int r = 0; r < worldSize; r++) {
                float[] part = numbers(count, r + 2);
                for (int i = 0; i < count; i++) {
                    expected[i] += part[i];
                }
            }
            assertArrayEquals(expected, sum);
            float[] copy = rank == 1 ? numbers(count, 9) : new float[count];
            group.run(Collective.broadcast(HostTensor.of(copy), 1), LONG);
            assertArrayEquals(numbers(count, 9), copy);
            messages(group, worldSize, count);
        }
        group.barrier(LONG);
    }

    private static void messages(CollectiveBackend group, int worldSize, int count) {
        int rank = group.rank();
        int next = (rank + 1) % worldSize;
        int before = (rank + worldSize - 1) % worldSize;
        float[] copy = new float[count];
        var sending = group.submit(Message.send(HostTensor.of(numbers(count, rank + 20)), next, 5), LONG);
        group.submit(Message.recv(HostTensor.of(copy), before, 5), LONG).await();
        sending.await();
        assertArrayEquals(numbers(count, before + 20), copy);
    }

    @Test
    void aRankThatAbortsEndsTheWaitOfItsPeerOverRings() throws Exception {
        CollectiveBackend[] groups = groups(2);
        Future<?> waiting = ranks.submit(() -> groups[0].barrier(LONG));
        groups[1].abort(new IllegalStateException("the test says so"));
        FerroException failure = (FerroException)
                assertThrows(java.util.concurrent.ExecutionException.class, () -> waiting.get(30, TimeUnit.SECONDS))
                        .getCause();
        assertEquals(Code.ABORTED, failure.code());
        together(2, rank -> groups[rank].close());
    }

    @Test
    void differentCallsAreDetectedOverRings() throws Exception {
        CollectiveBackend[] groups = groups(2);
        List<FerroException> failures = new ArrayList<>();
        together(2, rank -> {
            HostTensor data = HostTensor.of(numbers(4 + rank, 3));
            FerroException failure = assertThrows(
                    FerroException.class, () -> groups[rank].run(Collective.allReduce(data, ReduceOp.SUM), LONG));
            synchronized (failures) {
                failures.add(failure);
            }
        });
        for (FerroException failure : failures) {
            assertEquals(Code.MISMATCH, failure.code());
            assertTrue(failure.getMessage().contains("all"), failure.getMessage());
        }
        together(2, rank -> groups[rank].close());
    }

    private CollectiveBackend[] groups(int worldSize) {
        IntraNodeTransport[] ends = ends(worldSize);
        CollectiveBackend[] groups = new CollectiveBackend[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            groups[rank] = CollectiveEngine.over(
                    ends[rank], GroupSpec.of("near", rank, worldSize, LONG), SystemContext.of(Map.of()));
        }
        return groups;
    }

    private IntraNodeTransport[] ends(int worldSize) {
        bare = ThreadMedium.group(worldSize, background);
        SegmentLayout layout = OneJvm.layout(worldSize, 0);
        OneJvm memory = new OneJvm(worldSize, layout.end());
        BitSet near = new BitSet();
        near.set(0, worldSize);
        IntraNodeTransport[] ends = new IntraNodeTransport[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            ends[rank] =
                    new IntraNodeTransport(bare[rank], GroupSpec.of("near", rank, worldSize, LONG), System::nanoTime);
            ends[rank].meet(memory.of(rank), layout, near);
        }
        return ends;
    }

    private void together(int worldSize, IntConsumer rank) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int r = 0; r < worldSize; r++) {
            int me = r;
            all.add(ranks.submit(() -> rank.accept(me)));
        }
        for (Future<?> one : all) {
            one.get(100, TimeUnit.SECONDS);
        }
    }

    private static void spin(long nanos) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < nanos) {
            Thread.onSpinWait();
        }
    }

    private static float[] numbers(int count, int start) {
        float[] made = new float[count];
        for (int i = 0; i < count; i++) {
            made[i] = (start * 7 + i) % 1021 + 2;
        }
        return made;
    }
}
