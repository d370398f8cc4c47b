package ferro.backend.simulated;

import ferro.FerroException;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * What the ranks of one group did and saw, by their ranks in that group. Whatever ends is looked at in the very step in which
 * it ends, and its memory is then used for something else.
 */
final class GroupRun {
    static final long NEVER = -1;
    private static final long AGREED_NANOS = 100_000_000;

    final Program.Part part;
    final ProcessGroup[] groups;
    final List<List<Attempt>> attempts = new ArrayList<>();
    /** When each rank knew that the group has failed, or {@link #NEVER}. */
    final long[] failedAt;
    /** When each rank had the group, or {@link #NEVER}. */
    final long[] madeAt;
    /** What each rank held for the reason so long after the first one knew of one; empty if nobody did. */
    final List<Optional<FerroException>> agreed = new ArrayList<>();

    /** When each rank left the group in order, its script done, or {@link #NEVER}. */
    final long[] leftAt;
    /** How many steps after the end of its script each rank leaves; {@link #NEVER} if it stays to the end of the run. */
    private final int[] stepsToLeave;

    private final LongSupplier clock;
    private final List<String> problems;
    private final int[] next;
    private final int[] firstOpen;
    private long firstFailure = NEVER;

    /** One operation of one rank. */
    static final class Attempt {
        final Op op;
        final long begun;
        long ended = NEVER;
        Work work;
        FerroException failure;

        Attempt(Op op, long begun) {
            this.op = op;
            this.begun = begun;
        }
    }

    GroupRun(Program.Part part, LongSupplier clock, List<String> problems) {
        this.part = part;
        this.clock = clock;
        this.problems = problems;
        int size = part.members().length;
        groups = new ProcessGroup[size];
        failedAt = new long[size];
        leftAt = new long[size];
        stepsToLeave = new int[size];
        madeAt = new long[size];
        next = new int[size];
        firstOpen = new int[size];
        for (int rank = 0; rank < size; rank++) {
            attempts.add(new ArrayList<>());
            failedAt[rank] = NEVER;
            leftAt[rank] = NEVER;
            stepsToLeave[rank] = (int) NEVER;
            madeAt[rank] = NEVER;
        }
    }

    /** Has ranks leave so many steps after the end of their scripts, where nobody makes a mistake. */
    void drawLeaves(SplittableRandom random) {
        for (int rank = 0; rank < stepsToLeave.length; rank++) {
            int steps = random.nextInt(3) == 0 ? (int) NEVER : random.nextInt(4);
            stepsToLeave[rank] = part.mistakes().isEmpty() ? steps : (int) NEVER;
        }
    }

    /** Leaves the group if the script of a rank is done, and it is time; called after each step of that rank. */
    void leaveWhenDone(int rank) {
        if (rank < 0 || groups[rank] == null || leftAt[rank] != NEVER || stepsToLeave[rank] == NEVER) {
            return;
        }
        if (isDone(rank) && stepsToLeave[rank]-- == 0) {
            leftAt[rank] = clock.getAsLong();
            groups[rank].close();
        }
    }

    /** Whether the script of a rank has ended well; each step asks, so that what costs little is asked first. */
    private boolean isDone(int rank) {
        if (failedAt[rank] != NEVER || next[rank] < part.ops().get(rank).size()) {
            return false;
        }
        for (Attempt attempt : attempts.get(rank)) {
            if (attempt.ended == NEVER || attempt.failure != null) {
                return false;
            }
        }
        return failure(rank).isEmpty();
    }

    void start(ProcessGroup group) {
        groups[group.rank()] = group;
        madeAt[group.rank()] = clock.getAsLong();
        int window = part.windows().get(group.rank());
        int begun = 0;
        while (begun < window && goOn(group)) {
            begun++;
        }
    }

    Optional<FerroException> failure(int rank) {
        return groups[rank] == null ? Optional.empty() : groups[rank].failure();
    }

    /** Starts what comes next, up to something that is to be waited for; returns false at the end. */
    private boolean goOn(ProcessGroup group) {
        int rank = group.rank();
        List<Op> ops = part.ops().get(rank);
        while (next[rank] < ops.size()) {
            Op op = ops.get(next[rank]++);
            Attempt attempt = new Attempt(op, clock.getAsLong());
            attempts.get(rank).add(attempt);
            submit(attempt, group);
            if (attempt.work != null && op.isInOrder()) {
                return true;
            }
        }
        return false;
    }

    private void submit(Attempt attempt, ProcessGroup group) {
        boolean failed = failedAt[group.rank()] != NEVER;
        try {
            attempt.work = attempt.op.submit(group);
        } catch (FerroException refused) {
            attempt.failure = refused;
            attempt.ended = attempt.begun;
            return;
        }
        if (attempt.work == null) {
            attempt.ended = attempt.begun;
            return;
        }
        if (failed) {
            problems.add("rank " + group.rank() + " began " + attempt.op + " after its group had failed");
        }
        if (attempt.op.isInOrder() && part.windows().get(group.rank()) != Integer.MAX_VALUE) {
            attempt.work.completion().whenComplete((nothing, failure) -> follow(group));
        }
    }

    private void follow(ProcessGroup group) {
        try {
            goOn(group);
        } catch (RuntimeException | Error unexpected) {
            problems.add("rank " + group.rank() + " threw " + unexpected);
        }
    }

    /** Looks at the rank to which something has just happened. */
    void look(int rank) {
        if (rank < 0 || groups[rank] == null) {
            return;
        }
        List<Attempt> mine = attempts.get(rank);
        boolean prefix = true;
        for (int i = firstOpen[rank]; i < mine.size(); i++) {
            Attempt attempt = mine.get(i);
            if (attempt.ended == NEVER && attempt.work.isDone()) {
                end(attempt, rank);
            }
            prefix &= attempt.ended != NEVER;
            firstOpen[rank] = prefix ? i + 1 : firstOpen[rank];
        }
        long now = clock.getAsLong();
        if (failedAt[rank] == NEVER && groups[rank].failure().isPresent()) {
            failedAt[rank] = now;
            firstFailure = firstFailure == NEVER ? now : firstFailure;
        }
        if (agreed.isEmpty() && firstFailure != NEVER && now > firstFailure + AGREED_NANOS) {
            for (int each = 0; each < groups.length; each++) {
                agreed.add(failure(each));
            }
        }
    }

    private void end(Attempt attempt, int rank) {
        attempt.ended = clock.getAsLong();
        try {
            attempt.work.await();
            String wrong = attempt.op.wrongOn(rank);
            if (wrong != null) {
                problems.add("rank " + rank + " was given a wrong result of " + attempt.op + ": " + wrong);
            }
        } catch (FerroException failure) {
            attempt.failure = failure;
        }
        attempt.op.reuseMemoryOf(rank);
    }
}
