package ferro.segments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** Examples of Javadoc and of pages. */
class SegmentsSnippetsTest {
    @Test
    void segmentsAreSummed() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            float[] sums;
            // @start region="segments"
            try (Arena arena = Arena.ofShared()) {
                MemorySegment weights = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1.5f, 3);
                group.allReduce(Segments.tensor(DataType.FLOAT32, weights), ReduceOp.SUM);
                sums = weights.toArray(ValueLayout.JAVA_FLOAT); // 3.0 and 6.0 with two ranks
            }
            // @end
            assertArrayEquals(new float[] {3, 6}, sums);
        });
    }
}
