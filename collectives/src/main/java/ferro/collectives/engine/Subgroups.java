package ferro.collectives.engine;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.control.failure.Failure;
import ferro.control.group.SubgroupAgreement;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Makes subgroups: checks the ranks, agrees with the other members, opens the medium. */
final class Subgroups {
    private final Transport transport;
    private final GroupSpec group;
    private final RankContext context;
    private final GroupIdentity identity;
    private final SubgroupAgreement agreement;

    /**
     * The parts of the engine of a new group.
     *
     * @param transport medium
     * @param group     the new group
     * @param identity  its identity
     */
    record Child(Transport transport, GroupSpec group, GroupIdentity identity) {}

    Subgroups(
            Transport transport,
            GroupSpec group,
            RankContext context,
            GroupIdentity identity,
            SubgroupAgreement agreement) {
        this.transport = transport;
        this.group = group;
        this.context = context;
        this.identity = identity;
        this.agreement = agreement;
    }

    /** Makes a subgroup; waits until all members have called. */
    Child reach(int[] ranks, String name, Duration timeout) {
        check(ranks, name, timeout);
        int position = agreement.position(ranks);
        agreement.making().begun();
        try {
            return child(ranks, name, position, agreement.reach(identity.value(), ranks, timeout));
        } finally {
            agreement.making().ended();
        }
    }

    /** As {@link #reach}, without waiting: timers check the deadline. */
    CompletionStage<Child> form(int[] ranks, String name, Duration timeout) {
        check(ranks, name, timeout);
        int[] members = ranks.clone();
        int position = agreement.position(members);
        SubgroupAgreement.OwnProposal attempt = agreement.begin(identity.value(), members, timeout);
        agreement.making().begun();
        lookAgain(attempt);
        return attempt.end()
                .thenApplyAsync(agreed -> child(members, name, position, agreed), context.background())
                .whenComplete((child, failure) -> agreement.making().ended());
    }

    /**
     * Returns the exception for a group that could not be made ready. If the parent has failed, the failure of the parent is
     * the cause, and what its ranks did after that is a consequence.
     */
    FerroException causeOf(FerroException notReady, Failure ofParent) {
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
            long wait = attempt.look() - context.nanoTime();
            Future<?> timer = context.background().schedule(() -> lookAgain(attempt), wait, TimeUnit.NANOSECONDS);
            attempt.end().whenComplete((agreed, failure) -> timer.cancel(false));
        }
    }

    private Child child(int[] ranks, String name, int position, long agreed) {
        GroupSpec spec = GroupSpec.of(group.name() + name, position, ranks.length, group.timeout());
        return new Child(transport.subgroup(ranks, agreed), spec, identity.child(agreed, ranks));
    }
}
