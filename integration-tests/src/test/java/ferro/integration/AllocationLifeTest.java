package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Allocation;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Child;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
@Tag("long")
class AllocationLifeTest {
    /** More than the segments of a group of two ranks, and a good deal less than twice as much. */
    private static final String LIMIT = "16MiB";

    private static final int LARGE = 3 << 20;

    @ParameterizedTest
    @ValueSource(strings = {"buffer", "allocation"})
    void aNativeLibraryMayWriteAfterTheGroupIsClosed(String kept) throws IOException, InterruptedException {
        List<String> line = JavaLine.rank(List.of(), WritesByAddress.class.getName(), kept);

        String told = Child.run(0, new ProcessBuilder(line));

        assertTrue(told.contains(WritesByAddress.WRITTEN), told);
    }

    @Test
    void anAllocationMayBeReadAfterTheGroupIsClosed() {
        Map<Integer, Allocation> made = new ConcurrentHashMap<>();
        Ranks.each("shm", 2, group -> {
            Allocation sum = group.allocate(DataType.FLOAT32, 3);
            sum.tensor().setFloat(2, 1 + group.rank());
            group.allReduce(sum.tensor(), ReduceOp.SUM);
            made.put(group.rank(), sum);
        });

        for (Allocation sum : made.values()) {
            float[] read = new float[3];
            sum.tensor().copyTo(0, read, 0, 3);
            assertArrayEquals(new float[] {0, 0, 3}, read);
            sum.close();
        }
    }

    /** Only the second rank has too little memory to share: each rank gets memory of its own, and the reason. */
    @Test
    void anAllocationBeyondTheLimitOfOneRankIsSharedByNoRank() {
        Ranks ranks = new Ranks(Map.of("ferro.links", "shm"));
        try (ranks) {
            List<Map<String, String>> settings = List.of(Map.of(), Map.of("ferro.shm.bytes", LIMIT));
            Ranks.eachOf(ranks.joined(Duration.ofSeconds(30), settings), group -> {
                try (group) {
                    Links.SHM.assertFoundIn(group.linkReport(), 2);
                    Allocation made = group.allocate(DataType.FLOAT32, 2 * LARGE);
                    String why = made.whyNotShared();
                    assertFalse(made.isShared());
                    assertTrue(why.contains("rank 1 offers no memory: ") && why.contains("ferro.shm.bytes"), why);
                    sums(group, made);
                }
            });
        }
    }

    @Test
    void anAllocationBeyondTheLimitIsSharedByNoRankWithTheReason() {
        Ranks.each(Medium.SHM, 2, Map.of("ferro.shm.bytes", LIMIT), group -> {
            Allocation first = group.allocate(DataType.FLOAT32, LARGE);
            assertTrue(first.isShared(), first.whyNotShared());

            Allocation second = group.allocate(DataType.FLOAT32, LARGE);

            assertFalse(second.isShared());
            String why = second.whyNotShared();
            assertTrue(why.contains("rank 0 offers no memory: ") && why.contains("raise ferro.shm.bytes"), why);
            sums(group, second);
            sums(group, first);
        });
    }

    @Test
    void aClosedAllocationDoesNotCountForTheLimit() {
        Ranks.each(Medium.SHM, 2, Map.of("ferro.shm.bytes", LIMIT), group -> {
            List<Allocation> closed = new ArrayList<>();
            for (int round = 0; round < 4; round++) {
                Allocation made = group.allocate(DataType.FLOAT32, LARGE);
                assertTrue(made.isShared(), made.whyNotShared());
                sums(group, made);
                made.close();
                closed.add(made);
            }
            closed.forEach(made -> sums(group, made));
        });
    }

    /** Calls on an allocation, the last ones before its caller drops it. */
    private enum Uses {
        SUM {
            @Override
            void make(ProcessGroup group, Allocation made) {
                sums(group, made);
            }
        },
        QUEUED_SUM {
            @Override
            void make(ProcessGroup group, Allocation made) {
                group.allReduceAsync(made.tensor(), ReduceOp.SUM).await();
            }
        },
        UNEQUAL_PARTS {
            @Override
            void make(ProcessGroup group, Allocation made) {
                long half = made.tensor().elementCount() / 2;
                long[] counts = {half - 1, half};
                HostTensor own = made.tensor().slice(0, counts[group.rank()]);
                group.allGather(own, HostTensor.allocate(DataType.FLOAT32, 2 * half - 1), counts);
            }
        };

        abstract void make(ProcessGroup group, Allocation made);
    }

    @ParameterizedTest
    @EnumSource(Uses.class)
    void anUnreachableAllocationDoesNotCountForTheLimit(Uses uses) {
        Ranks.each(Medium.SHM, 2, Map.of("ferro.shm.bytes", LIMIT), group -> {
            for (int round = 0; round < 4; round++) {
                uses.make(group, sharedAtLast(group));
            }
        });
    }

    @Test
    void anAllocationOverTcpIsNotSharedWithTheReason() {
        Ranks.each("tcp", 2, group -> {
            Allocation made = group.allocate(DataType.FLOAT32, 5);

            assertFalse(made.isShared());
            assertTrue(made.whyNotShared().contains("ferro.links=tcp"), made.whyNotShared());
            sums(group, made);
        });
    }

    /**
     * Allocates until the collector has found what was dropped: a thread of the engine that waits for a core on a busy machine may hold
     * it longer than one allocation asks the collector. All ranks get the same answer, so all try as often.
     */
    private static Allocation sharedAtLast(ProcessGroup group) {
        Allocation made = group.allocate(DataType.FLOAT32, LARGE);
        for (int more = 0; more < 10 && !made.isShared(); more++) {
            made = group.allocate(DataType.FLOAT32, LARGE);
        }
        assertTrue(made.isShared(), made.whyNotShared());
        return made;
    }

    private static void sums(ProcessGroup group, Allocation made) {
        long last = made.tensor().elementCount() - 1;
        made.tensor().setFloat(last, 1 + group.rank());
        group.allReduce(made.tensor(), ReduceOp.SUM);
        assertEquals(3, made.tensor().getFloat(last));
    }
}
