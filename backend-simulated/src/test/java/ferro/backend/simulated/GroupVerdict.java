package ferro.backend.simulated;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** What must be true of one group of a run. */
final class GroupVerdict {
    /** Promised on an idle machine; here there is nothing else to do. */
    private static final long SPREAD_NANOS = 100_000_000;

    private static final long DEATH_NANOS = 200_000_000;

    private final Verdict run;
    private final GroupRun group;
    private final Program.Part part;
    private final List<Cause> causes = new ArrayList<>();
    /** What may be wrong with the group of all, if a member gave this group up, or left it, because of that. */
    private final List<Cause> causesOfAll = new ArrayList<>();
    /** Ranks that stood still, and ranks that gave a receive up, so that its send never ends. */
    private final Set<Integer> silent = new TreeSet<>();

    GroupVerdict(Verdict run, GroupRun group) {
        this.run = run;
        this.group = group;
        this.part = group.part;
        causes.addAll(part.mistakes());
        Set<Integer> missing = run.missingIn(group);
        run.struck.forEach(cause -> causes.add(inGroup(cause, missing.isEmpty())));
        if (!missing.isEmpty()) {
            causes.add(new Cause("not made by all", EnumSet.of(Code.TIMED_OUT), missing, null).in(part));
        }
        causesOfAll.addAll(run.mistakesOfAll());
        causesOfAll.addAll(run.struck);
        run.paused.forEach(rank -> silent.add(part.indexOf(rank)));
        // whoever stood still may find its deadline over before it has looked into a link that broke
        causes.stream()
                .filter(cause -> cause.fault() instanceof Fault.Drop && !run.paused.isEmpty())
                .forEach(cause -> silent.addAll(cause.suspects()));
        for (int rank = 0; rank < part.members().length; rank++) {
            for (GroupRun.Attempt attempt : group.attempts.get(rank)) {
                if (isAlone(rank, attempt)) {
                    silent.add(rank);
                }
            }
        }
    }

    /** Where all are members, and can say that they live, a link that broke is no more than that. */
    private Cause inGroup(Cause cause, boolean whole) {
        Cause mine = cause.in(part);
        // who has left does not say any more that it lives
        boolean linkAlone =
                cause.fault() instanceof Fault.Drop && whole && run.allCanSay() && !hasAnyLeft(mine.suspects());
        return linkAlone && !mine.suspects().isEmpty() ? mine.as(EnumSet.of(Code.PARTITION)) : mine;
    }

    void check(List<String> wrong) {
        for (int rank = 0; rank < part.members().length; rank++) {
            if (!isDead(rank) && group.groups[rank] != null) {
                checkRank(rank, wrong);
            }
        }
        if (run.isUndelayed()) {
            checkSpread(wrong);
        }
        checkAgreement("in the end", survivors(false), null, wrong);
        if (!group.agreed.isEmpty()) {
            checkAgreement("100 ms after the first failure", survivors(true), group.agreed, wrong);
        }
    }

    private String who(int rank) {
        return "rank " + rank + " of " + Arrays.toString(part.members()) + ": ";
    }

    private boolean isDead(int rank) {
        return run.isDead(part.members()[rank]);
    }

    private void checkRank(int rank, List<String> wrong) {
        for (GroupRun.Attempt attempt : group.attempts.get(rank)) {
            String what = who(rank) + attempt.op + ": ";
            if (attempt.ended < 0) {
                wrong.add(what + "never ended");
                continue;
            }
            if (attempt.work != null && attempt.op.isTouchedOn(rank)) {
                wrong.add(what + "memory was touched after the caller had it back");
            }
            if (attempt.ended - attempt.begun > run.bound(part.members()[rank])) {
                wrong.add(what + "took " + (attempt.ended - attempt.begun) / 1_000_000 + " ms");
            }
            if (attempt.failure != null && !isAlone(rank, attempt)) {
                checkFailure(what, attempt.failure, wrong);
            }
        }
        Optional<FerroException> failure = group.failure(rank);
        failure.ifPresent(why -> checkFailure(who(rank), why, wrong));
        if (failure.isEmpty() && group.leftAt[rank] == GroupRun.NEVER) {
            checkNobodyMissed(rank, wrong);
        }
    }

    /** A receive that nobody met may time out without the group; it blames its sender, or who keeps that from sending. */
    private boolean isAlone(int rank, GroupRun.Attempt attempt) {
        boolean before = group.failedAt[rank] < 0 || attempt.ended < group.failedAt[rank];
        return !attempt.op.isInOrder() && before && attempt.failure != null && attempt.failure.code() == Code.TIMED_OUT;
    }

    /** The making of a subgroup also fails if a member does not make it, for whatever reason that has. */
    void checkForming(String what, FerroException failure, List<String> wrong) {
        boolean missing = failure.code() == Code.TIMED_OUT && !causes.isEmpty();
        if (!missing) {
            checkFailure(what, failure, wrong);
        }
    }

    private void checkFailure(String what, FerroException failure, List<String> wrong) {
        Set<Integer> culprits = culprits(failure);
        boolean late = failure.code() == Code.TIMED_OUT;
        boolean onlySilent = late && !culprits.isEmpty() && silent.containsAll(culprits);
        // ranks that wait for each other are all culprits, also those that only wait for the faulty one
        boolean ofMessage = failure.getMessage().contains(": gave up ");
        if (late && (ofMessage || failure.getMessage().contains(" wait for each other, "))) {
            culprits.removeIf(rank -> !Cause.allows(causes, silent, failure.code(), Set.of(rank)));
        }
        if (!onlySilent && !isOfAll(failure, culprits) && !Cause.allows(causes, silent, failure.code(), culprits)) {
            wrong.add(what + "untrue " + failure.code() + " of "
                    + failure.where().culprits() + ": " + failure.getMessage());
        }
    }

