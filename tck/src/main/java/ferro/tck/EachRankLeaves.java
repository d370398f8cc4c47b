package ferro.tck;

import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One group for each rank, which that rank has left after one collective. The ranks leave at the same time, because a close
 * whose peers stay may take as long as it is allowed to.
 */
final class EachRankLeaves implements AutoCloseable {
    private static final long LIMIT_SECONDS = 20;

    private final List<Ranks> groups = new ArrayList<>();

    /** Makes the groups. */
    EachRankLeaves(Subject subject, int worldSize) {
        try {
            for (int leaver = 0; leaver < worldSize; leaver++) {
                groups.add(subject.group(worldSize));
                groups.get(leaver).run(Expect::works);
            }
            leave();
        } catch (RuntimeException | Error failure) {
            close();
            throw failure;
        }
    }

    private void leave() {
        List<CompletableFuture<Void>> leaving = new ArrayList<>();
        for (int leaver = 0; leaver < groups.size(); leaver++) {
            ProcessGroup group = groups.get(leaver).rank(leaver);
            leaving.add(Expect.onThread(() -> group.close(Ranks.LEAVE_BOUND)));
        }
        for (int leaver = 0; leaver < groups.size(); leaver++) {
            try {
                leaving.get(leaver).get(LIMIT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException failure) {
                throw new AssertionError("close of rank " + leaver + " of " + groups.size() + ": " + failure, failure);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted during the close of rank " + leaver, interrupted);
            }
        }
    }

    /** Runs code on the ranks that have stayed; index = rank that has left, then rank; null for a rank that ended well. */
    List<List<Throwable>> outcomes(RestOfAGroup code) {
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

    /** The code of a rank that has stayed. */
    @FunctionalInterface
    interface RestOfAGroup {
        void run(ProcessGroup group, int leaver) throws Exception;
    }

    @Override
    public void close() {
        groups.forEach(Ranks::close);
    }
}
