package ferro.tck;

import ferro.Backend;
import ferro.FerroException;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * All ranks of one group in this JVM. Code runs on one thread per rank within a time limit. The object records every
 * failure.
 *
 * <p>Only one thread at a time may use an instance. Closing an instance closes all ranks at the same time.
 */
public final class Ranks implements AutoCloseable {
    /** Time limit of a rule, which is far above the duration of any rule, so that no rule fails on a slow machine. */
    public static final Duration LIMIT = Duration.ofSeconds(120);

    /**
     * Time limit of the close of a rank while its peers stay open. A back end may wait for the peers until this time
     * limit. Rules about the duration of a close use other limits.
     */
    static final Duration LEAVE_BOUND = Duration.ofSeconds(1);

    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(15);

    private final List<ProcessGroup> groups;
    private boolean failureSeen;

    private Ranks(List<ProcessGroup> groups) {
        this.groups = groups;
    }

    /** The code of a rank. */
    @FunctionalInterface
    public interface RankCode {
        /**
         * Runs on the thread of one rank.
         *
         * @param group group as seen by this rank
         * @throws Exception any exception fails the rank
         */
        void run(ProcessGroup group) throws Exception;
    }

    /**
     * Wraps the back ends of one group.
     *
     * @param backends  back ends in rank order
     * @param worldSize expected number of back ends
     * @return ranks
     * @throws AssertionError if the list is not a group of {@code worldSize} ranks
     */
    public static Ranks of(List<? extends Backend> backends, int worldSize) {
        if (backends.size() != worldSize) {
            throw new AssertionError("createGroup(" + worldSize + ") returned " + backends.size() + " back ends");
        }
        List<ProcessGroup> groups = new ArrayList<>();
        for (Backend backend : backends) {
            if (backend.rank() != groups.size() || backend.worldSize() != worldSize) {
                throw new AssertionError("createGroup(" + worldSize + ") has rank " + backend.rank() + " of "
                        + backend.worldSize() + " at index " + groups.size());
            }
            groups.add(ProcessGroup.of(backend));
        }
        return new Ranks(groups);
    }

    /**
     * Wraps the only rank of a group that is in this process.
     *
     * @param group group as seen by this rank
     * @return ranks that run code on this rank only
     */
    static Ranks apart(ProcessGroup group) {
        return new Ranks(List.of(group));
    }

    /** {@return the number of ranks} */
    public int size() {
        return groups.get(0).worldSize();
    }

    /**
     * {@return the group as seen by one rank}
     *
     * @param rank number of the rank, from 0
     */
    public ProcessGroup rank(int rank) {
        return groups.get(rank);
    }

    /**
     * Runs code on every rank. Fails if the code fails on one of the ranks.
     *
     * @param code code of each rank
     * @throws AssertionError if a rank fails or hangs. After a time-out the error contains the stacks of the ranks that
     *     hang. Without a time-out, the cause of the error is the earliest failure of a rank, and the failures of the
     *     other ranks are suppressed exceptions of the error.
     */
    public void run(RankCode code) {
        run(LIMIT, code);
    }

    /**
     * Runs code on every rank within a time limit. Fails if the code fails on one of the ranks.
     *
     * @param limit time limit
     * @param code  code of each rank
     * @throws AssertionError if a rank fails or hangs, as in {@link #run(RankCode)}
     */
    public void run(Duration limit, RankCode code) {
        try (RankThreads threads = start(code)) {
            threads.endWell(limit);
        } catch (AssertionError failure) {
            failureSeen = true;
            throw failure;
        }
    }

    /**
     * Runs code on every rank and returns the failure of each rank.
     *
     * @param limit time limit
     * @param code  code of each rank
     * @return failures in rank order; null for a rank that did not fail
     * @throws AssertionError if a rank hangs; the error contains the stacks of the ranks that hang
     */
    public List<Throwable> outcomes(Duration limit, RankCode code) {
        failureSeen = true;
        try (RankThreads threads = start(code)) {
            return threads.end(limit);
        }
    }

    /**
     * Closes every rank. A rank that failed before may report its failure again. Fails if the close of a rank hangs or
     * fails in another way.
     */
    @Override
    public void close() {
        try (RankThreads threads = start(ProcessGroup::close)) {
            for (Throwable failure : threads.end(CLOSE_LIMIT)) {
                boolean expected = failureSeen && failure instanceof FerroException;
                if (failure != null && !expected) {
                    throw new AssertionError("close failed: " + failure, failure);
                }
            }
        }
    }

    private RankThreads start(RankCode code) {
        return new RankThreads(groups.get(0).rank(), groups.size(), index -> code.run(groups.get(index)));
    }
}
