package ferro.collectives.algorithm;

import static ferro.CollectiveKind.ALL_GATHER;
import static ferro.CollectiveKind.ALL_REDUCE;
import static ferro.CollectiveKind.ALL_TO_ALL;
import static ferro.CollectiveKind.BARRIER;
import static ferro.CollectiveKind.BROADCAST;
import static ferro.CollectiveKind.GATHER;
import static ferro.CollectiveKind.REDUCE;
import static ferro.CollectiveKind.REDUCE_SCATTER;
import static ferro.CollectiveKind.SCATTER;
import static ferro.collectives.algorithm.Algorithm.Trait.ONE_ORDER;
import static ferro.collectives.algorithm.Algorithm.Trait.STAGED_AT_ONCE;
import static ferro.collectives.algorithm.CombineOrder.DOUBLING;
import static ferro.collectives.algorithm.CombineOrder.HALVING;
import static ferro.collectives.algorithm.CombineOrder.HOSTS_DOUBLING;
import static ferro.collectives.algorithm.CombineOrder.HOSTS_RING;
import static ferro.collectives.algorithm.CombineOrder.PART_FIRST;
import static ferro.collectives.algorithm.CombineOrder.PART_LAST;
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
import java.util.concurrent.ConcurrentHashMap;

/**
 * The table of all algorithms. A new algorithm needs a class that makes a plan or a program, and a row in this table.
 * Settings, measured tables, the proofs and {@code ferro bench --tune} use this table. {@code ferro bench --tune}
 * measures on one host, so it never measures algorithms for several hosts. {@link AlgorithmChoice} chooses the
 * algorithms that are used by default. docs/algorithms.md lists the cost of each algorithm, and a test compares that
 * page with this class.
 */
public final class AlgorithmRegistry {
    /** Rows by kind. The rows of a kind are made when they are first needed: a rank that starts needs few of them. */
    private static final Map<CollectiveKind, List<Algorithm>> ROWS = new ConcurrentHashMap<>();

    /** The names before version 0.1.0. Settings and measured tables may still use the old names. */
    private static final Map<String, String> OLD_NAMES = Map.of("direct", "linear", "directDoubling", "linearDoubling");

    private AlgorithmRegistry() {}

    /** The factory of plans for a kind without a root. */
    @FunctionalInterface
    private interface Rootless {
        Plan plan(int rank, int size);
    }

    /** The factory of plans for a kind with a root. */
    @FunctionalInterface
    private interface Rooted {
        Plan plan(int rank, int size, int root);
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

    /**
     * Lists the algorithms of a kind.
     *
     * @param kind     kind of operation
     * @param topology topology in which the algorithms run
     * @return names; at least one, except for {@link Topology#HOSTS}
     */
    public static List<String> names(CollectiveKind kind, Topology topology) {
        return rows(kind).stream()
                .filter(row -> row.topology() == topology)
                .map(Algorithm::name)
                .toList();
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
        return rows(REDUCE_SCATTER).stream()
                .filter(row -> row.topology() == allReduce.topology() && row.order() == allReduce.order())
                .toList();
    }

    private static List<Algorithm> rows(CollectiveKind kind) {
        List<Algorithm> known = ROWS.get(kind);
        return known == null ? ROWS.computeIfAbsent(kind, AlgorithmRegistry::made) : known;
    }

    private static List<Algorithm> made(CollectiveKind kind) {
        return switch (kind) {
            case ALL_REDUCE -> allReduces();
            case BROADCAST -> broadcasts();
            case REDUCE -> reduces();
            case ALL_GATHER -> allGathers();
            case REDUCE_SCATTER -> reduceScatters();
            case GATHER -> gathers();
            case SCATTER -> scatters();
            case ALL_TO_ALL -> allToAlls();
            case BARRIER -> barriers();
        };
    }

    private static List<Algorithm> allReduces() {
        return List.of(
                flat(ALL_REDUCE, "ring", PART_FIRST, RingAllReduce::plan),
                flat(ALL_REDUCE, "recursiveDoubling", DOUBLING, RecursiveDoublingAllReduce::plan, ONE_ORDER),
                flat(ALL_REDUCE, "halvingDoubling", HALVING, HalvingDoublingAllReduce::plan),
                byHosts(
                        ALL_REDUCE,
                        "byHostsDoubling",
                        HOSTS_DOUBLING,
                        (rank, size, root, hosts) -> HostPlans.smallAllReduce(rank, hosts),
                        ONE_ORDER),
                byHosts(
                        ALL_REDUCE,
                        "byHostsRing",
                        HOSTS_RING,
                        (rank, size, root, hosts) -> HostPlans.largeAllReduce(rank, hosts)),
                shared(ALL_REDUCE, "flat", RANKS, FlatReductions::allReduce, ONE_ORDER, STAGED_AT_ONCE),
                shared(ALL_REDUCE, "halfInPlace", PART_FIRST, HalfInPlaceAllReduce::program));
    }

    private static List<Algorithm> broadcasts() {
        return List.of(
                rooted(BROADCAST, "binomial", BinomialBroadcast::plan),
                rooted(BROADCAST, "linear", LinearBroadcast::plan),
                byHosts(
                        BROADCAST,
                        "byHosts",
                        UNSPECIFIED,
                        (rank, size, root, hosts) -> HostPlans.broadcast(rank, root, hosts)),
                shared(BROADCAST, "staged", UNSPECIFIED, RootedPrograms::broadcast));
    }

