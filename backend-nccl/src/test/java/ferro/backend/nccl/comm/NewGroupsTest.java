package ferro.backend.nccl.comm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.nccl.ffi.StandIn;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Groups of some ranks. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NewGroupsTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @Test
    @DisplayName("2-02: while one thread of a rank makes a group, another one is refused; the first goes on")
    void aSecondCallOfARankIsRefused() throws Exception {
        try (NcclRanks ranks = NcclRanks.of(2, SOON)) {
            CompletableFuture<CollectiveBackend> first =
                    NcclRanks.on("first", () -> ranks.rank(0).newGroup(new int[] {1, 0}, "[1, 0]", SOON));
            long until = System.nanoTime() + SOON.toNanos();
            while (!ranks.rank(0).control().agreement().isInProgress() && System.nanoTime() - until < 0) {
                LockSupport.parkNanos(1_000_000);
            }

            Throwable second =
                    NcclRanks.outcome(NcclRanks.on("second", () -> ranks.rank(0).newGroup(new int[] {0}, "[0]", SOON)));

            IllegalStateException refused = assertInstanceOf(IllegalStateException.class, second);
            assertTrue(refused.getMessage().contains("another thread waits in newGroup([1, 0])"), refused.getMessage());
            try (CollectiveBackend other = ranks.rank(1).newGroup(new int[] {1, 0}, "[1, 0]", SOON);
                    CollectiveBackend own = first.get(10, TimeUnit.SECONDS)) {
                assertEquals(0, other.rank());
                assertEquals(1, own.rank());
            }
        }
    }

    @Test
    @DisplayName("members that make different groups fail at once with MISMATCH; the parent goes on")
    void membersThatDisagreeFail() {
        try (NcclRanks ranks = NcclRanks.of(2, SOON)) {
            List<Throwable> outcomes = ranks.outcomes(
                    rank -> rank.newGroup(rank.rank() == 0 ? new int[] {0, 1} : new int[] {1, 0}, "part", SOON));

            for (Throwable outcome : outcomes) {
                FerroException failure = assertInstanceOf(FerroException.class, outcome);
                assertEquals(Code.MISMATCH, failure.code(), failure.toString());
                assertTrue(Set.of(0, 1).containsAll(failure.where().culprits()), failure.toString());
            }
            assertTrue(ranks.rank(0).failure().isEmpty());
        }
    }
}
