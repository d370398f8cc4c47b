package ferro.collectives.plan;

import static ferro.CollectiveKind.ALL_GATHER;
import static ferro.CollectiveKind.ALL_REDUCE;
import static ferro.CollectiveKind.ALL_TO_ALL;
import static ferro.CollectiveKind.BARRIER;
import static ferro.CollectiveKind.BROADCAST;
import static ferro.CollectiveKind.EXCLUSIVE_SCAN;
import static ferro.CollectiveKind.GATHER;
import static ferro.CollectiveKind.REDUCE;
import static ferro.CollectiveKind.REDUCE_SCATTER;
import static ferro.CollectiveKind.SCAN;
import static ferro.CollectiveKind.SCATTER;
import static ferro.collectives.plan.Algorithm.CombineOrder.DOUBLING;
import static ferro.collectives.plan.Algorithm.CombineOrder.HALVING;
import static ferro.collectives.plan.Algorithm.CombineOrder.HOSTS_DOUBLING;
import static ferro.collectives.plan.Algorithm.CombineOrder.HOSTS_RING;
import static ferro.collectives.plan.Algorithm.CombineOrder.PART_FIRST;
import static ferro.collectives.plan.Algorithm.CombineOrder.PART_LAST;
import static ferro.collectives.plan.Algorithm.CombineOrder.PART_OUTWARD;
import static ferro.collectives.plan.Algorithm.CombineOrder.RANKS;
import static ferro.collectives.plan.Algorithm.CombineOrder.UNSPECIFIED;
import static ferro.collectives.plan.Algorithm.Topology.FLAT;
import static ferro.collectives.plan.Algorithm.Topology.HOSTS;
import static ferro.collectives.plan.Algorithm.Topology.SHARED_MEMORY;
import static ferro.collectives.plan.Algorithm.Trait.ONE_ORDER;
import static ferro.collectives.plan.Algorithm.Trait.RANK_ORDER;
import static ferro.collectives.plan.Algorithm.Trait.STAGED_AT_ONCE;

