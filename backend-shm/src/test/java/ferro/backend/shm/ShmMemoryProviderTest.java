package ferro.backend.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemory;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShmMemoryProviderTest {
    private static final GroupSpec GROUP = GroupSpec.of("dp", 1, 3, Duration.ofSeconds(10));

    private final ShmMemoryProvider provider = new ShmMemoryProvider();

    @TempDir
    private Path folder;

    @Test
    void theBudgetOfARankIsSharedByItsGroupsAndReturned() throws Exception {
        try (SystemContext context = context(Map.of("ferro.shm.bytes", "64KiB"))) {
            SharedMemory small = provider.open(GROUP, context, SegmentSize.now(1_000));
            SharedMemory first = provider.open(GROUP, context, SegmentSize.now(40_000));
            FerroException failure =
                    assertThrows(FerroException.class, () -> provider.open(GROUP, context, SegmentSize.now(40_000)));
            first.close();
            provider.open(GROUP, context, SegmentSize.now(40_000)).close();
            small.close();

            assertEquals(Code.RESOURCE, failure.code());
            assertTrue(
                    failure.getMessage()
                            .startsWith(
                                    "shared memory for group \"dp\" rank 1: need 40000 bytes, have 24536 of the 65536"),
                    failure.getMessage());
        }
    }

    @Test
    void lentMemoryCountsUntilItIsReturned() throws Exception {
        try (SystemContext context = context(Map.of("ferro.shm.bytes", "64KiB"))) {
            SharedMemory memory = provider.open(GROUP, context, SegmentSize.now(40_000));
            ByteBuffer lent = memory.lend();
            memory.close();

            assertThrows(FerroException.class, () -> provider.open(GROUP, context, SegmentSize.now(40_000)));
            memory.giveBack();
            memory.giveBack();
            provider.open(GROUP, context, SegmentSize.now(40_000)).close();
            assertThrows(FerroException.class, () -> provider.open(GROUP, context, SegmentSize.now(65_537)));
            lent.putInt(0, 1);
        }
    }

    @Test
    void lentMemoryCountsUntilItIsUnreachable() throws Exception {
        try (SystemContext context = context(Map.of("ferro.shm.bytes", "64KiB"))) {
            for (int round = 0; round < 5; round++) {
                SharedMemory memory = provider.open(GROUP, context, SegmentSize.now(40_000));
                memory.lend().putInt(0, round);
                memory.close();
            }
        }
    }

    @Test
    void closedMemoryThatIsReachableIsRequestedBackOnce() throws Exception {
        try (SystemContext context = context(Map.of("ferro.shm.bytes", "64KiB"))) {
            SharedMemory closed = provider.open(GROUP, context, SegmentSize.now(40_000));
            ByteBuffer lent = closed.lend();
            closed.giveBack();
            closed.close();
            provider.open(GROUP, context, SegmentSize.now(40_000)).close();
            WeakReference<Object> uncollected = new WeakReference<>(new Object());

            provider.open(GROUP, context, SegmentSize.now(40_000)).close();

            assertNotNull(uncollected.get(), "the collector was asked though the budget suffices");
            lent.putInt(0, 1);
        }
    }

    /** As a thread of the engine does that has lost its core just after it told the caller that an operation has ended. */
    @Test
    void aBufferThatAThreadStillHoldsIsFoundByALaterCollection() throws Exception {
        try (SystemContext context = context(Map.of("ferro.shm.bytes", "64KiB"))) {
            SharedMemory memory = provider.open(GROUP, context, SegmentSize.now(40_000));
            AtomicReference<ByteBuffer> held = new AtomicReference<>(memory.lend());
            memory.close();
            WeakReference<Object> uncollected = new WeakReference<>(new Object());
            Thread holder = new Thread(() -> {
                while (uncollected.get() != null) {
                    Thread.onSpinWait();
                }
                held.set(null);
            });
            holder.start();

            provider.open(GROUP, context, SegmentSize.now(40_000)).close();

            holder.join();
        }
    }

    /** The least of several, because a collection takes as long as it takes. */
    @Test
    void theWaitForTheCollectorIsShorterThanTheTimeout() throws Exception {
        GroupSpec hasty = GroupSpec.of("dp", 1, 3, Duration.ofMillis(200));
        long least = Long.MAX_VALUE;
        try (SystemContext context = context(Map.of("ferro.shm.bytes", "64KiB"))) {
            SharedMemory memory = provider.open(GROUP, context, SegmentSize.now(40_000));
            ByteBuffer lent = memory.lend();
            for (int round = 0; round < 5; round++) {
                long begun = System.nanoTime();
                assertThrows(FerroException.class, () -> provider.open(hasty, context, SegmentSize.now(40_000)));
                least = Math.min(least, System.nanoTime() - begun);
            }
            lent.putInt(0, 1);
            memory.giveBack();
            memory.close();
        }

        assertTrue(least < hasty.timeout().toNanos(), least + " ns");
    }

    /** The second group would fit if nobody needed what the first may need later. */
    @Test
    void memoryThatRanksMayNeedLaterIsKeptFree() throws Exception {
        long free = Files.getFileStore(folder).getUsableSpace();
        long later = 1L << 20;
        int ranks = Math.toIntExact(free / later * 2 / 3);
        SegmentSize size =
                SegmentSize.now(2 << 20).withLater(1 << 20, (1 << 20) + later).withRanks(ranks);
        try (SystemContext context = context(Map.of())) {
            SharedMemory first = provider.open(GROUP, context, size);
            FerroException failure = assertThrows(FerroException.class, () -> provider.open(GROUP, context, size));
            first.close();
            provider.open(GROUP, context, size).close();

            assertEquals(Code.RESOURCE, failure.code());
            String kept = "bytes free, but " + 2 * ranks * later + " are reserved for later use by ranks";
            assertTrue(failure.getMessage().contains(kept), failure.getMessage());
        }
    }

    @Test
    void aMissingFolderFailsWithResource() throws Exception {
        try (SystemContext context = context(Map.of("ferro.shm.dir", folder + "/gone"))) {
            FerroException failure =
                    assertThrows(FerroException.class, () -> provider.open(GROUP, context, SegmentSize.now(4096)));

            assertEquals(Code.RESOURCE, failure.code());
            assertTrue(failure.getMessage().contains("need 8192 bytes in " + folder + "/gone"), failure.getMessage());
        }
    }

    @Test
    void aReasonIsGivenWhySharedMemoryIsUnavailable() {
        assertReason("ferro.links=tcp turns it off", Map.of("ferro.links", "tcp"));
        assertReason("is not a folder", Map.of("ferro.shm.dir", folder + "/gone"));
        assertReason("not an absolute path", Map.of("ferro.shm.dir", "shm"));
    }

    @Test
    void theBackendGivesTheReasonsOfTheMemoryProvider() {
        ShmBackendProvider backend = new ShmBackendProvider();
        try (SystemContext context = context(Map.of("ferro.shm.dir", folder + "/gone"))) {
            assertTrue(backend.unavailableBecause(context).orElseThrow().contains("is not a folder"));
        }
        try (SystemContext context = context(Map.of("ferro.links", "tcp"))) {
            String reason = backend.unavailableBecause(context).orElseThrow();
            assertTrue(reason.contains("add ferro to the class path"), reason);
        }
    }

    private void assertReason(String part, Map<String, String> settings) {
        try (SystemContext context = context(settings)) {
            String reason = provider.unavailableBecause(context).orElseThrow();
            assertTrue(reason.contains(part), reason);
        }
    }

    private SystemContext context(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(Map.of("ferro.shm.dir", folder.toString()));
        all.putAll(settings);
        return SystemContext.of(all);
    }
}
