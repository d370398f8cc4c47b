package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spi.Transport.Lane;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

class RingLayoutTest {
    private static final int BASE = 4096;

    @Test
    void ranksOfOtherHostsTakeNoRoom() {
        BitSet hosted = new BitSet();
        hosted.set(4088, 4096);

        assertEquals(new RingLayout(8, BASE, true).end(), new RingLayout(hosted, BASE, true).end());
    }

    @Test
    void noTwoRingsOfAnAreaOverlapWhereverTheRanksOfAHostAre() {
        BitSet hosted = new BitSet();
        for (int rank : new int[] {3, 17, 18, 400}) {
            hosted.set(rank);
        }
        RingLayout layout = new RingLayout(hosted, BASE, true);

        hosted.stream().forEach(receiver -> {
            BitSet used = new BitSet();
            used.set(layout.asleep(), layout.asleep() + ProgressWords.LINE_BYTES);
            used.set(layout.gone(), layout.gone() + ProgressWords.LINE_BYTES);
            hosted.stream().filter(sender -> sender != receiver).forEach(sender -> {
                for (Lane lane : Lane.values()) {
                    int first = layout.ring(receiver, sender, lane);
                    int end = RingLayout.bytes(first) + layout.ringBytes() + RingLayout.REPEATED_BYTES;
                    assertTrue(used.get(first, end).isEmpty(), receiver + " from " + sender);
                    used.set(first, end);
                }
            });
            assertTrue(used.nextSetBit(0) >= BASE && used.length() <= layout.end(), "ends at " + used.length());
        });
    }
}
