package ferro.backend.simulated;

import ferro.FerroException;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Runs the program of a seed and writes down what its ranks saw. Whatever ends is looked at in the very step in which it ends,
 * and its memory is then used for something else.
 */
final class FaultyRun {
    private static final long AGREED_NANOS = 100_000_000;
    private static final long NEVER = -1;

    final long seed;
    final Program program;
    final Simulation simulation;
    final List<List<Attempt>> attempts = new ArrayList<>();
    final List<String> problems = new ArrayList<>();
    /** When each rank knew that the group has failed, or -1. */
    final long[] failedAt;
    /** What each rank held for the reason so long after the first one knew of one. */
    final List<Optional<FerroException>> agreed = new ArrayList<>();

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

    private FaultyRun(long seed, Planted planted) {
        this.seed = seed;
        this.program = new Program(seed);
        this.simulation = new Simulation(program.worldSize, seed, program.settings, planted.making());
        this.failedAt = new long[program.worldSize];
        this.next = new int[program.worldSize];
        this.firstOpen = new int[program.worldSize];
        for (int rank = 0; rank < program.worldSize; rank++) {
            attempts.add(new ArrayList<>());
            failedAt[rank] = NEVER;
        }
    }

    /** Runs a seed; throws AssertionError naming it if anything is not as promised. */
    static Simulation.Result run(long seed) {
        return run(seed, Planted.NOTHING);
    }

    static Simulation.Result run(long seed, Planted planted) {
        FaultyRun run = new FaultyRun(seed, planted);
        run.simulation.faults(run.program.faults()).mayFail();
        run.simulation.observe(run::look);
        return run.simulation
                .onEveryRank(run::start)
                .check(() -> new Verdict(run).check())
                .run();
    }

    long now() {
        return simulation.elapsed().toNanos();
    }

    private void start(ProcessGroup group) {
        int window = program.windows.get(group.rank());
        for (int i = 0; i < window && goOn(group); i++) {}
    }

    /** Starts what comes next, up to something that is to be waited for; returns false at the end. */
    private boolean goOn(ProcessGroup group) {
        int rank = group.rank();
        List<Op> ops = program.ops.get(rank);
        while (next[rank] < ops.size()) {
            Op op = ops.get(next[rank]++);
            Attempt attempt = new Attempt(op, now());
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
        if (attempt.op.isInOrder() && program.windows.get(group.rank()) != Integer.MAX_VALUE) {
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
    private void look(int rank) {
        if (rank == Agenda.NOBODY) {
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
        if (failedAt[rank] == NEVER && simulation.group(rank).failure().isPresent()) {
            failedAt[rank] = now();
            firstFailure = firstFailure == NEVER ? now() : firstFailure;
        }
        if (agreed.isEmpty() && firstFailure != NEVER && now() > firstFailure + AGREED_NANOS) {
            for (int each = 0; each < program.worldSize; each++) {
                agreed.add(simulation.group(each).failure());
            }
        }
    }

    private void end(Attempt attempt, int rank) {
        attempt.ended = now();
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
