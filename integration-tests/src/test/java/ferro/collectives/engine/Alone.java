package ferro.collectives.engine;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/** The fixture of the tests: a rank of a world of one, with the real engine over a medium that moves nothing. */
final class Alone {
    static final Failure FAILURE = new Failure(Code.ABORTED, 0, -1, Set.of(0), "out of paper", null);
    static final Duration LONG = Duration.ofMinutes(1);

    private static final GroupSpec GROUP = GroupSpec.of("stress", 0, 1, LONG);
    private static final SystemContext CONTEXT = SystemContext.of(Map.of("ferro.recorder.entries", "0"));
    private static final Motionless MEDIUM = new Motionless(1, () -> {
        throw new IllegalStateException("a world of " + GROUP.worldSize() + " has no links");
    });
    private static final ProgressLoop NOBODY = engine().parts().loop;

    private Alone() {}

    /** Makes a group of the real engine; the caller closes it. */
    static GroupEngine engine() {
        return new GroupEngine(MEDIUM, GROUP, CONTEXT, GroupIdentity.unwatched(GROUP, timeout -> true));
    }

    /** Makes an operation on which no thread makes progress. */
    static PendingWork work() {
        return new PendingWork(NOBODY, "barrier", 1, LONG);
    }
}
