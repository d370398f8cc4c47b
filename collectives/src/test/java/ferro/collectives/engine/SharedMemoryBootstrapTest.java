package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.engine.StillTransport.Trouble;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemory;
import ferro.spi.SharedMemoryProvider;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What goes wrong while ranks find out who shares memory with whom. */
@Timeout(60)
class SharedMemoryBootstrapTest {
    private final Trouble trouble = new Trouble();
    private boolean closed;

    @Test
    void aRankLostAfterTheRendezvousIsNamedAndTheMemoryIsReleased() {
        trouble.memory = new LosesAPeer();
        try (SystemContext context = SystemContext.of(Map.of())) {
            GroupSpec pair = GroupSpec.of("pair", 0, 2, Duration.ofSeconds(30));
            StillTransport transport = new StillTransport(trouble, true);

            FerroException failure =
                    assertThrows(FerroException.class, () -> CollectiveEngine.over(transport, pair, context));

            assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
            assertEquals(Set.of(1), failure.where().culprits());
            assertTrue(failure.getMessage().contains("lost by the test"), failure.getMessage());
            assertTrue(closed);
        }
    }

    @ParameterizedTest
    @CsvSource({"30000, 300", "50, 400"})
    void theJoinTimeoutEndsTheRendezvous(long call, long join) {
        trouble.memory = new OfSeveralProcesses();
        GroupSpec pair = GroupSpec.of("pair", 0, 2, Duration.ofMillis(call));
        trouble.parked = until -> Thread.yield();
        try (SystemContext context = SystemContext.of(Map.of("ferro.join.timeout", join + "ms"))) {
            StillTransport transport = new StillTransport(trouble, true);
            long begun = System.nanoTime();

            FerroException failure =
                    assertThrows(FerroException.class, () -> CollectiveEngine.over(transport, pair, context));

            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
            assertEquals(Code.TIMED_OUT, failure.code(), failure.getMessage());
            assertTrue(failure.getMessage().endsWith(" (ferro.join.timeout sets the time)"), failure.getMessage());
            assertTrue(millis >= join && millis < 20_000, millis + " ms");
        }
    }

    /** Memory whose host each rank has to tell the others first. */
    private final class OfSeveralProcesses extends LosesAPeer {
        @Override
        public boolean isOneProcess() {
            return false;
        }
    }

    /** Memory of both ranks, found at once; the other one is lost as the last thing before it is used. */
    private class LosesAPeer implements SharedMemoryProvider, SharedMemory {
        private int offers;

        @Override
        public Optional<String> unavailableBecause(RankContext context) {
            return Optional.empty();
        }

        @Override
        public boolean isOneProcess() {
            return true;
        }

        @Override
        public SharedMemory open(GroupSpec group, RankContext context, SegmentSize size) {
            return this;
        }

        @Override
        public byte[] offer() {
            if (++offers == 2) {
                Where where = Where.of("pair", 0).blaming(1);
                trouble.events.lost(1, new FerroException(Code.PEER_LOST, where, "rank 1 was lost by the test"));
                while (trouble.abandons == 0) {
                    // a reason may still come, so that the loss is believed a little later
                    Thread.yield();
                }
            }
            return new byte[0];
        }

        @Override
        public Optional<String> reach(int rank, byte[] offer) {
            return Optional.empty();
        }

        @Override
        public void settle() {
            // there is no name
        }

        @Override
        public ByteBuffer area(int rank) {
            throw new IllegalStateException("rank " + rank + " is asked for its area, which is "
                    + (closed ? "closed" : "of a rank that was lost"));
        }

        @Override
        public void reserve(long from, long bytes) {
            // all memory is there
        }

        @Override
        public ByteBuffer lend() {
            throw new IllegalStateException("no tensor is made of the segments of a group");
        }

        @Override
        public void giveBack() {
            // nothing counts
        }

        @Override
        public String host(RankContext context) {
            return "here";
        }

        @Override
        public String host() {
            return "here";
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
