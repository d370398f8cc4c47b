package ferro.benchmarks.model;

import ferro.collectives.plan.Plan;
import ferro.collectives.plan.Region;
import ferro.collectives.plan.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/**
 * Simulates the plans of all ranks by the cost of each step. Sends, receives and copies take time of their core, one after
 * the other, and a piece arrives one latency after it was sent. The dependencies are those of the plans.
 */
public final class PlanTime {
    /** More pieces of a step do not change the result visibly. */
    private static final int PIECES_MOST = 64;

    private final Load load;
    private final Rates rates;
    private final double[] coreFree;
    private final double[][] linkFree;
    private final StepLane[] sends;
    private final StepLane[] receives;
    private final int[] chunkCounts;
    private final List<List<Deque<Double>>> arrivals = new ArrayList<>();
    private final boolean mirrored;

    /**
     * The load for which the plans are simulated.
     *
     * @param bytes      bytes of the whole operation, all chunks together
     * @param pieceBytes bytes of one piece: later pieces of a step are sent while the first ones are received
     * @param inPlace    whether IN and OUT are the same memory, so that copies between them cost nothing
     * @param cores      cores that the ranks share in turns; as many as ranks if each has one
     */
    public record Load(long bytes, long pieceBytes, boolean inPlace, int cores) {}

    /** The steps of one list, each in the same number of pieces. The pieces finish in order. */
    private static final class StepLane {
        final List<? extends Step> steps;
        final int pieces;
        final double[] done;
        int next;

        StepLane(List<? extends Step> steps, int pieces) {
            this.steps = steps;
            this.pieces = pieces;
            done = new double[steps.size() * pieces];
        }

        boolean finished() {
            return next == done.length;
        }

        Step step() {
            return steps.get(next / pieces);
        }

        /**
         * Returns when a piece of the last of the first {@code stepsBefore} steps was done; infinite if it is not done yet.
         */
        double done(int stepsBefore, int piece) {
            int index = (stepsBefore - 1) * pieces + piece;
            return stepsBefore == 0 ? 0 : index < next ? done[index] : Double.POSITIVE_INFINITY;
        }
    }

    private PlanTime(List<Plan> plans, Load load, Rates rates, boolean mirrored) {
        this.load = load;
        this.rates = rates;
        this.mirrored = mirrored;
        coreFree = new double[load.cores];
        linkFree = new double[plans.size()][plans.size()];
        sends = plans.stream()
                .map(plan -> new StepLane(plan.sends(), pieces(plan)))
                .toArray(StepLane[]::new);
        receives = plans.stream()
                .map(plan -> new StepLane(plan.receives(), pieces(plan)))
                .toArray(StepLane[]::new);
        for (int rank = 0; rank < plans.size(); rank++) {
            arrivals.add(Stream.generate(() -> (Deque<Double>) new ArrayDeque<Double>())
                    .limit(plans.size())
                    .toList());
        }
        chunkCounts = plans.stream().mapToInt(Plan::chunkCount).toArray();
    }

    /**
     * Returns the time from the call to the last rank's end.
     *
     * @param plans of all ranks
     * @param load  load of the operation
     * @param rates what it costs
     * @return microseconds
     */
    public static double micros(List<Plan> plans, Load load, Rates rates) {
        return new PlanTime(plans, load, rates, false).play();
    }

    /**
     * Returns the time of one rank among many that all do the same at the same time: it next receives what it has just sent,
     * over one link. This is for worlds whose plans together would not fit into memory. The depth of a tree appears as the
     * number of the root's sends, which is the same.
     *
     * @param plan  of rank 0
     * @param load  load of the operation, with one core
     * @param rates what it costs
     * @return microseconds
     */
    public static double mirroredMicros(Plan plan, Load load, Rates rates) {
        return new PlanTime(List.of(plan), load, rates, true).play();
    }

    private int pieces(Plan plan) {
        long chunkBytes = load.bytes / Math.max(1, plan.chunkCount());
        return (int) Math.max(1, Math.min(PIECES_MOST, (chunkBytes + load.pieceBytes - 1) / load.pieceBytes));
    }