    private static List<Algorithm> reduces() {
        return List.of(
                rooted(REDUCE, "binomial", BinomialReduce::plan),
                rooted(REDUCE, "linear", LinearReduce::plan),
                shared(REDUCE, "flat", UNSPECIFIED, FlatReductions::reduce, STAGED_AT_ONCE),
                shared(REDUCE, "shares", UNSPECIFIED, SharesReduce::program));
    }

    private static List<Algorithm> allGathers() {
        return List.of(
                flat(ALL_GATHER, "ring", UNSPECIFIED, RingAllGather::plan),
                flat(ALL_GATHER, "linear", UNSPECIFIED, LinearAllGather::plan),
                flat(ALL_GATHER, "recursiveDoubling", UNSPECIFIED, RecursiveDoublingAllGather::plan),
                byHosts(
                        ALL_GATHER,
                        "byHosts",
                        UNSPECIFIED,
                        (rank, size, root, hosts) -> HostPlans.allGather(rank, hosts)),
                shared(ALL_GATHER, "staged", UNSPECIFIED, ExchangePrograms::allGather));
    }

    private static List<Algorithm> reduceScatters() {
        return List.of(
                flat(REDUCE_SCATTER, "linear", PART_FIRST, LinearReduceScatter::plan),
                flat(REDUCE_SCATTER, "linearDoubling", DOUBLING, AlgorithmRegistry::linearDoubling),
                flat(REDUCE_SCATTER, "halving", HALVING, HalvingReduceScatter::plan),
                flat(REDUCE_SCATTER, "ring", PART_LAST, RingReduceScatter::plan),
                byHosts(
                        REDUCE_SCATTER,
                        "byHostsDoubling",
                        HOSTS_DOUBLING,
                        (rank, size, root, hosts) -> HostPlans.smallReduceScatter(rank, hosts)),
                byHosts(
                        REDUCE_SCATTER,
                        "byHostsRing",
                        HOSTS_RING,
                        (rank, size, root, hosts) -> HostPlans.largeReduceScatter(rank, hosts)),
                shared(REDUCE_SCATTER, "flat", RANKS, FlatReductions::reduceScatter, STAGED_AT_ONCE),
                shared(REDUCE_SCATTER, "staged", PART_FIRST, ExchangePrograms::reduceScatter));
    }

    private static List<Algorithm> gathers() {
        return List.of(
                rooted(GATHER, "binomial", BinomialGather::plan),
                rooted(GATHER, "linear", LinearGather::plan),
                shared(GATHER, "staged", UNSPECIFIED, RootedPrograms::gather));
    }

    private static List<Algorithm> scatters() {
        return List.of(
                rooted(SCATTER, "binomial", BinomialScatter::plan),
                rooted(SCATTER, "linear", LinearScatter::plan),
                shared(SCATTER, "staged", UNSPECIFIED, RootedPrograms::scatter));
    }

    private static List<Algorithm> allToAlls() {
        return List.of(
                flat(ALL_TO_ALL, "pairwise", UNSPECIFIED, PairwiseAllToAll::plan),
                flat(ALL_TO_ALL, "bruck", UNSPECIFIED, BruckAllToAll::plan),
                shared(ALL_TO_ALL, "staged", UNSPECIFIED, ExchangePrograms::allToAll));
    }

    private static List<Algorithm> barriers() {
        return List.of(
                flat(BARRIER, "dissemination", UNSPECIFIED, DisseminationBarrier::plan),
                byHosts(BARRIER, "byHosts", UNSPECIFIED, (rank, size, root, hosts) -> HostPlans.barrier(rank, hosts)),
                shared(BARRIER, "flat", UNSPECIFIED, ExchangePrograms::barrier));
    }

    private static Plan linearDoubling(int rank, int size) {
        ReductionTree tree = ReductionTree.doubling(ReductionTree.operandsOf(size));
        return TreeReduceScatter.plan("linearDoubling", rank, size, part -> tree);
    }

    private static Algorithm flat(
            CollectiveKind kind, String name, CombineOrder order, Rootless plans, Trait... traits) {
        PlanMaker maker = (rank, size, root, hosts) -> plans.plan(rank, size);
        return new Algorithm(kind, Topology.FLAT, name, order, maker, Set.of(traits));
    }

    private static Algorithm rooted(CollectiveKind kind, String name, Rooted plans) {
        PlanMaker maker = (rank, size, root, hosts) -> plans.plan(rank, size, root);
        return new Algorithm(kind, Topology.FLAT, name, UNSPECIFIED, maker, Set.of());
    }

    private static Algorithm byHosts(
            CollectiveKind kind, String name, CombineOrder order, PlanMaker plans, Trait... traits) {
        return new Algorithm(kind, Topology.HOSTS, name, order, plans, Set.of(traits));
    }

    private static Algorithm shared(
            CollectiveKind kind, String name, CombineOrder order, ProgramMaker programs, Trait... traits) {
        return new Algorithm(kind, Topology.SHARED_MEMORY, name, order, programs, Set.of(traits));
    }
}
