package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.collectives.engine.LocalPeers;
import ferro.spi.SegmentSize;
import ferro.spi.Transport.Lane;
import java.util.BitSet;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SegmentLayoutTest {
    @Test
    void ranksOfOtherHostsTakeNoSpaceInASegment() {
        BitSet hosted = new BitSet();
        hosted.set(4088, 4096);

        assertEquals(of(9, 8).end(), SegmentLayout.of(hosted, 4096, false).end());
    }

    @Test
    void ringsOfASegmentNeverOverlap() {
        BitSet hosted = IntStream.of(3, 17, 18, 400).collect(BitSet::new, BitSet::set, BitSet::or);
        for (boolean hasSlots : new boolean[] {true, false}) {
            SegmentLayout layout = new SegmentLayout(hosted, 4096, hasSlots, true);
            int base = hasSlots ? layout.slot(SegmentLayout.SLOTS) : 0;

            hosted.stream().forEach(receiver -> {
                BitSet used = new BitSet();
                used.set(layout.asleep(), layout.asleep() + ProgressCounters.LINE_BYTES);
                used.set(layout.gone(), layout.gone() + ProgressCounters.LINE_BYTES);
                hosted.stream().filter(sender -> sender != receiver).forEach(sender -> {
                    for (Lane lane : Lane.values()) {
                        int first = layout.ring(receiver, sender, lane);
                        int end = SegmentLayout.bytes(first) + layout.ringBytes() + SegmentLayout.REPEATED_BYTES;
                        assertTrue(used.get(first, end).isEmpty(), receiver + " from " + sender);
                        used.set(first, end);
                    }
                });
                assertTrue(used.nextSetBit(0) >= base && used.length() <= layout.end(), "ends at " + used.length());
            });
        }
    }

    @Test
    void aSegmentIsAsLargeAsTheRanksOfItsHostNeed() {
        SegmentLayout few = of(4096, 8);

        assertTrue(few.size().bytes() < 3 << 20, "" + few.size());
        assertTrue(SegmentLayout.abandoned() + Long.BYTES <= SegmentLayout.small(0), "a flag in a buffer");
        assertEquals(few.slot(0), SegmentLayout.small(SegmentLayout.HEADERS - 1) + SegmentLayout.SMALL_BYTES);
        assertEquals(Optional.empty(), few.refusedBecause("big"));
    }

    @Test
    void onlySlotsOfASegmentAreReservedLater() {
        SegmentSize size = of(2, 2).size();

        assertEquals(SegmentLayout.FIRST_SLOT, size.laterFrom());
        assertEquals(3 << 20, size.later());
        assertTrue(size.bytes() > size.laterTo(), "" + size);
        assertEquals(2, size.ranks());
        assertEquals(0, of(4, 2).size().later(), "there are no slots");
    }

    @Test
    void moreRanksOnAHostThanHeaderLinesAreRefused() {
        assertEquals(Optional.empty(), of(1024, 1024).refusedBecause("big"));
        assertEquals(
                "1025 ranks of \"big\" are on one host, need at most 1024: slots of 65536 bytes have no room for more",
                of(1025, 1025).refusedBecause("big").orElseThrow());
    }

    @Test
    void theSegmentSizeBeforeAJobIsThatOfTheJob() {
        assertEquals(Optional.of(of(8, 8).size()), LocalPeers.segmentOf(8));
        assertTrue(LocalPeers.segmentOf(1024).isPresent());
        assertEquals(Optional.empty(), LocalPeers.segmentOf(1025));
    }

    @Test
    void aRankAloneOnItsHostNeedsNoSegment() {
        assertTrue(of(4, 1).refusedBecause("big").isPresent());
    }

    private static SegmentLayout of(int worldSize, int onThisHost) {
        BitSet hosted = new BitSet();
        hosted.set(0, onThisHost);
        return SegmentLayout.of(hosted, worldSize, false);
    }
}
