package ferro.collectives.shared;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A rank abandons an operation, and its caller writes the operand anew, while another rank reads it. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the operand, before the operation was abandoned")
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the operand, and the reader gives it up")
@Outcome(id = "7, 1", expect = ACCEPTABLE, desc = "what the caller wrote, and the reader gives it up")
@Outcome(expect = FORBIDDEN, desc = "what the caller wrote, taken for the operand")
@State
public class ReuseWhileRead {
    private static final int WORD = 0;
    private static final int OPERAND = 2 * ProgressCounters.LINE_BYTES;

    private final ByteBuffer area = ByteBuffer.allocateDirect(OPERAND + ProgressCounters.LINE_BYTES)
            .order(ByteOrder.nativeOrder())
            .alignedSlice(Long.BYTES)
            .order(ByteOrder.nativeOrder());

    public ReuseWhileRead() {}

    /** Fails, and writes its operand anew. */
    @Actor
    public void abandons() {
        ProgressCounters.announce(area, WORD, 1);
        area.putLong(OPERAND, 7);
    }

    /** Reads the operand, and then looks whether it may use what it has read. */
    @Actor
    public void reads(JJ_Result result) {
        result.r1 = area.getLong(OPERAND);
        result.r2 = ProgressCounters.again(area, WORD);
    }
}
