package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.SystemContext;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.Link;
import java.util.Map;

/**
 * Rank 0 of a world of two whose other rank always answers a few polls later, so that a call has steps and takes a while.
 */
final class Beside {
    private static final GroupSpec GROUP = GroupSpec.of("stress-pair", 0, 2, Alone.LONG);
    private static final SystemContext CONTEXT = SystemContext.of(Map.of("ferro.recorder.entries", "0"));

    private Beside() {}

    /** Makes a group of the real engine; the caller closes it. */
    static GroupEngine engine() {
        return new GroupEngine(
                new Motionless(2, Answers::new), GROUP, CONTEXT, GroupIdentity.unwatched(GROUP, timeout -> true));
    }

    /** A link on which a posted receive completes after some polls of the thread that makes progress. */
    private static final class Answers implements Link {
        private static final int LOOKS = 8;

        private long sends;
        private long receives;
        private int looks;

        @Override
        public void send(CallHeader call, HostTensor data, long from, long count) {
            sends++;
        }

        @Override
        public void receive(CallHeader call, HostTensor into, long from, long count) {
            receives++;
            looks = 0;
        }

        @Override
        public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
            receive(call, into, from, count);
        }

        @Override
        public long sent() {
            return sends;
        }

        @Override
        public long bytesMoved() {
            return 0;
        }

        @Override
        public long received() {
            return looks++ < LOOKS && receives > 0 ? receives - 1 : receives;
        }
    }
}
