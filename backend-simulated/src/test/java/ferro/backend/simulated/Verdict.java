package ferro.backend.simulated;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What must be true of a run, whatever went wrong in it. */
final class Verdict {
    /** A rank that waits looks at its deadline every 10 ms, and what it then says takes 5 ms at most. */
    private static final long BOUND_NANOS = 100_000_000;
    /** Whoever has stood still asks the others again before it judges, and waits so much longer for what they say. */
    private static final long ASKED_AGAIN_NANOS = 50_000_000;

    /** Ranks of the world that stood still. */
    final Set<Integer> paused = new TreeSet<>();
    /** The faults that happened, in the ranks of the world. */
    final List<Cause> struck = new ArrayList<>();

    private final FaultyRun run;
    /** Ranks of the world between which nothing gets through, one way. */
    private final Set<List<Integer>> cuts = new HashSet<>();

    private long pausedNanos;

    Verdict(FaultyRun run) {
        this.run = run;
        List<Fault> happened = run.simulation.struck();
        for (Fault fault : happened) {
            if (fault instanceof Fault.Pause pause) {
                paused.add(pause.rank());
                pausedNanos += pause.length().toNanos();
            } else if (fault instanceof Fault.OneWayPartition cut) {
                cuts.add(List.of(cut.from(), cut.to()));
            }
        }
        for (Cause cause : run.program.faults) {
            if (happened.contains(cause.fault())) {
                struck.add(cause);
            }
        }
    }

    /** Returns whether nothing kept any rank of the world from saying that it lives, but a link that broke. */
    boolean allCanSay() {
        return isUndelayed() && run.simulation.struck().stream().noneMatch(Fault.Crash.class::isInstance);
    }

    void check() {
        List<String> wrong = new ArrayList<>(run.problems);
        for (GroupRun group : run.groups) {
            new GroupVerdict(this, group).check(wrong);
        }
        run.formings.forEach(forming -> check(forming, wrong));
        if (!wrong.isEmpty()) {
            throw new AssertionError(String.join("; ", wrong) + "; " + run.program + ", happened: "
                    + struck.stream().map(Cause::text).toList());
        }
    }

    /** A subgroup that cannot be made fails with what is wrong with the group of all, whose ranks it names. */
    private void check(FaultyRun.Forming forming, List<String> wrong) {
        String what = "rank " + forming.rank + ", subgroup " + run.groups.indexOf(forming.group) + ": ";
        if (isDead(forming.rank)) {
            return;
        }
        if (forming.ended < 0) {
            wrong.add(what + "was never made");
        } else if (forming.ended - forming.begun > bound(forming.rank)) {
            wrong.add(what + "took " + (forming.ended - forming.begun) / 1_000_000 + " ms");
        } else if (forming.failure != null) {
            new GroupVerdict(this, run.groups.get(0)).checkForming(what, forming.failure, wrong);
        }
    }

    long bound(int worldRank) {
        return run.program.timeout.toNanos()
                + BOUND_NANOS
                + (paused.contains(worldRank) ? pausedNanos + ASKED_AGAIN_NANOS : 0);
    }

    boolean isDead(int worldRank) {
        return run.simulation.isDead(worldRank);
    }

    boolean isCut(int from, int to) {
        return cuts.contains(List.of(from, to));
    }

    /** Returns whether everybody could send to everybody all the time, except over a link that broke for both. */
    boolean isUndelayed() {
        return paused.isEmpty() && cuts.isEmpty();
    }

    /** Returns when a rank of the world died, or {@link GroupRun#NEVER}. */
    long diedAt(int worldRank) {
        return run.diedAt[worldRank];
    }

    /** Returns the mistakes that ranks make in the group of all. */
    List<Cause> mistakesOfAll() {
        return run.groups.get(0).part.mistakes();
    }

    /** Returns the ranks of the world that have not made a subgroup that others have made. */
    Set<Integer> missingIn(GroupRun group) {
        Set<Integer> missing = new TreeSet<>();
        for (int rank = 0; rank < group.groups.length; rank++) {
            if (group.groups[rank] == null) {
                missing.add(group.part.members()[rank]);
            }
        }
        return missing;
    }
}
