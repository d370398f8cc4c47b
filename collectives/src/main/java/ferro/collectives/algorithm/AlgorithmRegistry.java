package ferro.collectives.algorithm;

import static ferro.CollectiveKind.ALL_REDUCE;
import static ferro.CollectiveKind.REDUCE_SCATTER;
import static ferro.collectives.algorithm.Algorithm.Trait.ONE_ORDER;
import static ferro.collectives.algorithm.Algorithm.Trait.RANK_ORDER;
import static ferro.collectives.algorithm.Algorithm.Trait.STAGED_AT_ONCE;
import static ferro.collectives.algorithm.CombineOrder.DOUBLING;
import static ferro.collectives.algorithm.CombineOrder.HALVING;
import static ferro.collectives.algorithm.CombineOrder.HOSTS_DOUBLING;
import static ferro.collectives.algorithm.CombineOrder.HOSTS_RING;
import static ferro.collectives.algorithm.CombineOrder.PART_FIRST;
import static ferro.collectives.algorithm.CombineOrder.PART_LAST;
import static ferro.collectives.algorithm.CombineOrder.PART_OUTWARD;
import static ferro.collectives.algorithm.CombineOrder.RANKS;
import static ferro.collectives.algorithm.CombineOrder.UNSPECIFIED;

import ferro.CollectiveKind;
import ferro.collectives.algorithm.Algorithm.PlanMaker;
import ferro.collectives.algorithm.Algorithm.ProgramMaker;
import ferro.collectives.algorithm.Algorithm.Trait;
import ferro.collectives.plan.Plan;
import ferro.collectives.shared.ExchangePrograms;
import ferro.collectives.shared.FlatReductions;
import ferro.collectives.shared.HalfInPlaceAllReduce;
import ferro.collectives.shared.RootedPrograms;
import ferro.collectives.shared.SharesReduce;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The table of all algorithms. A new algorithm needs a class that makes a plan or a program, and a row in this table.
 * The setting {@code ferro.algorithm} and the proofs use this table. {@link AlgorithmChoice} chooses the algorithms
 * that are used by default. docs/algorithms.md lists the cost of each algorithm, and a test compares that
 * page with this class.
 */
public final class AlgorithmRegistry {
    private static final int TOPOLOGIES = Topology.values().length;
    /** Rows by kind and topology; null until they are first needed. */
    private static final AtomicReferenceArray<List<Algorithm>> ROWS =
            new AtomicReferenceArray<>(CollectiveKind.values().length * TOPOLOGIES);

    /** The names before version 0.1.0. The setting {@code ferro.algorithm} may still use them. */
    private static final Map<String, String> OLD_NAMES = Map.of("direct", "linear", "directDoubling", "linearDoubling");

    private AlgorithmRegistry() {}

    // kinds of PlanMaker, so that a row links one method reference and no lambda around it

    /** The factory of plans for a kind without a root. */
    @FunctionalInterface
    private interface Rootless extends PlanMaker {
        Plan plan(int rank, int size);

        @Override
        default Plan plan(int rank, int size, int root, Hosts hosts) {
            return plan(rank, size);
        }
    }

    /** The factory of plans for a kind with a root. */
    @FunctionalInterface
    private interface Rooted extends PlanMaker {
        Plan plan(int rank, int size, int root);

        @Override
        default Plan plan(int rank, int size, int root, Hosts hosts) {
            return plan(rank, size, root);
        }
    }

    /** The factory of plans for several hosts, for a kind without a root. */
    @FunctionalInterface
    private interface ByHosts extends PlanMaker {
        Plan plan(int rank, Hosts hosts);

        @Override
        default Plan plan(int rank, int size, int root, Hosts hosts) {
            return plan(rank, hosts);
        }
    }

    /**
     * Lists all algorithms.
     *
     * @return rows, by kind
     */
    public static List<Algorithm> all() {
        List<Algorithm> all = new ArrayList<>();
        for (CollectiveKind kind : CollectiveKind.values()) {
            all.addAll(rows(kind));
        }
        return List.copyOf(all);
    }

    private static List<Algorithm> rows(CollectiveKind kind) {
        List<Algorithm> rows = new ArrayList<>();
        for (Topology topology : Topology.values()) {
            rows.addAll(rows(kind, topology));
        }
        return rows;
    }

