package ferro.tck;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Ranks that make one call and close at once, and one that comes when the others have left, or wait for nobody but it. */
final class LateRank {
    /** From when all others are at their calls, for those that can return without the late one; whoever cannot waits anyway. */
    private static final Duration PATIENCE = Duration.ofMillis(20);

    /** Until all others are at their calls: only a rank that has failed never comes there. */
    private static final Duration ARRIVAL = Duration.ofSeconds(5);

    private final Subject subject;
    private final int late;
    private final boolean untilClosed;

    /**
     * Chooses who is late.
     *
     * @param late        rank
     * @param untilClosed whether it comes when the others have closed, else when their calls have returned
     */
    LateRank(Subject subject, int late, boolean untilClosed) {
        this.subject = subject;
        this.late = late;
        this.untilClosed = untilClosed;
    }

    /** Three ranks, or four: back ends choose their ways by the number. */
    int size() {
        return untilClosed ? 3 : 4;
    }

    /** Has all ranks of a fresh group run something and close; all must end well. */
    void run(String what, Ranks.RankCode body) {
        CountDownLatch calling = new CountDownLatch(size() - 1);
        CountDownLatch others = new CountDownLatch(size() - 1);
        try (Ranks ranks = subject.group(size())) {
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

    /** Has them make a collective, and holds the results against what they must be. */
    void call(CollectiveKind kind, int length, int root) {
        boolean combines = Cell.combines(kind);
        Cell cell = new Cell(kind, DataType.FLOAT32, combines ? ReduceOp.SUM : null, length, root, false);
        Values values = new Values(DataType.FLOAT32, size());
        run(cell.toString(), group -> {
            CellCall own = CellCall.of(cell, new CellCall.Place(group.rank(), size(), length % 2, values));
            if (Cells.Refusals.of(group, own.call()).isPresent() && subject.refuses(kind.label())) {
                return;
            }
            group.submit(own.call()).await();
            String wrong = own.wrong();
            if (wrong != null) {
                throw new AssertionError(cell + " on rank " + group.rank() + ": " + wrong);
            }
        });
    }
}
