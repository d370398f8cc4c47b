package ferro.collectives.algorithm;

import ferro.CollectiveKind;
import ferro.collectives.plan.Plan;
import ferro.collectives.shared.ChunkSizes;
import ferro.collectives.shared.Program;
import ferro.collectives.shared.SharedCall;
import java.util.Set;

/**
 * An algorithm for one kind of operation: a row of {@link AlgorithmRegistry}.
 *
 * @param kind     kind of operation
 * @param topology topology in which the algorithm runs
 * @param name     name in settings, tables and fingerprints; unique within its kind
 * @param order    order in which the algorithm combines the operands of an element
 * @param maker    makes the plan or program of one rank
 * @param traits   further properties that callers need
 */
public record Algorithm(
        CollectiveKind kind, Topology topology, String name, CombineOrder order, Maker maker, Set<Trait> traits) {
    /** A property of an algorithm. */
    public enum Trait {
        /**
         * The algorithm combines every element in the same order of ranks, at any position. Fused calls of such an
         * algorithm give the same bits as separate calls.
         */
        ONE_ORDER,
        /**
         * The algorithm combines the operands of every element in the order of the ranks, with any brackets. So the
         * algorithm serves ops that do not commute.
         */
        RANK_ORDER,
        /** The algorithm stages all data of a rank at once, so it works only if the data fits into a slot. */
        STAGED_AT_ONCE
    }

    /** The factory of the plan or the program of one rank. */
    sealed interface Maker {}

    /** The factory of a plan, for ranks that send messages. */
    @FunctionalInterface
    non-sealed interface PlanMaker extends Maker {
        Plan plan(int rank, int size, int root, Hosts hosts);

        /** Returns the number of chunks of SCRATCH of the rank that has the most; 0 if no rank has SCRATCH. */
        default int scratchChunks(int size, int root, Hosts hosts) {
            return 0;
        }
    }

    /** The number of chunks of SCRATCH of the rank that has the most. */
    @FunctionalInterface
    interface ScratchSize {
        int chunks(int size, int root, Hosts hosts);
    }

    /** A factory of plans with SCRATCH. */
    private record PlansWithScratch(PlanMaker plans, ScratchSize scratch) implements PlanMaker {
        @Override
        public Plan plan(int rank, int size, int root, Hosts hosts) {
            return plans.plan(rank, size, root, hosts);
        }

        @Override
        public int scratchChunks(int size, int root, Hosts hosts) {
            return scratch.chunks(size, root, hosts);
        }
    }

    /** Returns the same algorithm with a formula for the size of SCRATCH. */
    Algorithm scratch(ScratchSize size) {
        return new Algorithm(kind, topology, name, order, new PlansWithScratch((PlanMaker) maker, size), traits);
    }

    /** The factory of a program, for ranks that share memory. */
    @FunctionalInterface
    non-sealed interface ProgramMaker extends Maker {
        Program program(SharedCall call, int chunkBytes);
    }

    /**
     * Makes the plan of one rank.
     *
     * @param rank  rank whose plan is made
     * @param size  number of ranks
     * @param root  root of the operation; ignored if the operation has no root
     * @param hosts hosts of all ranks; null if the topology is {@link Topology#FLAT}
     * @return plan
     * @throws IllegalStateException if the algorithm runs in shared memory
     */
    public Plan plan(int rank, int size, int root, Hosts hosts) {
        if (maker instanceof PlanMaker plans) {
            return plans.plan(rank, size, root, hosts);
        }
        throw new IllegalStateException(this + " has no plan: it runs in shared memory");
    }

    /**
     * Returns the number of chunks of {@link ferro.collectives.plan.Region#SCRATCH} of the rank that has the most. The
     * number is equal on all ranks. It is computed without the plans of other ranks.
     *
     * @param size  number of ranks
     * @param root  root of the operation; ignored if the operation has no root
     * @param hosts hosts of all ranks; null if the topology is {@link Topology#FLAT}
     * @return number of chunks; 0 if no rank has scratch memory, or if the operation has no elements
     */
    public int scratchChunks(int size, int root, Hosts hosts) {
        return maker instanceof PlanMaker plans ? plans.scratchChunks(size, root, hosts) : 0;
    }

    /**
     * Makes the program of one rank.
     *
     * @param call      operation, and the rank whose program is made
     * @param slotBytes maximum number of bytes that are staged at once
     * @return program
     * @throws IllegalStateException if the algorithm sends messages
     */
    public Program program(SharedCall call, int slotBytes) {
        if (maker instanceof ProgramMaker programs) {
            return programs.program(call, ChunkSizes.of(call, slotBytes));
        }
        throw new IllegalStateException(this + " has no program: it sends messages");
    }

    /**
     * Returns whether the algorithm can do an operation.
     *
     * @param bytes     size of the operation
     * @param slotBytes maximum number of bytes that are staged at once; any number if the algorithm sends messages
     * @return false if the operation is too large
     */
    public boolean fits(long bytes, long slotBytes) {
        return !traits.contains(Trait.STAGED_AT_ONCE) || bytes <= slotBytes;
    }

    /**
     * Returns whether single calls and fused calls give the same bits.
     *
     * @return false if the order of ranks depends on the position of an element
     */
    public boolean isInOneOrder() {
        return traits.contains(Trait.ONE_ORDER);
    }

    /**
     * Returns whether the algorithm serves ops that do not commute.
     *
     * @return true if the operands are combined in the order of the ranks
     */
    public boolean isInRankOrder() {
        return traits.contains(Trait.RANK_ORDER);
    }

    @Override
    public String toString() {
        return kind + " by " + name;
    }
}
