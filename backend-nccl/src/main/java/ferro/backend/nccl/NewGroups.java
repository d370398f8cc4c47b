package ferro.backend.nccl;

import ferro.CollectiveBackend;
import java.time.Duration;

/** Groups of some ranks. */
final class NewGroups {
    private final NcclMember member;

    NewGroups(NcclMember member, WorkQueue queue) {
        this.member = member;
    }

    CollectiveBackend make(int[] ranks, String name, Duration timeout) {
        throw new UnsupportedOperationException("no groups of " + ranks.length + " ranks yet on " + member.base());
    }
}