    /**
     * Lists the algorithms of a kind.
     *
     * @param kind     kind of operation
     * @param topology topology in which the algorithms run
     * @return names; at least one, except for {@link Topology#HOSTS}
     */
    public static List<String> names(CollectiveKind kind, Topology topology) {
        return rows(kind, topology).stream().map(Algorithm::name).toList();
    }

    /**
     * Finds an algorithm.
     *
     * @param kind kind of operation
     * @param name name of the algorithm; {@code direct} and {@code directDoubling}, the old names of {@code linear} and
     *             {@code linearDoubling}, are accepted
     * @return row
     * @throws IllegalArgumentException if there is no such algorithm; the message lists the existing algorithms
     */
    public static Algorithm of(CollectiveKind kind, String name) {
        String current = OLD_NAMES.getOrDefault(name, name);
        for (Algorithm row : rows(kind)) {
            if (row.name().equals(current)) {
                return row;
            }
        }
        List<String> known = rows(kind).stream().map(Algorithm::name).toList();
        throw new IllegalArgumentException("no algorithm \"" + name + "\" for " + kind + ": use one of " + known);
    }

    /**
     * Lists the algorithms of a reduce-scatter that give the same bits as an all-reduce.
     *
     * @param allReduce algorithm of an all-reduce
     * @return rows of the same topology and order; at least one, and the first is the default
     * @throws IllegalArgumentException if {@code allReduce} is no all-reduce
     */
    public static List<Algorithm> twins(Algorithm allReduce) {
        if (allReduce.kind() != ALL_REDUCE) {
            throw new IllegalArgumentException(
                    "only an all-reduce has reduce-scatters of the same bits, found " + allReduce);
        }
        return rows(REDUCE_SCATTER, allReduce.topology()).stream()
                .filter(row -> row.order() == allReduce.order())
                .toList();
    }

    /**
     * Returns the algorithms of a kind in a topology. They are made when they are first needed, because each links a
     * method reference, which takes time: a rank that starts needs few of them.
     */
    static List<Algorithm> rows(CollectiveKind kind, Topology topology) {
        int index = kind.ordinal() * TOPOLOGIES + topology.ordinal();
        if (ROWS.get(index) == null) {
            ROWS.compareAndSet(index, null, made(kind, topology));
        }
        return ROWS.get(index);
    }

    private static List<Algorithm> made(CollectiveKind kind, Topology topology) {
        return switch (topology) {
            case FLAT -> flat(kind);
            case HOSTS -> byHosts(kind);
            case SHARED_MEMORY -> shared(kind);
        };
    }

    private static List<Algorithm> flat(CollectiveKind kind) {
        return switch (kind) {
            case ALL_REDUCE, REDUCE, REDUCE_SCATTER -> flatReductions(kind);
            case SCAN, EXCLUSIVE_SCAN -> flatScans(kind);
            case BROADCAST, ALL_GATHER, GATHER, SCATTER, ALL_TO_ALL -> flatCopies(kind);
            case BARRIER -> List.of(flat(kind, "dissemination", UNSPECIFIED, DisseminationBarrier::plan));
        };
    }

    /** Returns those that combine the elements of all ranks. */
    private static List<Algorithm> flatReductions(CollectiveKind kind) {
        return switch (kind) {
            case ALL_REDUCE ->
                List.of(
                        flat(kind, "ring", PART_FIRST, RingAllReduce::plan),
                        flat(kind, "recursiveDoubling", DOUBLING, RecursiveDoublingAllReduce::plan, ONE_ORDER)
                                .scratch((size, root, hosts) -> size > 1 ? 1 : 0),
                        flat(kind, "halvingDoubling", HALVING, HalvingDoublingAllReduce::plan),
                        flat(kind, "rankOrder", PART_OUTWARD, RankOrderPlans::allReduce, RANK_ORDER));
            case REDUCE ->
                List.of(
                        rooted(kind, "binomial", BinomialReduce::plan)
                                .scratch((size, root, hosts) -> size > BinomialTree.RANKS_WITHOUT_INNER ? 1 : 0),
                        rooted(kind, "linear", LinearReduce::plan),
                        rooted(kind, "rankOrder", RankOrderPlans::reduce, RANK_ORDER));
            case REDUCE_SCATTER ->
                List.of(
                        flat(kind, "linear", PART_FIRST, LinearReduceScatter::plan),
                        flat(kind, "linearDoubling", DOUBLING, AlgorithmRegistry::linearDoubling)
                                .scratch((size, root, hosts) -> TreeReduceScatter.scratchChunks(doublingTree(size))),
                        flat(kind, "halving", HALVING, HalvingReduceScatter::plan)
                                .scratch((size, root, hosts) -> HalvingReduceScatter.scratchChunks(size)),
                        flat(kind, "ring", PART_LAST, RingReduceScatter::plan).scratch(AlgorithmRegistry::allAboveTwo),
                        flat(kind, "rankOrder", PART_OUTWARD, RankOrderPlans::reduceScatter, RANK_ORDER));
            default -> throw new IllegalArgumentException(kind + " is made by another method");
        };
    }

