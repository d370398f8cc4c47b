package ferro.backend.simulated;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What must be true of a run, whatever went wrong in it. */
final class Verdict {
    /** A rank that waits looks at its deadline every 10 ms, and what it then says takes 5 ms at most. */
    private static final long BOUND_NANOS = 100_000_000;

    private final FaultyRun run;
    private final Program program;
    private final List<Cause> struck = new ArrayList<>();
    private final Set<Integer> paused = new TreeSet<>();
    /** Ranks that gave a receive up, so that its send never ends. */
    private final Set<Integer> gaveUp = new TreeSet<>();

    private long pausedNanos;
    private final Set<List<Integer>> cuts = new HashSet<>();

    Verdict(FaultyRun run) {
        this.run = run;
        this.program = run.program;
        List<Fault> happened = run.simulation.misfortune().struck();
        for (Cause cause : program.causes) {
            if (cause.fault() == null || happened.contains(cause.fault())) {
                struck.add(cause);
            }
        }
        for (Fault fault : happened) {
            if (fault instanceof Fault.Pause pause) {
                paused.add(pause.rank());
                pausedNanos += pause.length().toNanos();
            }
            if (fault instanceof Fault.Cut cut) {
                cuts.add(List.of(cut.from(), cut.to()));
            }
        }
    }

    void check() {
        for (int rank = 0; rank < program.worldSize; rank++) {
            for (FaultyRun.Attempt attempt : run.attempts.get(rank)) {
                if (isAlone(rank, attempt)) {
                    gaveUp.add(rank);
                }
            }
        }
        List<String> wrong = new ArrayList<>(run.problems);
        for (int rank = 0; rank < program.worldSize; rank++) {
            if (!isDead(rank)) {
                checkRank(rank, wrong);
            }
        }
        checkAgreement(wrong);
        if (!wrong.isEmpty()) {
            throw new AssertionError(String.join("; ", wrong) + "; " + program + ", happened: "
                    + struck.stream().map(Cause::text).toList());
        }
    }

    private boolean isDead(int rank) {
        return run.simulation.misfortune().isDead(rank);
    }

    private void checkRank(int rank, List<String> wrong) {
        for (FaultyRun.Attempt attempt : run.attempts.get(rank)) {
            String what = "rank " + rank + ", " + attempt.op + ": ";
            if (attempt.ended < 0) {
                wrong.add(what + "never ended");
                continue;
            }
            if (attempt.work != null && attempt.op.isTouchedOn(rank)) {
                wrong.add(what + "memory was touched after the caller had it back");
            }
            long bound = program.timeout.toNanos() + BOUND_NANOS + (paused.contains(rank) ? pausedNanos : 0);
            if (attempt.ended - attempt.begun > bound) {
                wrong.add(what + "took " + (attempt.ended - attempt.begun) / 1_000_000 + " ms");
            }
            if (attempt.failure != null) {
                checkFailure(what, isAlone(rank, attempt), attempt.failure, wrong);
            }
        }
        run.simulation
                .group(rank)
                .failure()
                .ifPresent(failure -> checkFailure("rank " + rank + ": ", false, failure, wrong));
        if (run.simulation.group(rank).failure().isEmpty()) {
            checkNobodyMissed(rank, wrong);
        }
    }

    /** A receive that nobody met may time out without the group; it blames its sender, or who keeps that from sending. */
    private boolean isAlone(int rank, FaultyRun.Attempt attempt) {
        boolean before = run.failedAt[rank] < 0 || attempt.ended < run.failedAt[rank];
        return !attempt.op.isInOrder() && before && attempt.failure != null && attempt.failure.code() == Code.TIMED_OUT;
    }

    private void checkFailure(String what, boolean alone, FerroException failure, List<String> wrong) {
        Set<Integer> culprits = culprits(failure);
        if (failure.code() == Code.TIMED_OUT) {
            culprits.removeAll(gaveUp);
        }
        boolean explained = alone || !culprits(failure).isEmpty() && culprits.isEmpty();
        if (!explained && !Cause.allows(struck, failure.code(), culprits)) {
            wrong.add(what + "untrue " + failure.code() + " of "
                    + failure.where().culprits() + ": " + failure.getMessage());
        }
    }

    /** A rank whose process is gone is always missed, also where nobody waited for it. */
    private void checkNobodyMissed(int rank, List<String> wrong) {
        for (Cause cause : struck) {
            boolean abort = cause.codes().equals(Set.of(Code.ABORTED));
            if ((cause.fault() instanceof Fault.Crash || abort) && hears(rank)) {
                wrong.add("rank " + rank + " does not know: " + cause.text());
            }
        }
    }

    private static Set<Integer> culprits(FerroException failure) {
        return Arrays.stream(failure.where().culprits().split(","))
                .filter(rank -> !rank.isEmpty())
                .map(Integer::valueOf)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private void checkAgreement(List<String> wrong) {
        checkAgreement("in the end", survivors(false), null, wrong);
        if (!run.agreed.isEmpty()) {
            checkAgreement("100 ms after the first failure", survivors(true), run.agreed, wrong);
        }
    }

    private List<Integer> survivors(boolean running) {
        List<Integer> survivors = new ArrayList<>();
        for (int rank = 0; rank < program.worldSize; rank++) {
            if (!isDead(rank) && !(running && paused.contains(rank)) && hears(rank) && isHeard(rank)) {
                survivors.add(rank);
            }
        }
        return survivors;
    }

    /** Returns whether a rank that lives can send to this one. */
    private boolean hears(int rank) {
        return IntStream.range(0, program.worldSize)
                .anyMatch(from -> from != rank && !isDead(from) && !cuts.contains(List.of(from, rank)));
    }

    private boolean isHeard(int rank) {
        return IntStream.range(0, program.worldSize)
                .anyMatch(to -> to != rank && !isDead(to) && !cuts.contains(List.of(rank, to)));
    }

    private void checkAgreement(
            String when, List<Integer> ranks, List<Optional<FerroException>> held, List<String> wrong) {
        Set<String> reasons = new TreeSet<>();
        StringBuilder who = new StringBuilder();
        for (int rank : ranks) {
            Optional<FerroException> failure =
                    held == null ? run.simulation.group(rank).failure() : held.get(rank);
            String reason = failure.map(why -> why.code() + " of " + why.where().culprits())
                    .orElse("none");
            reasons.add(reason);
            who.append(" rank ").append(rank).append(": ").append(reason).append(',');
        }
        if (reasons.size() > 1) {
            wrong.add("ranks disagree " + when + ":" + who);
        }
    }
}
