package ferro.backend.simulated;

import ferro.DataType;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Operand;
import java.util.Arrays;
import java.util.SplittableRandom;

/** One message of a random program, small or above the eager limit; one in three is received from any rank. */
final class Message {
    private static final int TAGS = 3;
    private static final int LARGE = 9_000;

    private final int from;
    private final int to;
    private final int tag;
    private final boolean isFromAny;
    private final long[] content;
    private final Operand sent;
    private final Operand got;

    /** Draws a message; {@code number} is another one for each message of a group. */
    Message(SplittableRandom random, int worldSize, int number) {
        from = random.nextInt(worldSize);
        to = random.nextInt(worldSize);
        int drawnTag = random.nextInt(TAGS);
        content = new long[random.nextInt(12) == 0 ? LARGE : 1 + random.nextInt(40)];
        for (int i = 0; i < content.length; i++) {
            content[i] = 2 + random.nextInt(1000);
        }
        isFromAny = content[0] % 3 == 0;
        // its tag is in no other message, so that its receive takes no other message
        tag = isFromAny ? TAGS + number : drawnTag;
        sent = cells().fill(at -> content[at]);
        got = cells();
    }

    private Operand cells() {
        return Operand.unwritten(DataType.INT64, content.length, Operand.OperandMemory.ARRAY);
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    /** Returns one side of it. */
    Op half(boolean sends) {
        return new Half(sends);
    }

    /** The send, or the receive. */
    private final class Half implements Op {
        private final boolean sends;

        Half(boolean sends) {
            this.sends = sends;
        }

        @Override
        public Work submit(ProcessGroup group) {
            if (sends) {
                return group.sendAsync(sent.tensor(), to, tag);
            }
            return isFromAny
                    ? group.recvUpToAsync(got.tensor(), ProcessGroup.ANY_SOURCE, tag)
                    : group.recvAsync(got.tensor(), from, tag);
        }

        @Override
        public String wrongOn(int rank) {
            long[] mine = (sends ? sent : got).bits();
            int wrong = Arrays.mismatch(mine, content);
            return wrong < 0 ? null : "element " + wrong + " is " + mine[wrong] + ", need " + content[wrong];
        }

        @Override
        public void reuseMemoryOf(int rank) {
            (sends ? sent : got).unwrite();
        }

        @Override
        public boolean isTouchedOn(int rank) {
            return !(sends ? sent : got).isUnwritten();
        }

        @Override
        public String toString() {
            return (sends ? "send" : isFromAny ? "receive from any rank" : "receive") + " of " + content.length
                    + " longs from " + from + " to " + to + " tag " + tag;
        }
    }
}
