package ferro.tck;

import ferro.CollectiveKind;
import ferro.tck.cells.Cell;
import ferro.tck.cells.ReferenceOracle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A group in which one rank calls late. All other ranks make one call and close at once. The late rank calls after all
 * other ranks have left, or while they wait for the late rank.
 */
final class GroupWithLateRank {
    /** Time for calls of other ranks that can return without the late rank. Other calls wait for the late rank. */
    private static final Duration TIMEOUT = Duration.ofMillis(20);

    /** Time limit until all other ranks have started their calls. Only a failed rank never starts its call. */
    private static final Duration ARRIVAL = Duration.ofSeconds(5);

    private final TestedBackend subject;
    private final int worldSize;
    private final int late;
    private final boolean untilClosed;

    /**
     * Creates the scenario with one late rank.
     *
     * @param worldSize   number of ranks; back ends choose their algorithms by this number
     * @param late        late rank
     * @param untilClosed true if the late rank calls after the other ranks have closed; false if the late rank calls
     *     after the calls of the other ranks have returned
     */
    GroupWithLateRank(TestedBackend subject, int worldSize, int late, boolean untilClosed) {
        this.subject = subject;
        this.worldSize = worldSize;
        this.late = late;
        this.untilClosed = untilClosed;
    }

    /** Returns the names of the calls of rule 610, which are messages, collectives by kind, and other calls. */
    static List<String> calls() {
        Stream<String> kinds = Stream.of(CollectiveKind.values()).map(CollectiveKind::label);
        return Stream.concat(Stream.of("messages", "unequal parts", "newGroup"), kinds)
                .toList();
    }

    /** Runs code on all ranks of a fresh group and closes the ranks. Fails if one of the ranks fails. */
    void run(String what, Ranks.RankCode body) {
        CountDownLatch calling = new CountDownLatch(worldSize - 1);
        CountDownLatch others = new CountDownLatch(worldSize - 1);
        try {
            subject.eachRank(worldSize, group -> {
                if (group.rank() != late) {
                    calling.countDown();
                } else if (calling.await(ARRIVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                    others.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
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

    /** Makes a cell's call on all ranks and checks the results. The call is blocking if {@code isStarted} is false. */
    void call(Cell cell, boolean isStarted) {
        ReferenceOracle values = new ReferenceOracle(cell.type(), worldSize);
        run(cell.toString(), group -> CellRunner.make(subject, group, cell, values, isStarted));
    }
}
