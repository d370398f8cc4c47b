package ferro.collectives.engine;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.engine.shm.BootstrapDeadline;
import ferro.spi.Deadlines;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.time.Duration;

/**
 * Runs all-reduces of a new group itself, for a time, so that the first calls of a program find compiled code, open
 * connections and touched memory. They use the first numbers of the group.
 */
final class WarmUp {
    /** One length for the fast path, one for flat, one for shares; all use the kernel that most programs use. */
    private static final int[] ELEMENTS = {1, 256, 16_384};

    private static final int[] CALLS = {32, 16, 4};

    /** An op of its own name, so that no call of a program is mistaken for it if another rank has no warm-up. */
    private static final ReduceOp LONGEST = ReduceOp.ofLongs("ferro.warmup", (a, b) -> Math.max(a, b));

    private final CollectiveBackend group;
    private final RankContext context;
    private BootstrapDeadline deadline;

    private WarmUp(CollectiveBackend group, RankContext context, BootstrapDeadline deadline) {
        this.group = group;
        this.context = context;
        this.deadline = deadline;
    }

    /** Warms up if the settings ask for it. The warm-up has its own time in addition to the deadline. */
    static void run(CollectiveBackend group, RankContext context, BootstrapDeadline deadline) {
        Duration time = Settings.WARM_UP.of(context);
        if (!time.isZero() && group.worldSize() > 1) {
            new WarmUp(group, context, deadline).run(Deadlines.nanos(time));
        }
    }

    private void run(long ownNanos) {
        long[] nanos = {ownNanos};
        reduce(HostTensor.of(nanos), LONGEST);
        deadline = deadline.later(nanos[0]);
        long begun = context.nanoTime();
        // rank 0 ends the warm-up for all ranks
        float[] over = {0};
        while (over[0] == 0) {
            for (int size = 0; size < ELEMENTS.length; size++) {
                HostTensor tensor = HostTensor.of(new float[ELEMENTS[size]]);
                for (int call = 0; call < CALLS[size]; call++) {
                    reduce(tensor, ReduceOp.SUM);
                }
            }
            over[0] = group.rank() == 0 && context.nanoTime() - begun >= nanos[0] ? 1 : 0;
            reduce(HostTensor.of(over), ReduceOp.SUM);
        }
    }

    private void reduce(HostTensor tensor, ReduceOp op) {
        group.run(Collective.allReduce(tensor, op), deadline.left());
    }
}
