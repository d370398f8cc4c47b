package ferro.tck;

import ferro.Backend;
import ferro.FerroException;
import ferro.group.ProcessGroup;
import ferro.tck.parts.RankThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * All ranks of one group in this JVM: runs code on each, one thread per rank, within a bound, and keeps every failure.
 *
 * <p>For one thread at a time. Closing it closes every rank, all at once.
 */
public final class Ranks implements AutoCloseable {
    /** How long any rule may take; far above what a rule needs, so that a slow machine does not fail. */
    public static final Duration LIMIT = Duration.ofSeconds(120);

    /**
     * Bound of the close of a rank whose peers stay, if the rule is not about the duration of the close: a back end may wait
     * for the peers as long as it is allowed to.
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
         * @param group this rank's end
         * @throws Exception any exception fails the rank
         */
        void run(ProcessGroup group) throws Exception;
    }

    /**
     * Wraps back ends.
     *
     * @param backends  index = rank
     * @param worldSize expected number of back ends
     * @return ranks
     * @throws AssertionError if the list is not a group of that size
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
     * Wraps the one rank of a group that is in this process.
     *
     * @param group this rank's end
     * @return ranks that run code on this one alone
     */
    static Ranks apart(ProcessGroup group) {
        return new Ranks(List.of(group));
    }

    /**
     * Returns the number of ranks.
     *
     * @return world size
     */
    public int size() {
        return groups.get(0).worldSize();
    }

    /**
     * Returns one rank's end.
     *
     * @param rank rank
     * @return group
     */
    public ProcessGroup rank(int rank) {
        return groups.get(rank);
    }

    /**
     * Runs code on every rank; all must end well.
     *
     * @param code code of each rank
     * @throws AssertionError on a time-out, with the stacks of the ranks that hang; else the failure that came first in
     *     time is thrown as cause, with those of the other ranks suppressed
     */
    public void run(RankCode code) {
        run(LIMIT, code);
    }

    /**
     * Runs code on every rank within a bound; all must end well.
     *
     * @param limit bound
     * @param code  code of each rank
     * @throws AssertionError as {@link #run(RankCode)}
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
     * Runs code on every rank and returns how each ended.
     *
     * @param limit bound
     * @param code  code of each rank
     * @return index = rank, null for a rank that ended well
     * @throws AssertionError on a time-out, with the stacks of the ranks that hang
     */
    public List<Throwable> outcomes(Duration limit, RankCode code) {
        failureSeen = true;
        try (RankThreads threads = start(code)) {
            return threads.end(limit);
        }
    }

    /** Closes every rank; a rank that failed before may report that again, a rank that hangs fails. */
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
