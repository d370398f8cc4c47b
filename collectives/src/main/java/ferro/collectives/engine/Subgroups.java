package ferro.collectives.engine;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.control.failure.Failure;
import ferro.control.group.SubgroupAgreement;
import ferro.spi.GroupSpec;
import ferro.spi.Transport;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Makes subgroups: checks the ranks, agrees with the other members, opens the medium. */
final class Subgroups {
    private final GroupLife parent;
    private final GroupSpec group;
    private final SubgroupAgreement agreement;

    /**
     * The parts of the engine of a new group.
     *
     * @param transport medium
     * @param group     the new group
     * @param identity  its identity
     */
    record Child(Transport transport, GroupSpec group, GroupIdentity identity) {}

    Subgroups(GroupLife parent) {
        this.parent = parent;
        this.group = parent.group;
        this.agreement = parent.control.agreement();
    }

    /** Makes a subgroup; waits until all members have called. */
    Child reach(int[] ranks, String name, Duration timeout) {
        check(ranks, name, timeout);
        int position = agreement.position(ranks);
        agreement.making().begun();
        try {
            return child(ranks, name, position, agreement.reach(parent.identity.value(), ranks, timeout));
        } finally {
            agreement.making().ended();
        }
    }

    /** As {@link #reach}, without waiting: timers check the deadline. */
    CompletionStage<Child> form(int[] ranks, String name, Duration timeout) {
        check(ranks, name, timeout);
        int[] members = ranks.clone();
        int position = agreement.position(members);
        SubgroupAgreement.OwnProposal attempt = agreement.begin(parent.identity.value(), members, timeout);
        agreement.making().begun();
        lookAgain(attempt);
        return attempt.end()
                .thenApplyAsync(agreed -> child(members, name, position, agreed), parent.context.background())
                .whenComplete((child, failure) -> agreement.making().ended());
    }

    /**
     * Returns the exception for a group that could not be made ready. If the parent has failed, the failure of the parent is
     * the cause, and what its ranks did after that is a consequence.
     */
    FerroException causeOf(FerroException notReady) {
        Failure ofParent = parent.control.failure();
        if (ofParent == null) {
            return notReady;
        }
        Where where = Where.of(group.name(), group.rank())
                .blaming(ofParent.culprits())
                .during("newGroup", -1);
        String text = "newGroup on group \"" + group.name() + "\" " + agreement.self() + ": " + ofParent.text();
        return new FerroException(ofParent.code(), where, text, notReady);
    }

    private static void check(int[] ranks, String name, Duration timeout) {
        Objects.requireNonNull(ranks, "ranks");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(timeout, "timeout");
    }

    private void lookAgain(SubgroupAgreement.OwnProposal attempt) {
        if (!attempt.hasEnded()) {
            long wait = attempt.look() - parent.context.nanoTime();
            Future<?> timer =
                    parent.context.background().schedule(() -> lookAgain(attempt), wait, TimeUnit.NANOSECONDS);
            attempt.end().whenComplete((agreed, failure) -> timer.cancel(false));
        }
    }

    private Child child(int[] ranks, String name, int position, long agreed) {
        GroupSpec spec = GroupSpec.of(group.name() + name, position, ranks.length, group.timeout());
        return new Child(parent.transport.subgroup(ranks, agreed), spec, parent.identity.child(agreed, ranks));
    }
}
