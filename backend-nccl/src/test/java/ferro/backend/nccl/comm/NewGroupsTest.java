package ferro.backend.nccl.comm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.Store;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.queue.LocalStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Groups of some ranks, made by several threads at once. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NewGroupsTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    /** Reads of what rank 1 has called hang until the test lets them go. */
    private record HangingStore(LocalStore store, CountDownLatch hanging, CountDownLatch released) implements Store {
        @Override
        public byte[] compareAndSet(String key, byte[] expected, byte[] value) {
            if (key.contains("/log/1/")) {
                hanging.countDown();
                try {
                    assertTrue(released.await(20, TimeUnit.SECONDS));
                } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                }
            }
            return store.compareAndSet(key, expected, value);
        }

        @Override
        public void set(String key, byte[] value) {
            store.set(key, value);
        }

        @Override
        public CompletionStage<byte[]> when(String key) {
            return store.when(key);
        }

        @Override
        public byte[] get(String key, Duration timeout) {
            return store.get(key, timeout);
        }

        @Override
        public long add(String key, long delta) {
            return store.add(key, delta);
        }

        @Override
        public boolean delete(String key) {
            return store.delete(key);
        }

        @Override
        public void close() {
            store.close();
        }
    }

    @Test
    @DisplayName("2-02: a store that does not answer holds up the call that asked it, and no other of the same rank")
    void aSlowRequestHoldsUpItsOwnCallOnly() throws Exception {
        HangingStore store = new HangingStore(new LocalStore(), new CountDownLatch(1), new CountDownLatch(1));
        try (NcclRanks ranks = NcclRanks.over(store, 2, SOON)) {
            CompletableFuture<CollectiveBackend> slow =
                    NcclRanks.on("slow", () -> ranks.rank(0).newGroup(new int[] {1, 0}, "[1, 0]", SOON));
            assertTrue(store.hanging.await(10, TimeUnit.SECONDS));
            CompletableFuture<CollectiveBackend> quick =
                    NcclRanks.on("quick", () -> ranks.rank(0).newGroup(new int[] {0}, "[0]", SOON));
            try (CollectiveBackend alone = quick.get(5, TimeUnit.SECONDS)) {
                assertEquals(1, alone.worldSize());
            } finally {
                store.released.countDown();
            }
            try (CollectiveBackend second = ranks.rank(1).newGroup(new int[] {1, 0}, "[1, 0]", SOON);
                    CollectiveBackend first = slow.get(10, TimeUnit.SECONDS)) {
                assertEquals(0, second.rank());
                assertEquals(1, first.rank());
            }
        }
    }
}
