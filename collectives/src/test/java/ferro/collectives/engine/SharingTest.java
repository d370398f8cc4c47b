package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.collectives.engine.LocalPeers.Sharing;
import ferro.collectives.shared.SegmentLayout;
import ferro.spi.GroupSpec;
import ferro.spi.SegmentSize;
import java.time.Duration;
import java.util.BitSet;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SharingTest {
    @Test
    void anAreaIsAsLargeAsTheRanksOfItsHostNeed() {
        Sharing few = sharing(4096, 8);

        assertTrue(few.size().bytes() < 3 << 20, "" + few.size());
        assertEquals(Optional.empty(), few.refusedBecause());
    }

    @Test
    void slotsTakeMemoryLaterAndRingsAtOnce() {
        SegmentSize size = sharing(2, 2).size();

        assertEquals(SegmentLayout.FIRST_SLOT, size.laterFrom());
        assertEquals(3 << 20, size.later());
        assertTrue(size.bytes() > size.laterTo(), "" + size);
        assertEquals(2, size.ranks());
        assertEquals(0, sharing(4, 2).size().later(), "there are no slots");
    }

    @Test
    void moreRanksOfAHostThanASlotHasLinesForAreRefused() {
        assertEquals(Optional.empty(), sharing(1024, 1024).refusedBecause());
        assertEquals(
                "1025 ranks of \"big\" are on one host, need at most 1024: slots of 65536 bytes have no room for more",
                sharing(1025, 1025).refusedBecause().orElseThrow());
    }

    @Test
    void beforeAJobTheSameSizesAreTold() {
        assertEquals(Optional.of(sharing(8, 8).size()), LocalPeers.segmentOf(8));
        assertTrue(LocalPeers.segmentOf(1024).isPresent());
        assertEquals(Optional.empty(), LocalPeers.segmentOf(1025));
    }

    @Test
    void aRankThatIsAloneOnItsHostNeedsNoArea() {
        assertTrue(sharing(4, 1).refusedBecause().isPresent());
    }

    private static Sharing sharing(int worldSize, int onThisHost) {
        BitSet hosted = new BitSet();
        hosted.set(0, onThisHost);
        return Sharing.of(GroupSpec.of("big", 0, worldSize, Duration.ofSeconds(1)), hosted, false);
    }
}
