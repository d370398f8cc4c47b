package ferro.collectives.plan;

import java.util.Optional;

/** Checks each plan by itself: what its regions hold, and that each step lies inside them. */
final class PlanShape {
    private PlanShape() {}

    static Optional<String> whyNot(PlanSet plans) {
        if (plans.hasParts() && plans.chunkCount() % plans.size() != 0) {
            return Optional.of(plans.chunkCount() + " chunks do not make equal parts");
        }
        return PlanSet.first(plans.size(), rank -> ofRank(plans, rank));
    }

    private static Optional<String> ofRank(PlanSet plans, int rank) {
        Plan plan = plans.of(rank);
        Plan first = plans.of(0);
        if (plan.chunkCount() != first.chunkCount() || !plan.algorithm().equals(first.algorithm())) {
            return Optional.of("rank " + rank + " has " + plan.algorithm() + " over " + plan.chunkCount()
                    + " chunks, rank 0 " + first.algorithm() + " over " + first.chunkCount());
        }
        if (!plan.in().equals(plans.in(rank)) || !plan.out().equals(plans.out(rank))) {
            return Optional.of("rank " + rank + " has in " + plan.in() + " and out " + plan.out() + ", need "
                    + plans.in(rank) + " and " + plans.out(rank));
        }
        for (int i = 0; i < plan.sends().size(); i++) {
            Optional<String> why = ofSend(plan.sends().get(i), i, plan, plans.size());
            if (why.isPresent()) {
                return why.map(plans.send(rank, i)::concat);
            }
            if (plan.sends().get(i).peer() == rank) {
                return Optional.of(plans.send(rank, i) + " goes to itself");
            }
        }
        return PlanSet.first(
                plan.receives().size(),
                i -> ofArrival(plan.receives().get(i), i, plan, plans.size()).map(why -> plans.arrival(rank, i) + why));
    }

    /** Proves that reductions read each part of an operand once: it is multiplied there, also where the result is too. */
    static Optional<String> readTwice(PlanSet plans) {
        return PlanSet.first(plans.isReduction() ? plans.size() : 0, rank -> readTwice(plans, rank));
    }

    private static Optional<String> readTwice(PlanSet plans, int rank) {
        Plan plan = plans.of(rank);
        boolean[] read = new boolean[plan.chunkCount()];
        for (int i = 0; i < plan.sends().size(); i++) {
            Step.Send send = plan.sends().get(i);
            if (send.region() == Region.IN && !reads(read, send.chunk(), send.chunks())) {
                return Optional.of(plans.send(rank, i) + " reads a part of the operand that another step reads too");
            }
        }
        for (int i = 0; i < plan.receives().size(); i++) {
            boolean copies = plan.receives().get(i) instanceof Step.LocalCopy copy && copy.from() == Region.IN;
            Step.WriteStep arrival = plan.receives().get(i);
            if (copies && !reads(read, arrival.chunk(), arrival.chunks())) {
                return Optional.of(plans.arrival(rank, i) + " reads a part of the operand that another step reads too");
            }
        }
        return Optional.empty();
    }

    private static boolean reads(boolean[] read, int chunk, int chunks) {
        boolean first = true;
        for (int i = chunk; i < chunk + chunks; i++) {
            first &= !read[i];
            read[i] = true;
        }
        return first;
    }

    private static Optional<String> ofSend(Step.Send send, int index, Plan plan, int size) {
        if (send.peer() < 0 || send.peer() >= size) {
            return Optional.of(" names a rank that is not among " + size);
        }
        if (send.afterSends() > index) {
            return Optional.of(" waits for " + send.afterSends() + " sends, only " + index + " are before it");
        }
        if (send.afterReceives() > plan.receives().size()) {
            return Optional.of(" waits for " + send.afterReceives() + " receives of "
                    + plan.receives().size());
        }
        return inside(plan, send.region(), send.chunk(), send.chunks());
    }

    private static Optional<String> ofArrival(Step.WriteStep arrival, int index, Plan plan, int size) {
        if (!(arrival instanceof Step.LocalStep) && (arrival.peer() < 0 || arrival.peer() >= size)) {
            return Optional.of(" names a rank that is not among " + size);
        }
        if (arrival.afterReceives() > index) {
            return Optional.of(" waits for " + arrival.afterReceives() + " receives, only " + index + " are before it");
        }
        if (arrival.afterSends() > plan.sends().size()) {
            return Optional.of(" waits for " + arrival.afterSends() + " sends of "
                    + plan.sends().size());
        }
        if (arrival.region() == Region.IN) {
            return Optional.of(" writes the caller's operand");
        }
        if (arrival instanceof Step.LocalStep local) {
            if (local.from() == local.region()) {
                return Optional.of(" copies onto itself");
            }
            if (arrival instanceof Step.LocalCombine && local.from() == Region.IN) {
                return Optional.of(" combines the operand, which is multiplied only where it is copied or sent");
            }
            Optional<String> why = inside(plan, local.from(), local.chunk(), local.chunks());
            if (why.isPresent()) {
                return why;
            }
        }
        return inside(plan, arrival.region(), arrival.chunk(), arrival.chunks());
    }

    private static Optional<String> inside(Plan plan, Region region, int chunk, int chunks) {
        if (chunk < 0 || chunks < 1 || !plan.extent(region).holds(chunk, chunks)) {
            return Optional.of(
                    " needs " + PlanSet.chunks(region, chunk, chunks) + ", which holds " + plan.extent(region));
        }
        return Optional.empty();
    }
}
