package ferro.tck;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.tck.cells.Cell;
import ferro.tck.cells.Values;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Ranks that make one call and close at once, and a late rank: it calls when the others have left or wait only for it. */
final class LateRank {
    /** Time that the others have at their calls, for those that can return without the late rank; the rest waits anyway. */
    private static final Duration PATIENCE = Duration.ofMillis(20);

    /** Limit until all others are at their calls: only a rank that has failed never arrives. */
    private static final Duration ARRIVAL = Duration.ofSeconds(5);

    private final Subject subject;
    private final int worldSize;
    private final int late;
    private final boolean untilClosed;

    /**
     * Chooses the late rank.
     *
     * @param worldSize   number of ranks; back ends choose their algorithms by it
     * @param late        late rank
     * @param untilClosed whether it calls when the others have closed, else when their calls have returned
     */
    LateRank(Subject subject, int worldSize, int late, boolean untilClosed) {
        this.subject = subject;
        this.worldSize = worldSize;
        this.late = late;
        this.untilClosed = untilClosed;
    }

    /** Runs code on all ranks of a fresh group and closes them; all must end well. */
    void run(String what, Ranks.RankCode body) {
        CountDownLatch calling = new CountDownLatch(worldSize - 1);
        CountDownLatch others = new CountDownLatch(worldSize - 1);
        try (Ranks ranks = subject.group(worldSize)) {
            ranks.run(group -> {
                if (group.rank() != late) {
                    calling.countDown();
                } else if (calling.await(ARRIVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                    others.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                }
                body.run(group);
                if (!untilClosed) {
                    others.countDown();
                }
                group.close();
                others.countDown();
            });
        } catch (AssertionError failure) {
            throw new AssertionError(what + " with rank " + late + " late: " + failure.getMessage(), failure);
        }
    }

    /** Makes a collective on all ranks, and compares the results with the expected ones. */
    void call(CollectiveKind kind, int length, int root) {
        boolean combines = Cell.combines(kind);
        Cell cell = new Cell(kind, DataType.FLOAT32, combines ? ReduceOp.SUM : null, length, root, false);
        Values values = new Values(DataType.FLOAT32, worldSize);
        run(cell.toString(), group -> Cells.make(subject, group, cell, values));
    }
}
