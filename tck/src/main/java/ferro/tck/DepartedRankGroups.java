package ferro.tck;

import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Several groups, one group for each rank. In the group of a rank, the rank has left after one collective. The ranks
 * leave at the same time, because a close may take its full time limit while the peers stay.
 */
final class DepartedRankGroups implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final List<Ranks> groups = new ArrayList<>();

    /** Creates the groups and closes one rank in each group. */
    DepartedRankGroups(TestedBackend subject, int worldSize) {
        try {
            for (int leaver = 0; leaver < worldSize; leaver++) {
                groups.add(subject.group(worldSize));
                groups.get(leaver).run(RuleChecks::works);
            }
            leave();
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
    }

    private void leave() {
        RankThreads.RankAction leaves =
                leaver -> groups.get(leaver).rank(leaver).close(Ranks.LEAVE_BOUND);
        try (RankThreads threads = new RankThreads(0, groups.size(), leaves)) {
            threads.endWell(LIMIT);
        }
    }

    /**
     * Runs code on the ranks that have not left. Returns one list for each group, in the order of the ranks that left.
     * A list has the failure of each rank in rank order. The failure is null for a rank that succeeded.
     */
    List<List<Throwable>> outcomes(RemainingRankCode code) {
        List<List<Throwable>> all = new ArrayList<>();
        for (int each = 0; each < groups.size(); each++) {
            int leaver = each;
            all.add(groups.get(leaver).outcomes(Ranks.LIMIT, group -> {
                if (group.rank() != leaver) {
                    code.run(group, leaver);
                }
            }));
        }
        return all;
    }

    /** The code of a rank that has not left. */
    @FunctionalInterface
    interface RemainingRankCode {
        void run(ProcessGroup group, int leaver) throws Exception;
    }

    @Override
    public void close() {
        groups.forEach(Ranks::close);
    }
}
