package ferro.collectives.plan;

import ferro.CollectiveKind;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The plans of all ranks and what their collective promises.
 *
 * @param kind as {@link ferro.Collective#kind}
 * @param all  by rank, at least one
 * @param root the operation's root
 */
record PlanSet(CollectiveKind kind, List<Plan> all, int root) {
    PlanSet {
        if (all.isEmpty() || root < 0 || root >= all.size()) {
            throw new IllegalArgumentException(
                    kind + ": need a plan per rank and a root among them, found " + all.size() + " and " + root);
        }
    }

    int size() {
        return all.size();
    }

    Plan of(int rank) {
        return all.get(rank);
    }

    int chunkCount() {
        return all.get(0).chunkCount();
    }

    /** Returns how many chunks one rank's part has. */
    int unit() {
        return chunkCount() / size();
    }

    /** Returns whether the operation is cut by ranks, so that each chunk belongs to one rank. */
    boolean hasParts() {
        return kind.hasParts();
    }

    /** Returns whether messages have the same chunk numbers at both ends. */
    boolean numbersAgree() {
        return kind != CollectiveKind.ALL_TO_ALL && kind != CollectiveKind.BARRIER;
    }

    boolean isReduction() {
        return kind.combines();
    }

    /** Returns whether a caller may give one memory as operand and result. */
    boolean canBeInPlace() {
        return kind != CollectiveKind.ALL_TO_ALL && kind != CollectiveKind.BARRIER && kind != CollectiveKind.BROADCAST;
    }

    /** Returns what IN must hold. */
    ChunkExtent in(int rank) {
        return switch (kind) {
            case ALL_REDUCE, REDUCE, REDUCE_SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN -> ChunkExtent.all(chunkCount());
            case ALL_GATHER, GATHER -> part(rank);
            case BROADCAST, SCATTER -> rank == root ? ChunkExtent.all(chunkCount()) : ChunkExtent.NONE;
            default -> ChunkExtent.NONE;
        };
    }

    /** Returns what OUT must hold. */
    ChunkExtent out(int rank) {
        return switch (kind) {
            case ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, SCAN -> ChunkExtent.all(chunkCount());
            case EXCLUSIVE_SCAN -> rank > 0 ? ChunkExtent.all(chunkCount()) : ChunkExtent.NONE;
            case REDUCE, GATHER -> rank == root ? ChunkExtent.all(chunkCount()) : ChunkExtent.NONE;
            case REDUCE_SCATTER, SCATTER -> part(rank);
            case BROADCAST -> rank == root ? ChunkExtent.NONE : ChunkExtent.all(chunkCount());
            default -> ChunkExtent.NONE;
        };
    }

    private ChunkExtent part(int rank) {
        return new ChunkExtent(rank * unit(), unit());
    }

    /** Returns what to call a send in a message. */
    String send(int rank, int index) {
        Step.Send send = of(rank).sends().get(index);
        return "rank " + rank + " send " + index + " (to " + send.peer() + ", "
                + chunks(send.region(), send.chunk(), send.chunks()) + ")";
    }

    /** Returns what to call an entry of the second list in a message. */
    String arrival(int rank, int index) {
        Step.WriteStep arrival = of(rank).receives().get(index);
        String what = arrival instanceof Step.LocalStep local
                ? (arrival instanceof Step.LocalCopy ? "copy from " : "combine from ") + local.from()
                : (arrival instanceof Step.Receive ? "from " : "combine from ") + arrival.peer();
        return "rank " + rank + " receive " + index + " (" + what + ", "
                + chunks(arrival.region(), arrival.chunk(), arrival.chunks()) + ")";
    }

    /** Returns the first text that a check returns for the numbers below a count. */
    static Optional<String> first(int count, IntFunction<Optional<String>> check) {
        return IntStream.range(0, count)
                .mapToObj(check)
                .flatMap(Optional::stream)
                .findFirst();
    }

    static String chunks(Region region, int chunk, int chunks) {
        return region + " chunk" + (chunks == 1 ? " " + chunk : "s " + chunk + " to " + (chunk + chunks - 1));
    }

    @Override
    public String toString() {
        return kind + " by " + all.get(0).algorithm() + " of " + size() + " ranks, root " + root;
    }
}
