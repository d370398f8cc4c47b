package ferro.collectives.plan;

import ferro.CollectiveKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Runs plans with formulas as data, in one of the orders that they allow, and checks what is read, combined and left.
 *
 * <p>A barrier has no data. Its messages carry the set of ranks whose messages arrived by the receives before the send.
 */
final class PlanResults {
    private final PlanSet plans;
    private final List<PlanMemory> ranks = new ArrayList<>();
    /** Messages under way, by sender times size plus receiver. */
    private final List<ArrayDeque<Contribution[]>> links = new ArrayList<>();

    private Optional<String> failure = Optional.empty();

    private PlanResults(PlanSet plans, boolean inPlace) {
        this.plans = plans;
        for (int rank = 0; rank < plans.size(); rank++) {
            ranks.add(new PlanMemory(plans, rank, inPlace));
        }
        for (int i = 0; i < plans.size() * plans.size(); i++) {
            links.add(new ArrayDeque<>());
        }
    }

    /** One rank's regions and progress. */
    private static final class PlanMemory {
        final Plan plan;
        final int rank;
        final Contribution[] in;
        final Contribution[] out;
        final Contribution[] scratch;
        final boolean[] received;
        /** For a barrier: by number of finished receives, the ranks whose messages have arrived. */
        final List<BitSet> heard = new ArrayList<>();

        int posted;
        int sent;
        int done;

        PlanMemory(PlanSet plans, int rank, boolean inPlace) {
            this.rank = rank;
            plan = plans.of(rank);
            received = new boolean[plan.receives().size()];
            out = new Contribution[plan.chunkCount()];
            scratch = new Contribution[plan.chunkCount()];
            in = inPlace ? out : new Contribution[plan.chunkCount()];
            for (int i = 0; i < plan.in().count(); i++) {
                int chunk = plan.in().first() + i;
                in[chunk] = Contribution.of(rank, chunk);
            }
            for (int prefix = 0; prefix <= received.length; prefix++) {
                heard.add(new BitSet());
                heard.get(prefix).set(rank);
            }
        }

        Contribution[] region(Region region) {
            return switch (region) {
                case IN -> in;
                case OUT -> out;
                case SCRATCH -> scratch;
            };
        }

        boolean allows(Step step) {
            return step.afterSends() <= sent && step.afterReceives() <= done;
        }
    }

    static Optional<String> whyNot(PlanSet plans, boolean inPlace) {
        PlanResults results = new PlanResults(plans, inPlace);
        results.run();
        return results.failure.or(() -> PlanSet.first(plans.size(), rank -> results.check(results.ranks.get(rank))));
    }

    static Optional<String> whyNotInRankOrder(PlanSet plans) {
        PlanResults results = new PlanResults(plans, false);
        results.run();
        for (PlanMemory rank : results.ranks) {
            ChunkExtent out = rank.plan.out();
            for (int chunk = out.first(); chunk < out.first() + out.count(); chunk++) {
                if (!rank.out[chunk].isInOrder()) {
                    return Optional.of(end(rank, chunk) + " holding " + rank.out[chunk] + ", not in rank order");
                }
            }
        }
        return Optional.empty();
    }

    /** Returns, by rank and chunk, the hash of what OUT holds at the end; 0 where it holds nothing. */
    static long[][] expressions(PlanSet plans) {
        PlanResults results = new PlanResults(plans, false);
        results.run();
        return results.ranks.stream()
                .map(rank -> Arrays.stream(rank.out)
                        .mapToLong(found -> found == null ? 0 : found.hash())
                        .toArray())
                .toArray(long[][]::new);
    }

    /** Runs all plans to their end. It terminates, as {@link PlanLiveness} has proved before. */
    private void run() {
        boolean moved = true;
        while (moved && failure.isEmpty()) {
            moved = false;
            for (PlanMemory rank : ranks) {
                int before = rank.sent + rank.posted + rank.done;
                send(rank);
                receive(rank);
                moved |= rank.sent + rank.posted + rank.done > before;
            }
        }
    }