    /** Returns those that combine nothing. */
    private static List<Algorithm> flatCopies(CollectiveKind kind) {
        return switch (kind) {
            case BROADCAST ->
                List.of(
                        rooted(kind, "binomial", BinomialBroadcast::plan),
                        rooted(kind, "linear", LinearBroadcast::plan));
            case ALL_GATHER ->
                List.of(
                        flat(kind, "ring", UNSPECIFIED, RingAllGather::plan),
                        flat(kind, "linear", UNSPECIFIED, LinearAllGather::plan),
                        flat(kind, "recursiveDoubling", UNSPECIFIED, RecursiveDoublingAllGather::plan));
            case GATHER ->
                List.of(
                        rooted(kind, "binomial", BinomialGather::plan)
                                .scratch((size, root, hosts) -> BinomialTree.widestInner(size, root)),
                        rooted(kind, "linear", LinearGather::plan));
            case SCATTER ->
                List.of(
                        rooted(kind, "binomial", BinomialScatter::plan)
                                .scratch((size, root, hosts) -> BinomialTree.widestInner(size, root)),
                        rooted(kind, "linear", LinearScatter::plan));
            case ALL_TO_ALL ->
                List.of(
                        flat(kind, "pairwise", UNSPECIFIED, PairwiseAllToAll::plan),
                        flat(kind, "bruck", UNSPECIFIED, BruckAllToAll::plan).scratch(AlgorithmRegistry::allAboveTwo));
            default -> throw new IllegalArgumentException(kind + " is made by another method");
        };
    }

    /** Returns those that combine the elements of the ranks before each rank. */
    private static List<Algorithm> flatScans(CollectiveKind kind) {
        return switch (kind) {
            case SCAN ->
                List.of(
                        flat(kind, "recursiveDoubling", UNSPECIFIED, RecursiveDoublingScan::scan, RANK_ORDER)
                                .scratch(AlgorithmRegistry::oneAboveOne),
                        flat(kind, "chain", UNSPECIFIED, ChainScan::scan, RANK_ORDER));
            case EXCLUSIVE_SCAN ->
                List.of(
                        flat(kind, "recursiveDoubling", UNSPECIFIED, RecursiveDoublingScan::exclusiveScan, RANK_ORDER)
                                .scratch(AlgorithmRegistry::oneAboveOne),
                        flat(kind, "chain", UNSPECIFIED, ChainScan::exclusiveScan, RANK_ORDER)
                                .scratch(AlgorithmRegistry::oneAboveOne));
            default -> throw new IllegalArgumentException(kind + " is made by another method");
        };
    }