    /**
     * A member that gave up the making of the group says why, and one that left because of the group of all is not to blame;
     * nobody of this group is if no culprit is a member.
     */
    private boolean isOfAll(FerroException failure, Set<Integer> culprits) {
        String text = failure.getMessage();
        if (!text.contains("a member has not made this group") && !text.contains(" after a failure in its parent ")) {
            return false;
        }
        Set<Integer> suspects = new TreeSet<>();
        causesOfAll.stream()
                .filter(cause -> cause.codes().contains(failure.code()))
                .forEach(cause -> suspects.addAll(cause.suspects()));
        return !suspects.isEmpty()
                && culprits.stream().map(rank -> part.members()[rank]).allMatch(suspects::contains);
    }

    /** A rank whose process is gone, or that aborts, is always missed, also where nobody waited for it. */
    private void checkNobodyMissed(int rank, List<String> wrong) {
        for (Cause cause : causes) {
            boolean crash =
                    cause.fault() instanceof Fault.Crash && !cause.codes().isEmpty() && !hasAnyLeft(cause.suspects());
            boolean abort = cause.codes().equals(Set.of(Code.ABORTED))
                    && cause.suspects().stream().allMatch(who -> group.groups[who] != null);
            if ((crash || abort && !isDeadAny(cause.suspects())) && hears(rank, false)) {
                wrong.add(who(rank) + "does not know: " + cause.text());
            }
        }
    }

    /** As nobody is kept from sending, all know of a failure soon after the first, and soon after a rank has died. */
    private void checkSpread(List<String> wrong) {
        List<Integer> ranks = survivors(false);
        long first = ranks.stream()
                .mapToLong(rank -> group.failedAt[rank])
                .filter(at -> at != GroupRun.NEVER)
                .min()
                .orElse(Long.MAX_VALUE);
        for (int rank : ranks) {
            long since = Math.max(first, group.madeAt[rank]);
            if (group.failedAt[rank] != GroupRun.NEVER && group.failedAt[rank] - since > SPREAD_NANOS) {
                wrong.add(who(rank) + "knew " + (group.failedAt[rank] - since) / 1_000_000 + " ms late");
            }
            for (GroupRun.Attempt attempt : group.attempts.get(rank)) {
                if (attempt.ended - Math.max(since, attempt.begun) > SPREAD_NANOS) {
                    wrong.add(who(rank) + attempt.op + ": ended "
                            + (attempt.ended - Math.max(since, attempt.begun)) / 1_000_000 + " ms late");
                }
            }
            for (int member : part.members()) {
                long died = run.diedAt(member);
                long known = Math.max(died, group.madeAt[rank]);
                boolean left = group.leftAt[part.indexOf(member)] != GroupRun.NEVER;
                if (!left && died != GroupRun.NEVER && first != Long.MAX_VALUE && first - known > DEATH_NANOS) {
                    wrong.add(who(rank) + "took " + (first - known) / 1_000_000 + " ms to miss rank " + member);
                }
            }
        }
    }

    private boolean hasAnyLeft(Set<Integer> ranks) {
        return ranks.stream().anyMatch(rank -> group.leftAt[rank] != GroupRun.NEVER);
    }

    private boolean isDeadAny(Set<Integer> ranks) {
        return ranks.stream().anyMatch(this::isDead);
    }

    private static Set<Integer> culprits(FerroException failure) {
        return new TreeSet<>(failure.where().culprits());
    }

    private List<Integer> survivors(boolean running) {
        List<Integer> survivors = new ArrayList<>();
        for (int rank = 0; rank < part.members().length; rank++) {
            int each = rank;
            if (alive(running).anyMatch(one -> one == each)
                    && group.groups[rank] != null
                    && group.leftAt[rank] == GroupRun.NEVER
                    && hears(rank, running)
                    && isHeard(rank, running)) {
                survivors.add(rank);
            }
        }
        return survivors;
    }

    /** Returns whether a rank that lives, and runs all the time, can send to this one. */
    private boolean hears(int rank, boolean running) {
        return alive(running).anyMatch(from -> from != rank && !run.isCut(part.members()[from], part.members()[rank]));
    }

    private boolean isHeard(int rank, boolean running) {
        return alive(running).anyMatch(to -> to != rank && !run.isCut(part.members()[rank], part.members()[to]));
    }

    /** A rank on which the group was not made hands nothing on in it. */
    private IntStream alive(boolean running) {
        return IntStream.range(0, part.members().length)
                .filter(rank -> !isDead(rank) && group.groups[rank] != null && group.leftAt[rank] == GroupRun.NEVER)
                .filter(rank -> !running || !run.paused.contains(part.members()[rank]));
    }

    private void checkAgreement(
            String when, List<Integer> ranks, List<Optional<FerroException>> held, List<String> wrong) {
        Set<String> reasons = new TreeSet<>();
        StringBuilder who = new StringBuilder();
        for (int rank : ranks) {
            Optional<FerroException> failure = held == null ? group.failure(rank) : held.get(rank);
            String reason = failure.map(why -> why.code() + " of " + why.where().culprits())
                    .orElse("none");
            reasons.add(reason);
            who.append(" rank ").append(rank).append(": ").append(reason).append(',');
        }
        if (reasons.size() > 1) {
            wrong.add("ranks of " + Arrays.toString(part.members()) + " disagree " + when + ":" + who);
        }
    }
}