    private void send(PlanMemory rank) {
        while (rank.sent < rank.plan.sends().size()) {
            Step.Send send = rank.plan.sends().get(rank.sent);
            if (!rank.allows(send)) {
                return;
            }
            Contribution[] message = new Contribution[send.chunks()];
            if (isBarrier()) {
                message[0] = new Contribution(0, rank.heard.get(send.afterReceives()), 0, false, false);
            } else {
                System.arraycopy(rank.region(send.region()), send.chunk(), message, 0, send.chunks());
                int position = rank.sent;
                checkSet(message, () -> plans.send(rank.rank, position));
            }
            links.get(rank.rank * plans.size() + send.peer()).add(message);
            rank.sent++;
        }
    }

    private void receive(PlanMemory rank) {
        while (rank.posted < rank.received.length
                && rank.allows(rank.plan.receives().get(rank.posted))) {
            rank.posted++;
        }
        for (int i = rank.done; i < rank.posted; i++) {
            if (!rank.received[i]) {
                rank.received[i] = arrive(rank, i);
            }
        }
        while (rank.done < rank.received.length && rank.received[rank.done]) {
            rank.done++;
        }
    }

    private boolean arrive(PlanMemory rank, int index) {
        Step.WriteStep arrival = rank.plan.receives().get(index);
        Contribution[] into = rank.region(arrival.region());
        if (arrival instanceof Step.LocalStep local) {
            Contribution[] read = new Contribution[local.chunks()];
            System.arraycopy(rank.region(local.from()), local.chunk(), read, 0, local.chunks());
            checkSet(read, () -> plans.arrival(rank.rank, index));
            if (arrival instanceof Step.LocalCombine combine) {
                combine(rank, index, read, combine);
            } else {
                System.arraycopy(read, 0, into, local.chunk(), local.chunks());
            }
            return true;
        }
        Contribution[] message =
                links.get(arrival.peer() * plans.size() + rank.rank).poll();
        if (message == null) {
            return false;
        }
        if (isBarrier()) {
            hear(rank, index, message[0].ranks());
        } else if (arrival instanceof Step.ReceiveCombine combine) {
            combine(rank, index, message, combine);
        } else {
            System.arraycopy(message, 0, into, arrival.chunk(), arrival.chunks());
        }
        return true;
    }

    /** Adds ranks to all prefixes that contain this receive; prefixes that are not complete yet are not read. */
    private static void hear(PlanMemory rank, int index, BitSet ranks) {
        for (int prefix = index + 1; prefix < rank.heard.size(); prefix++) {
            rank.heard.get(prefix).or(ranks);
        }
    }

    private void combine(PlanMemory rank, int index, Contribution[] message, Step.CombineStep arrival) {
        Contribution[] into = rank.region(arrival.region());
        for (int i = 0; i < message.length; i++) {
            Contribution own = into[arrival.chunk() + i];
            if (own == null) {
                fail(plans.arrival(rank.rank, index) + " combines into what nothing has set");
            } else if (own.chunk() != message[i].chunk()) {
                fail(plans.arrival(rank.rank, index) + " combines " + own + " with " + message[i]);
            } else if (own.ranks().intersects(message[i].ranks())) {
                fail(plans.arrival(rank.rank, index) + " counts a rank twice: " + own + " and " + message[i]);
            } else if (own.isComplete() || message[i].isComplete()) {
                fail(plans.arrival(rank.rank, index) + " combines what is complete: " + own + " and " + message[i]);
            } else {
                into[arrival.chunk() + i] = own.with(message[i], arrival);
            }
        }
    }

    /** Fails if a step reads an unset value, and replaces that value so that the run can continue. */
    private void checkSet(Contribution[] read, Supplier<String> step) {
        for (int i = 0; i < read.length; i++) {
            if (read[i] == null) {
                fail(step.get() + " reads what nothing has set");
                read[i] = Contribution.of(0, 0);
            }
        }
    }

    private void fail(String why) {
        if (failure.isEmpty()) {
            failure = Optional.of(why);
        }
    }

    private boolean isBarrier() {
        return plans.kind() == CollectiveKind.BARRIER;
    }

    private Optional<String> check(PlanMemory rank) {
        if (isBarrier()) {
            BitSet heard = rank.heard.get(rank.heard.size() - 1);
            if (heard.cardinality() != plans.size()) {
                return Optional.of("rank " + rank.rank + " ends at receive " + rank.done + " and has heard of ranks "
                        + heard + " only");
            }
        }
        ChunkExtent out = rank.plan.out();
        return PlanSet.first(out.count(), i -> check(rank, out.first() + i));
    }

