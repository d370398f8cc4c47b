package ferro.collectives.plan;

import java.util.List;
import java.util.Optional;

/**
 * Runs plans without data, under two models: sends never wait; or a rank has one send and one receive at a time, and a send
 * ends only with its receive. Every behaviour between the two terminates as well, since each condition for a step only asks
 * that others are done.
 */
final class PlanLiveness {
    private final PlanSet plans;
    private final boolean rendezvous;
    private final RankProgress[] ranks;

    private PlanLiveness(PlanSet plans, PlanLinks links, boolean rendezvous) {
        this.plans = plans;
        this.rendezvous = rendezvous;
        this.ranks = new RankProgress[plans.size()];
        for (int rank = 0; rank < ranks.length; rank++) {
            ranks[rank] = new RankProgress(plans.of(rank));
        }
        for (int from = 0; from < ranks.length; from++) {
            for (int to = 0; to < ranks.length; to++) {
                pair(links.sends(from, to), links.receives(from, to), from, to);
            }
        }
    }

    /** How far a rank is. */
    private static final class RankProgress {
        final List<Step.Send> sends;
        final List<Step.WriteStep> receives;
        /** For each send its receive at the peer, for each receive its send. */
        final int[] partnerOfSend;

        final int[] partnerOfReceive;
        final boolean[] sent;
        final boolean[] received;
        int postedSends;
        int postedReceives;
        int doneSends;
        int doneReceives;

        RankProgress(Plan plan) {
            sends = plan.sends();
            receives = plan.receives();
            partnerOfSend = new int[sends.size()];
            partnerOfReceive = new int[receives.size()];
            sent = new boolean[sends.size()];
            received = new boolean[receives.size()];
        }

        boolean allows(Step step) {
            return step.afterSends() <= doneSends && step.afterReceives() <= doneReceives;
        }

        boolean isDone() {
            return doneSends == sends.size() && doneReceives == receives.size();
        }

        /** Moves the ends of the finished prefixes. */
        void count() {
            while (doneSends < sends.size() && sent[doneSends]) {
                doneSends++;
            }
            while (doneReceives < receives.size() && received[doneReceives]) {
                doneReceives++;
            }
        }
    }

    static Optional<String> whyNot(PlanSet plans, PlanLinks links) {
        return new PlanLiveness(plans, links, false).run().or(() -> new PlanLiveness(plans, links, true).run());
    }

    private void pair(List<Integer> sends, List<Integer> receives, int from, int to) {
        for (int i = 0; i < sends.size(); i++) {
            ranks[from].partnerOfSend[sends.get(i)] = receives.get(i);
            ranks[to].partnerOfReceive[receives.get(i)] = sends.get(i);
        }
    }

    private Optional<String> run() {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (RankProgress rank : ranks) {
                moved |= post(rank);
                moved |= finish(rank);
            }
        }
        for (int rank = 0; rank < ranks.length; rank++) {
            if (!ranks[rank].isDone()) {
                String world = rendezvous ? "where a send ends with its receive: " : "though no send ever waits: ";
                return Optional.of("deadlock, " + world + stuck(rank));
            }
        }
        return Optional.empty();
    }

    private boolean post(RankProgress rank) {
        boolean moved = false;
        while (rank.postedSends < rank.sends.size()
                && rank.allows(rank.sends.get(rank.postedSends))
                && (!rendezvous || rank.postedSends == rank.doneSends)) {
            rank.postedSends++;
            moved = true;
        }
        while (rank.postedReceives < rank.receives.size()
                && rank.allows(rank.receives.get(rank.postedReceives))
                && (!rendezvous || rank.postedReceives == rank.doneReceives)) {
            if (rank.receives.get(rank.postedReceives) instanceof Step.LocalStep) {
                rank.received[rank.postedReceives] = true;
                rank.count();
            }
            rank.postedReceives++;
            moved = true;
        }
        return moved;
    }

    private boolean finish(RankProgress rank) {
        int before = rank.doneSends + rank.doneReceives;
        for (int i = rank.doneSends; i < rank.postedSends; i++) {
            RankProgress peer = ranks[rank.sends.get(i).peer()];
            rank.sent[i] |= !rendezvous || rank.partnerOfSend[i] < peer.postedReceives;
        }
        for (int i = rank.doneReceives; i < rank.postedReceives; i++) {
            Step.WriteStep arrival = rank.receives.get(i);
            if (!(arrival instanceof Step.LocalStep)) {
                rank.received[i] |= rank.partnerOfReceive[i] < ranks[arrival.peer()].postedSends;
            }
        }
        rank.count();
        return rank.doneSends + rank.doneReceives > before;
    }

    private String stuck(int rank) {
        RankProgress progress = ranks[rank];
        String sends = progress.doneSends < progress.sends.size()
                ? plans.send(rank, progress.doneSends)
                        + (progress.doneSends < progress.postedSends ? " is not taken" : " is not posted")
                : "";
        String receives = progress.doneReceives < progress.receives.size()
                ? plans.arrival(rank, progress.doneReceives)
                        + (progress.doneReceives < progress.postedReceives ? " gets nothing" : " is not posted")
                : "";
        return sends + (sends.isEmpty() || receives.isEmpty() ? "" : ", ") + receives;
    }
}
