package ferro.collectives.algorithm;

import ferro.CollectiveKind;
import ferro.collectives.plan.Plan;
import ferro.collectives.shared.ChunkSizes;
import ferro.collectives.shared.Program;
import ferro.collectives.shared.SharedCall;
import java.util.Set;

/**
 * One algorithm for one kind of operation: a row of {@link AlgorithmRegistry}.
 *
 * @param kind     of operation
 * @param topology where it runs
 * @param name     as in settings, tables and fingerprints; unique within its kind
 * @param order    in which it combines the operands of an element
 * @param maker    makes the plan or program of one rank
 * @param traits   further properties that callers must know
 */
public record Algorithm(
        CollectiveKind kind, Topology topology, String name, CombineOrder order, Maker maker, Set<Trait> traits) {
    /** A property of an algorithm. */
    public enum Trait {
        /**
         * Combines every element in the same order of ranks, wherever the element lies: fused calls give the same bits.
         */
        ONE_ORDER,
        /** Stages all data of a rank at once: only for data that fits in a slot. */
        STAGED_AT_ONCE
    }

    /** Makes the plan or the program of one rank. */
    sealed interface Maker {}

    /** For ranks that send messages. */
    @FunctionalInterface
    non-sealed interface PlanMaker extends Maker {
        Plan plan(int rank, int size, int root, Hosts hosts);
    }

    /** For ranks that share memory. */
    @FunctionalInterface
    non-sealed interface ProgramMaker extends Maker {
        Program program(SharedCall call, int chunkBytes);
    }

    /**
     * Makes the plan of one rank.
     *
     * @param rank  whose plan it is
     * @param size  number of ranks
     * @param root  the operation's root; ignored if it has none
     * @param hosts of all ranks; null where the topology is {@link Topology#FLAT}
     * @return plan
     * @throws IllegalStateException if it runs in shared memory
     */
    public Plan plan(int rank, int size, int root, Hosts hosts) {
        if (maker instanceof PlanMaker plans) {
            return plans.plan(rank, size, root, hosts);
        }
        throw new IllegalStateException(this + " has no plan: it runs in shared memory");
    }

    /**
     * Makes the program of one rank.
     *
     * @param call      operation, and the rank whose program it is
     * @param slotBytes most bytes that are staged at once
     * @return program
     * @throws IllegalStateException if it sends messages
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
     * @param slotBytes most bytes that are staged at once; any number if messages are sent
     * @return false if it is too large
     */
    public boolean fits(long bytes, long slotBytes) {
        return !traits.contains(Trait.STAGED_AT_ONCE) || bytes <= slotBytes;
    }

    /**
     * Returns whether single calls and fused calls give the same bits.
     *
     * @return false if the order of ranks depends on where an element lies
     */
    public boolean isInOneOrder() {
        return traits.contains(Trait.ONE_ORDER);
    }

    @Override
    public String toString() {
        return kind + " by " + name;
    }
}