    private Optional<String> check(PlanMemory rank, int chunk) {
        Contribution found = rank.out[chunk];
        Contribution wanted = wanted(rank.rank, chunk);
        if (found == null) {
            return Optional.of(end(rank, chunk) + " unset, need " + wanted);
        }
        if (found.chunk() != wanted.chunk() || !found.ranks().equals(wanted.ranks())) {
            return Optional.of(end(rank, chunk) + " holding " + found + ", need " + wanted);
        }
        if (plans.kind().isScan()) {
            return whyNotScanned(rank, chunk, found);
        }
        if (plans.isReduction() && plans.size() > 1 && !found.isComplete()) {
            return Optional.of(end(rank, chunk) + " of all ranks, but no combine has completed it");
        }
        Contribution first = ranks.get(0).out[chunk];
        if (plans.kind() == CollectiveKind.ALL_REDUCE && found.hash() != first.hash()) {
            return Optional.of(
                    end(rank, chunk) + " combined in another way than on rank 0: the last bits could differ");
        }
        return Optional.empty();
    }

    private static Optional<String> whyNotScanned(PlanMemory rank, int chunk, Contribution found) {
        if (found.isComplete()) {
            return Optional.of(end(rank, chunk) + " completed, though a scan has nothing to divide");
        }
        return found.isInOrder()
                ? Optional.empty()
                : Optional.of(end(rank, chunk) + " holding " + found + ", not combined in rank order");
    }

    private static String end(PlanMemory rank, int chunk) {
        return "rank " + rank.rank + " ends after receive " + (rank.done - 1) + " with OUT chunk " + chunk;
    }

    private Contribution wanted(int rank, int chunk) {
        if (plans.isReduction()) {
            int end = plans.kind() == CollectiveKind.EXCLUSIVE_SCAN ? rank : rank + 1;
            BitSet combined = new BitSet();
            combined.set(0, plans.kind().isScan() ? end : plans.size());
            return new Contribution(chunk, combined, 0, true, true);
        }
        return switch (plans.kind()) {
            case BROADCAST, SCATTER -> Contribution.of(plans.root(), chunk);
            case ALL_TO_ALL -> Contribution.of(chunk / plans.unit(), rank * plans.unit() + chunk % plans.unit());
            default -> Contribution.of(chunk / plans.unit(), chunk);
        };
    }

    /**
     * The content of a chunk as a formula: the ranks that contributed, the chunk, and how it was combined.
     *
     * @param chunk number of the chunk in the operands
     * @param ranks contributing ranks
     * @param hash  of the tree of combines, equal for trees that differ only in the order of two operands, and the same for
     *     all chunks
     * @param isComplete whether the last combine completed it
     * @param isInOrder whether every combine had ranks on its first side that are all below those on its second side
     */
    private record Contribution(int chunk, BitSet ranks, long hash, boolean isComplete, boolean isInOrder) {
        static Contribution of(int rank, int chunk) {
            BitSet ranks = new BitSet();
            ranks.set(rank);
            return new Contribution(chunk, ranks, mix(31L * rank + 17), false, true);
        }

        /** Returns the combination of both as a step combines them, with this one as what is written. */
        Contribution with(Contribution other, Step.CombineStep step) {
            Contribution first = step.readsFirst() ? other : this;
            Contribution second = step.readsFirst() ? this : other;
            BitSet union = (BitSet) ranks.clone();
            union.or(other.ranks);
            long low = Math.min(hash, other.hash);
            long high = Math.max(hash, other.hash);
            boolean inOrder = first.isInOrder && second.isInOrder && first.ranks.length() <= second.ranks.nextSetBit(0);
            return new Contribution(chunk, union, mix(mix(low) * 31 + high), step.completes(), inOrder);
        }

        /** Spreads every bit over the word: the finaliser of SplitMix64, Steele and others 2014, doi:10.1145/2714064.2660195. */
        private static long mix(long value) {
            long mixed = value + 0x9e3779b97f4a7c15L;
            mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
            mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
            return mixed ^ (mixed >>> 31);
        }

        @Override
        public String toString() {
            return "chunk " + chunk + " of ranks " + ranks;
        }
    }
}