import ferro.CollectiveKind;
import ferro.collectives.shared.FlatPrograms;
import ferro.collectives.shared.ProgramCall;
import ferro.collectives.shared.ReducePrograms;
import ferro.collectives.shared.SharedMemoryProgram;
import ferro.collectives.shared.StagedPrograms;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The table of all algorithms. Each row is an algorithm for one kind of operation. A new algorithm needs a method that
 * makes a plan or a program, a row in this table, and a case in {@link #plan} or {@link #program}.
 *
 * <p>The setting {@code ferro.algorithm} and the proofs use this table. {@link AlgorithmChooser} chooses the algorithms
 * that are used by default. docs/algorithms.md lists the cost of each algorithm, and a test compares that page with
 * this class. Switches make the plans, because linking method references would take time when a rank starts.
 */
public enum Algorithm {
    ALL_REDUCE_RING(ALL_REDUCE, FLAT, "ring", PART_FIRST),
    ALL_REDUCE_DOUBLING(ALL_REDUCE, FLAT, "recursiveDoubling", DOUBLING, ONE_ORDER),
    ALL_REDUCE_HALVING(ALL_REDUCE, FLAT, "halvingDoubling", HALVING),
    ALL_REDUCE_RANK_ORDER(ALL_REDUCE, FLAT, "rankOrder", PART_OUTWARD, RANK_ORDER),
    ALL_REDUCE_BY_HOSTS_DOUBLING(ALL_REDUCE, HOSTS, "byHostsDoubling", HOSTS_DOUBLING, ONE_ORDER),
    ALL_REDUCE_BY_HOSTS_RING(ALL_REDUCE, HOSTS, "byHostsRing", HOSTS_RING),
    ALL_REDUCE_SHARED_FLAT(ALL_REDUCE, SHARED_MEMORY, "flat", RANKS, ONE_ORDER, STAGED_AT_ONCE),
    ALL_REDUCE_SHARED_HALF_IN_PLACE(ALL_REDUCE, SHARED_MEMORY, "halfInPlace", PART_FIRST),
    BROADCAST_BINOMIAL(BROADCAST, FLAT, "binomial", UNSPECIFIED),
    BROADCAST_LINEAR(BROADCAST, FLAT, "linear", UNSPECIFIED),
    BROADCAST_BY_HOSTS(BROADCAST, HOSTS, "byHosts", UNSPECIFIED),
    BROADCAST_SHARED(BROADCAST, SHARED_MEMORY, "staged", UNSPECIFIED),
    REDUCE_BINOMIAL(REDUCE, FLAT, "binomial", UNSPECIFIED),
    REDUCE_LINEAR(REDUCE, FLAT, "linear", UNSPECIFIED),
    REDUCE_RANK_ORDER(REDUCE, FLAT, "rankOrder", UNSPECIFIED, RANK_ORDER),
    REDUCE_SHARED_FLAT(REDUCE, SHARED_MEMORY, "flat", UNSPECIFIED, STAGED_AT_ONCE),
    REDUCE_SHARED_SHARES(REDUCE, SHARED_MEMORY, "shares", UNSPECIFIED),
    ALL_GATHER_RING(ALL_GATHER, FLAT, "ring", UNSPECIFIED),
    ALL_GATHER_LINEAR(ALL_GATHER, FLAT, "linear", UNSPECIFIED),
    ALL_GATHER_DOUBLING(ALL_GATHER, FLAT, "recursiveDoubling", UNSPECIFIED),
    ALL_GATHER_BY_HOSTS(ALL_GATHER, HOSTS, "byHosts", UNSPECIFIED),
    ALL_GATHER_SHARED(ALL_GATHER, SHARED_MEMORY, "staged", UNSPECIFIED),
    REDUCE_SCATTER_LINEAR(REDUCE_SCATTER, FLAT, "linear", PART_FIRST),
    REDUCE_SCATTER_LINEAR_DOUBLING(REDUCE_SCATTER, FLAT, "linearDoubling", DOUBLING),
    REDUCE_SCATTER_HALVING(REDUCE_SCATTER, FLAT, "halving", HALVING),
    REDUCE_SCATTER_RING(REDUCE_SCATTER, FLAT, "ring", PART_LAST),
    REDUCE_SCATTER_RANK_ORDER(REDUCE_SCATTER, FLAT, "rankOrder", PART_OUTWARD, RANK_ORDER),
    REDUCE_SCATTER_BY_HOSTS_DOUBLING(REDUCE_SCATTER, HOSTS, "byHostsDoubling", HOSTS_DOUBLING),
    REDUCE_SCATTER_BY_HOSTS_RING(REDUCE_SCATTER, HOSTS, "byHostsRing", HOSTS_RING),
    REDUCE_SCATTER_SHARED_FLAT(REDUCE_SCATTER, SHARED_MEMORY, "flat", RANKS, STAGED_AT_ONCE),
    REDUCE_SCATTER_SHARED(REDUCE_SCATTER, SHARED_MEMORY, "staged", PART_FIRST),
    GATHER_BINOMIAL(GATHER, FLAT, "binomial", UNSPECIFIED),
    GATHER_LINEAR(GATHER, FLAT, "linear", UNSPECIFIED),
    GATHER_SHARED(GATHER, SHARED_MEMORY, "staged", UNSPECIFIED),
    SCATTER_BINOMIAL(SCATTER, FLAT, "binomial", UNSPECIFIED),
    SCATTER_LINEAR(SCATTER, FLAT, "linear", UNSPECIFIED),
    SCATTER_SHARED(SCATTER, SHARED_MEMORY, "staged", UNSPECIFIED),
    ALL_TO_ALL_PAIRWISE(ALL_TO_ALL, FLAT, "pairwise", UNSPECIFIED),
    ALL_TO_ALL_BRUCK(ALL_TO_ALL, FLAT, "bruck", UNSPECIFIED),
    ALL_TO_ALL_SHARED(ALL_TO_ALL, SHARED_MEMORY, "staged", UNSPECIFIED),
    SCAN_DOUBLING(SCAN, FLAT, "recursiveDoubling", UNSPECIFIED, RANK_ORDER),
    SCAN_CHAIN(SCAN, FLAT, "chain", UNSPECIFIED, RANK_ORDER),
    EXCLUSIVE_SCAN_DOUBLING(EXCLUSIVE_SCAN, FLAT, "recursiveDoubling", UNSPECIFIED, RANK_ORDER),
    EXCLUSIVE_SCAN_CHAIN(EXCLUSIVE_SCAN, FLAT, "chain", UNSPECIFIED, RANK_ORDER),
    BARRIER_DISSEMINATION(BARRIER, FLAT, "dissemination", UNSPECIFIED),
    BARRIER_BY_HOSTS(BARRIER, HOSTS, "byHosts", UNSPECIFIED),
    BARRIER_SHARED(BARRIER, SHARED_MEMORY, "flat", UNSPECIFIED);

    /** The names before version 0.1.0, which the setting {@code ferro.algorithm} may still use. */
    private static final Map<String, String> OLD_NAMES = Map.of("direct", "linear", "directDoubling", "linearDoubling");

    private static final List<Algorithm> ALL = List.of(values());

    private final CollectiveKind kind;
    private final Topology topology;
    private final String label;
    private final CombineOrder order;
    private final Set<Trait> traits;

    Algorithm(CollectiveKind kind, Topology topology, String label, CombineOrder order, Trait... traits) {
        this.kind = kind;
        this.topology = topology;
        this.label = label;
        this.order = order;
        this.traits = Set.of(traits);
    }

    /**
     * The way in which the ranks of a group send data to each other. The topology decides which algorithms the ranks
     * can run.
     */
    public enum Topology {
        /** Every rank sends messages to every other rank. */
        FLAT,
        /** Every rank sends messages to every other rank. Some ranks, but not all, share memory ({@link Hosts}). */
        HOSTS,
        /** All ranks share memory. */
        SHARED_MEMORY
    }

    /**
     * The order in which an algorithm combines the operands of an element. Algorithms of one topology and one order
     * give the same bits if the number of elements is a multiple of the world size. An all-reduce and a reduce-scatter
     * that give the same bits are called twins.
     */
    public enum CombineOrder {
        /** The algorithm has no defined order, or combines nothing. */
        UNSPECIFIED,
        /**
         * Combines first the operand of the rank whose part contains the element. The operands of the next ranks follow
         * one after the other.
         */
        PART_FIRST,
        /**
         * Combines the operands of all ranks in turn. The rank whose part contains the element is last, and the rank
         * after it is first.
         */
        PART_LAST,
        /**
         * Combines first the operand of the rank whose part contains the element. Then combines the operands of the
         * ranks before that rank, down to rank 0, and at last the operands of the ranks after that rank.
         */
        PART_OUTWARD,
        /** Combines first the operand of rank 0, then the operands of the other ranks, one after the other. */
        RANKS,
        /**
         * Combines first the operands of pairs of ranks at distance 1, then the sums of these pairs at distance 2, and
         * so on.
         */
        DOUBLING,
        /**
         * First combines the operands of each two ranks whose numbers differ by half the world size. Then combines the
         * sums of ranks whose numbers differ by a quarter of the world size, and so on.
         */
        HALVING,
        /**
         * Combines first the operands of the ranks of each host, one after the other. Then combines the sums of the
         * hosts in the order in which {@link #DOUBLING} combines ranks.
         */
        HOSTS_DOUBLING,
        /**
         * Combines first the operands of the ranks of each host, one after the other. Then combines the sums of the
         * hosts, beginning with the host that the part belongs to.
         */
        HOSTS_RING
    }

    /** A property of an algorithm. */
    enum Trait {
        /**
         * The algorithm combines every element in the same order of ranks, at any position. Fused calls of an algorithm
         * with one order give the same bits as separate calls.
         */
        ONE_ORDER,
        /**
         * The algorithm combines the operands of every element in the order of the ranks, but may group the operands in
         * any way. So the algorithm serves ops that do not commute.
         */
        RANK_ORDER,
        /** The algorithm stages all data of a rank at once, so the data must fit into a slot. */
        STAGED_AT_ONCE
    }

    /** Lists all algorithms, by kind. */
    public static List<Algorithm> all() {
        return ALL;
    }

    /** Lists the algorithms of a kind in a topology. The list for {@link Topology#FLAT} is never empty. */
    static Stream<Algorithm> rows(CollectiveKind kind, Topology topology) {
        return ALL.stream().filter(row -> row.kind == kind && row.topology == topology);
    }

    /** Lists the names of the algorithms of a kind in a topology. */
    public static List<String> names(CollectiveKind kind, Topology topology) {
        return rows(kind, topology).map(Algorithm::label).toList();
    }

    /**
     * Finds an algorithm by its name, or by the old name of {@code linear} or {@code linearDoubling}. If no algorithm
     * has the name, the message of the exception lists the existing algorithms.
     */
    public static Algorithm of(CollectiveKind kind, String name) {
        String current = OLD_NAMES.getOrDefault(name, name);
        List<Algorithm> rows = ALL.stream().filter(row -> row.kind == kind).toList();
        return rows.stream()
                .filter(row -> row.label.equals(current))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no algorithm \"" + name + "\" for " + kind
                        + ": use one of " + rows.stream().map(Algorithm::label).toList()));
    }

    /**
     * Lists the algorithms of a reduce-scatter that give the same bits as an all-reduce. The list is never empty, and
     * the first algorithm is the default.
     */
    public static List<Algorithm> twins(Algorithm allReduce) {
        if (allReduce.kind != ALL_REDUCE) {
            throw new IllegalArgumentException(
                    "only an all-reduce has reduce-scatters of the same bits, found " + allReduce);
        }
        return rows(REDUCE_SCATTER, allReduce.topology)
                .filter(row -> row.order == allReduce.order)
                .toList();
    }

    /** {@return the kind of operation} */
    public CollectiveKind kind() {
        return kind;
    }

    /** {@return the topology in which the algorithm runs} */
    public Topology topology() {
        return topology;
    }

    /** Returns the name in settings, tables and fingerprints, which is unique within the kind. */
    public String label() {
        return label;
    }

    CombineOrder order() {
        return order;
    }

    /**
     * Makes the plan of one rank. The root is ignored if the operation has no root, and {@code hosts} is null if the
     * topology is {@link Topology#FLAT}.
     */
    public Plan plan(int rank, int size, int root, Hosts hosts) {
        return switch (this) {
            case ALL_REDUCE_RING -> RingPlans.allReduce(rank, size);
            case ALL_REDUCE_DOUBLING -> HalvingPlans.doublingAllReduce(rank, size);
            case ALL_REDUCE_HALVING -> HalvingPlans.halvingAllReduce(rank, size);
            case ALL_REDUCE_RANK_ORDER -> LinearPlans.rankOrderAllReduce(rank, size);
            case ALL_REDUCE_BY_HOSTS_DOUBLING -> MultiHostPlans.smallAllReduce(rank, hosts);
            case ALL_REDUCE_BY_HOSTS_RING -> MultiHostPlans.largeAllReduce(rank, hosts);
            case BROADCAST_BINOMIAL -> BinomialPlans.broadcast(rank, size, root);
            case BROADCAST_LINEAR -> LinearPlans.broadcast(rank, size, root);
            case BROADCAST_BY_HOSTS -> MultiHostPlans.broadcast(rank, root, hosts);
            case REDUCE_BINOMIAL -> BinomialPlans.reduce(rank, size, root);
            case REDUCE_LINEAR -> LinearPlans.reduce(rank, size, root);
            case REDUCE_RANK_ORDER -> LinearPlans.rankOrderReduce(rank, size, root);
            case ALL_GATHER_RING -> RingPlans.allGather(rank, size);
            case ALL_GATHER_LINEAR -> LinearPlans.allGather(rank, size);
            case ALL_GATHER_DOUBLING -> HalvingPlans.doublingAllGather(rank, size);
            case ALL_GATHER_BY_HOSTS -> MultiHostPlans.allGather(rank, hosts);
            case REDUCE_SCATTER_LINEAR -> LinearPlans.reduceScatter(rank, size);
            case REDUCE_SCATTER_HALVING -> HalvingPlans.halvingReduceScatter(rank, size);
            case REDUCE_SCATTER_RING -> RingPlans.reduceScatter(rank, size);
            case REDUCE_SCATTER_RANK_ORDER -> LinearPlans.rankOrderReduceScatter(rank, size);
            case REDUCE_SCATTER_LINEAR_DOUBLING, REDUCE_SCATTER_BY_HOSTS_DOUBLING, REDUCE_SCATTER_BY_HOSTS_RING ->
                TreeReduceScatter.plan(label, rank, tree(size, hosts));
            case GATHER_BINOMIAL -> BinomialPlans.gather(rank, size, root);
            case GATHER_LINEAR -> LinearPlans.gather(rank, size, root);
            case SCATTER_BINOMIAL -> BinomialPlans.scatter(rank, size, root);
            case SCATTER_LINEAR -> LinearPlans.scatter(rank, size, root);
            case ALL_TO_ALL_PAIRWISE -> LinearPlans.pairwise(rank, size);
            case ALL_TO_ALL_BRUCK -> HalvingPlans.bruck(rank, size);
            case SCAN_DOUBLING -> ScanPlans.doubling(rank, size);
            case SCAN_CHAIN -> ScanPlans.chain(rank, size);
            case EXCLUSIVE_SCAN_DOUBLING -> ScanPlans.exclusiveDoubling(rank, size);
            case EXCLUSIVE_SCAN_CHAIN -> ScanPlans.exclusiveChain(rank, size);
            case BARRIER_DISSEMINATION -> HalvingPlans.barrier(rank, size);
            case BARRIER_BY_HOSTS -> MultiHostPlans.barrier(rank, hosts);
            default -> throw new IllegalStateException(this + " has no plan: it runs in shared memory");
        };
    }

    /** Returns the tree of a reduce-scatter that has the same bits as the all-reduce with the same tree. */
    private ReductionTree tree(int size, Hosts hosts) {
        return switch (order) {
            case HOSTS_RING -> ReductionTree.ring(hosts);
            case HOSTS_DOUBLING -> ReductionTree.doubling(hosts);
            default -> ReductionTree.doubling(Hosts.ofOneRank(size));
        };
    }

    /**
     * Returns the largest number of chunks that a rank has in {@link Region#SCRATCH}; 0 if no rank has scratch memory,
     * or if the operation has no elements. The number is equal on all ranks. The computation does not need the plans of
     * other ranks. The parameters are the parameters of {@link #plan}.
     */
    public int scratchChunks(int size, int root, Hosts hosts) {
        return switch (this) {
            case ALL_REDUCE_DOUBLING, SCAN_DOUBLING, EXCLUSIVE_SCAN_DOUBLING, EXCLUSIVE_SCAN_CHAIN -> size > 1 ? 1 : 0;
            case ALL_REDUCE_BY_HOSTS_DOUBLING -> 1;
            case REDUCE_BINOMIAL -> BinomialPlans.scratchOfReduce(size);
            case REDUCE_SCATTER_LINEAR_DOUBLING, REDUCE_SCATTER_BY_HOSTS_DOUBLING, REDUCE_SCATTER_BY_HOSTS_RING ->
                TreeReduceScatter.scratchChunks(tree(size, hosts));
            case REDUCE_SCATTER_HALVING -> HalvingPlans.scratchOfReduceScatter(size);
            case REDUCE_SCATTER_RING, ALL_TO_ALL_BRUCK -> size > 2 ? size : 0;
            case GATHER_BINOMIAL, SCATTER_BINOMIAL -> BinomialPlans.widestInner(size, root);
            default -> 0;
        };
    }

    /** Makes the program of one rank. The program stages at most {@code slotBytes} at once. */
    public SharedMemoryProgram program(ProgramCall call, int slotBytes) {
        int chunkBytes = call.chunkBytes(slotBytes);
        return switch (this) {
            case ALL_REDUCE_SHARED_FLAT, REDUCE_SHARED_FLAT, REDUCE_SCATTER_SHARED_FLAT, BARRIER_SHARED ->
                FlatPrograms.of(call);
            case ALL_REDUCE_SHARED_HALF_IN_PLACE, REDUCE_SHARED_SHARES -> ReducePrograms.of(call, chunkBytes);
            case BROADCAST_SHARED,
                    SCATTER_SHARED,
                    GATHER_SHARED,
                    ALL_GATHER_SHARED,
                    ALL_TO_ALL_SHARED,
                    REDUCE_SCATTER_SHARED -> StagedPrograms.of(call, chunkBytes);
            default -> throw new IllegalStateException(this + " has no program: it sends messages");
        };
    }

    /**
     * Returns whether the algorithm can do an operation. {@code slotBytes} may be any number if the algorithm sends
     * messages.
     */
    public boolean fits(long bytes, long slotBytes) {
        return !traits.contains(STAGED_AT_ONCE) || bytes <= slotBytes;
    }

    /** Returns whether single calls and fused calls give the same bits. */
    public boolean isInOneOrder() {
        return traits.contains(ONE_ORDER);
    }

    /** Returns whether the algorithm combines the operands in the order of the ranks, for ops that do not commute. */
    public boolean isInRankOrder() {
        return traits.contains(RANK_ORDER);
    }

    @Override
    public String toString() {
        return kind + " by " + label;
    }
}