    /** Runs the piece that can begin first, until none is left. */
    private double play() {
        double last = 0;
        while (true) {
            int rank = -1;
            boolean sending = false;
            double start = Double.POSITIVE_INFINITY;
            for (int candidate = 0; candidate < sends.length; candidate++) {
                double send = start(candidate, sends[candidate]);
                double receive = start(candidate, receives[candidate]);
                if (Math.min(send, receive) < start) {
                    start = Math.min(send, receive);
                    rank = candidate;
                    sending = send <= receive;
                }
            }
            if (rank < 0 && !unblock()) {
                break;
            }
            last = rank < 0 ? last : Math.max(last, run(rank, sending ? sends[rank] : receives[rank], start));
        }
        checkFinished();
        // another rank receives what is still in flight when the mirrored rank ends
        return mirrored ? Math.max(last, linkFree[0][0] + rates.latencyMicros()) : last;
    }

    /** Makes a mirrored rank receive first, if in truth a rank of another kind sends first. */
    private boolean unblock() {
        boolean waits = mirrored && !receives[0].finished();
        if (waits) {
            arrivals.get(0).get(0).addLast(coreFree[0] + rates.latencyMicros());
        }
        return waits;
    }

    /** Returns when the next piece of a list can begin; infinite if that is not known yet. */
    private double start(int rank, StepLane lane) {
        if (lane.finished()) {
            return Double.POSITIVE_INFINITY;
        }
        Step step = lane.step();
        int piece = lane.next % lane.pieces;
        double ready =
                Math.max(sends[rank].done(step.afterSends(), piece), receives[rank].done(step.afterReceives(), piece));
        int peer = source(step);
        return Math.max(Math.max(ready, coreFree[rank % load.cores]), peer < 0 ? 0 : arrival(peer, rank));
    }

    /** Returns the rank from which a step receives; below 0 if it does not receive. */
    private int source(Step step) {
        if (step instanceof Step.Receive receive) {
            return mirrored ? 0 : receive.peer();
        }
        return step instanceof Step.ReceiveCombine combine ? mirrored ? 0 : combine.peer() : -1;
    }

    private double arrival(int peer, int rank) {
        Double first = arrivals.get(peer).get(rank).peekFirst();
        if (first != null) {
            return first;
        }
        // a mirrored rank that only receives: the others have sent at once
        boolean nothingToWaitFor = mirrored && sends[0].finished();
        return nothingToWaitFor ? rates.latencyMicros() : Double.POSITIVE_INFINITY;
    }

    private double run(int rank, StepLane lane, double start) {
        Step step = lane.step();
        double end = start + cost(rank, step) / lane.pieces;
        coreFree[rank % load.cores] = end;
        lane.done[lane.next++] = end;
        int peer = source(step);
        if (step instanceof Step.Send send) {
            deliver(rank, mirrored ? 0 : send.peer(), end, bytes(rank, send.chunks()) / lane.pieces);
        } else if (peer >= 0) {
            arrivals.get(peer).get(rank).pollFirst();
        }
        return end;
    }

    /** Delivers a piece; a link carries one piece after the other. */
    private void deliver(int from, int to, double sent, double bytes) {
        double carried = Math.max(sent, linkFree[from][to]) + bytes * rates.linkPerByte();
        linkFree[from][to] = carried;
        arrivals.get(from).get(to).addLast(carried + rates.latencyMicros());
    }

    private double bytes(int rank, int chunks) {
        return (double) load.bytes * chunks / chunkCounts[rank];
    }

    private double cost(int rank, Step step) {
        if (step instanceof Step.Send send) {
            return bytes(rank, send.chunks()) * rates.corePerByte();
        }
        Step.Arrival arrival = (Step.Arrival) step;
        double bytes = bytes(rank, arrival.chunks());
        if (arrival instanceof Step.Local local) {
            boolean nothing = load.inPlace && local.from() == Region.IN && local.region() == Region.OUT;
            return nothing ? 0 : bytes * rates.combinePerByte();
        }
        double combining = arrival instanceof Step.ReceiveCombine ? rates.combinePerByte() : 0;
        return bytes * (rates.corePerByte() + combining);
    }

    private void checkFinished() {
        for (int rank = 0; rank < sends.length; rank++) {
            if (!sends[rank].finished() || !receives[rank].finished()) {
                throw new IllegalArgumentException("the plans of " + sends.length + " ranks wait for one another: rank "
                        + rank + " waits at send " + sends[rank].next + " of " + sends[rank].done.length
                        + " and receive " + receives[rank].next + " of " + receives[rank].done.length);
            }
        }
    }
}
