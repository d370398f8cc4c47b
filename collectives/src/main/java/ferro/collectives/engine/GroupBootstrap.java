package ferro.collectives.engine;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.collectives.engine.shm.BootstrapDeadline;
import ferro.collectives.engine.shm.LocalPeers;
import ferro.control.failure.Failure;
import ferro.control.failure.Failures;
import ferro.control.group.GroupControl;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;

/** Makes a new group ready together with its other ranks: they find out which of them share memory. */
final class GroupBootstrap {
    private final GroupSpec group;
    private final RankContext context;
    private final GroupControl control;
    private final LocalPeers localPeers;
    private final boolean joined;

    /** Makes one; {@code joined} tells whether the group was joined, and not made of another one. */
    GroupBootstrap(GroupSpec group, RankContext context, GroupControl control, LocalPeers localPeers, boolean joined) {
        this.group = group;
        this.context = context;
        this.control = control;
        this.localPeers = localPeers;
        this.joined = joined;
    }

    /** Runs before the first call of a user; closes a group that cannot be made ready, and throws. */
    void run(CollectiveBackend engine) {
        BootstrapDeadline deadline =
                joined ? BootstrapDeadline.ofJoin(group, context) : BootstrapDeadline.ofSubgroup(group);
        try {
            localPeers.meet(engine, joined, deadline);
        } catch (RuntimeException | Error failure) {
            if (!Failures.isAbortOfAnother(group, control.failure())) {
                throw ended(engine, failure);
            }
        }
    }

    private FerroException ended(CollectiveBackend engine, Throwable failure) {
        // a failure here after the group has failed is a consequence of that one
        Failure first = failure instanceof FerroException ? null : control.failure();
        String self = control.self();
        Throwable cause = first == null ? failure : Failures.exception(group, self, first, control.ends());
        FerroException told = Failures.notMet(group, self, cause, joined);
        control.fail(Failures.failure(group, self, told));
        try {
            engine.close(Duration.ZERO);
        } catch (RuntimeException second) {
            told.addSuppressed(second);
        }
        return told;
    }
}