    private static List<Algorithm> byHosts(CollectiveKind kind) {
        return switch (kind) {
            case ALL_REDUCE ->
                List.of(
                        byHosts(kind, "byHostsDoubling", HOSTS_DOUBLING, HostPlans::smallAllReduce, ONE_ORDER)
                                .scratch((size, root, hosts) -> 1),
                        byHosts(kind, "byHostsRing", HOSTS_RING, HostPlans::largeAllReduce));
            case REDUCE_SCATTER ->
                List.of(
                        byHosts(kind, "byHostsDoubling", HOSTS_DOUBLING, HostPlans::smallReduceScatter)
                                .scratch((size, root, hosts) ->
                                        TreeReduceScatter.scratchChunks(ReductionTree.doubling(hosts))),
                        byHosts(kind, "byHostsRing", HOSTS_RING, HostPlans::largeReduceScatter)
                                .scratch((size, root, hosts) ->
                                        TreeReduceScatter.scratchChunks(ReductionTree.ring(hosts))));
            case BROADCAST -> {
                PlanMaker maker = (rank, size, root, hosts) -> HostPlans.broadcast(rank, root, hosts);
                yield List.of(new Algorithm(kind, Topology.HOSTS, "byHosts", UNSPECIFIED, maker, Set.of()));
            }
            case ALL_GATHER -> List.of(byHosts(kind, "byHosts", UNSPECIFIED, HostPlans::allGather));
            case BARRIER -> List.of(byHosts(kind, "byHosts", UNSPECIFIED, HostPlans::barrier));
            case REDUCE, GATHER, SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN -> List.of();
        };
    }

    private static List<Algorithm> shared(CollectiveKind kind) {
        return switch (kind) {
            case ALL_REDUCE ->
                List.of(
                        shared(kind, "flat", RANKS, FlatReductions::allReduce, ONE_ORDER, STAGED_AT_ONCE),
                        shared(kind, "halfInPlace", PART_FIRST, HalfInPlaceAllReduce::program));
            case BROADCAST -> List.of(shared(kind, "staged", UNSPECIFIED, RootedPrograms::broadcast));
            case REDUCE ->
                List.of(
                        shared(kind, "flat", UNSPECIFIED, FlatReductions::reduce, STAGED_AT_ONCE),
                        shared(kind, "shares", UNSPECIFIED, SharesReduce::program));
            case ALL_GATHER -> List.of(shared(kind, "staged", UNSPECIFIED, ExchangePrograms::allGather));
            case REDUCE_SCATTER ->
                List.of(
                        shared(kind, "flat", RANKS, FlatReductions::reduceScatter, STAGED_AT_ONCE),
                        shared(kind, "staged", PART_FIRST, ExchangePrograms::reduceScatter));
            case GATHER -> List.of(shared(kind, "staged", UNSPECIFIED, RootedPrograms::gather));
            case SCATTER -> List.of(shared(kind, "staged", UNSPECIFIED, RootedPrograms::scatter));
            case ALL_TO_ALL -> List.of(shared(kind, "staged", UNSPECIFIED, ExchangePrograms::allToAll));
            case BARRIER -> List.of(shared(kind, "flat", UNSPECIFIED, ExchangePrograms::barrier));
            case SCAN, EXCLUSIVE_SCAN -> List.of();
        };
    }

    private static Plan linearDoubling(int rank, int size) {
        return TreeReduceScatter.plan("linearDoubling", rank, doublingTree(size));
    }

    private static ReductionTree doublingTree(int size) {
        return ReductionTree.doubling(Hosts.ofOneRank(size));
    }

    /** Returns one chunk if there is more than one rank. */
    private static int oneAboveOne(int size, int root, Hosts hosts) {
        return size > 1 ? 1 : 0;
    }

    /** Returns all chunks if more than two ranks need scratch memory. */
    private static int allAboveTwo(int size, int root, Hosts hosts) {
        return size > 2 ? size : 0;
    }

    private static Algorithm flat(
            CollectiveKind kind, String name, CombineOrder order, Rootless plans, Trait... traits) {
        return new Algorithm(kind, Topology.FLAT, name, order, plans, Set.of(traits));
    }

    private static Algorithm rooted(CollectiveKind kind, String name, Rooted plans, Trait... traits) {
        return new Algorithm(kind, Topology.FLAT, name, UNSPECIFIED, plans, Set.of(traits));
    }

    private static Algorithm byHosts(
            CollectiveKind kind, String name, CombineOrder order, ByHosts plans, Trait... traits) {
        return new Algorithm(kind, Topology.HOSTS, name, order, plans, Set.of(traits));
    }

    private static Algorithm shared(
            CollectiveKind kind, String name, CombineOrder order, ProgramMaker programs, Trait... traits) {
        return new Algorithm(kind, Topology.SHARED_MEMORY, name, order, programs, Set.of(traits));
    }
}
