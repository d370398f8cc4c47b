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
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toUnmodifiableList;

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
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All algorithms. A new algorithm is a file that makes a plan or a program, and a row here. Settings, measured tables,
 * the proofs and {@code ferro bench --tune} then see it; that benchmark measures on one host, so it never measures
 * algorithms for several hosts. {@link AlgorithmChoice} says when it is used by default. docs/algorithms.md, which a
 * test compares with this class, says what it costs.
 */
public final class AlgorithmRegistry {
    private static final List<Algorithm> ALL = List.of(
            flat(ALL_REDUCE, "ring", RingAllReduce::plan),
            flat(ALL_REDUCE, "recursiveDoubling", RecursiveDoublingAllReduce::plan, ONE_ORDER),
            flat(ALL_REDUCE, "halvingDoubling", HalvingDoublingAllReduce::plan),
            byHosts(
                    ALL_REDUCE,
                    "byHostsDoubling",
                    (rank, size, root, hosts) -> HostPlans.smallAllReduce(rank, hosts),
                    ONE_ORDER),
            byHosts(ALL_REDUCE, "byHostsRing", (rank, size, root, hosts) -> HostPlans.largeAllReduce(rank, hosts)),
            shared(ALL_REDUCE, "flat", FlatReductions::allReduce, ONE_ORDER, STAGED_AT_ONCE),
            shared(ALL_REDUCE, "halfInPlace", HalfInPlaceAllReduce::program),
            rooted(BROADCAST, "binomial", BinomialBroadcast::plan),
            rooted(BROADCAST, "direct", DirectBroadcast::plan),
            byHosts(BROADCAST, "byHosts", (rank, size, root, hosts) -> HostPlans.broadcast(rank, root, hosts)),
            shared(BROADCAST, "staged", RootedPrograms::broadcast),
            rooted(REDUCE, "binomial", BinomialReduce::plan),
            rooted(REDUCE, "direct", DirectReduce::plan),
            shared(REDUCE, "flat", FlatReductions::reduce, STAGED_AT_ONCE),
            shared(REDUCE, "shares", SharesReduce::program),
            flat(ALL_GATHER, "ring", RingAllGather::plan),
            flat(ALL_GATHER, "direct", DirectAllGather::plan),
            flat(ALL_GATHER, "recursiveDoubling", RecursiveDoublingAllGather::plan),
            byHosts(ALL_GATHER, "byHosts", (rank, size, root, hosts) -> HostPlans.allGather(rank, hosts)),
            shared(ALL_GATHER, "staged", ExchangePrograms::allGather),
            flat(REDUCE_SCATTER, "direct", DirectReduceScatter::plan),
            flat(REDUCE_SCATTER, "ring", RingReduceScatter::plan),
            shared(REDUCE_SCATTER, "staged", ExchangePrograms::reduceScatter),
            rooted(GATHER, "binomial", BinomialGather::plan),
            rooted(GATHER, "direct", DirectGather::plan),
            shared(GATHER, "staged", RootedPrograms::gather),
            rooted(SCATTER, "binomial", BinomialScatter::plan),
            rooted(SCATTER, "direct", DirectScatter::plan),
            shared(SCATTER, "staged", RootedPrograms::scatter),
            flat(ALL_TO_ALL, "pairwise", PairwiseAllToAll::plan),
            flat(ALL_TO_ALL, "bruck", BruckAllToAll::plan),
            shared(ALL_TO_ALL, "staged", ExchangePrograms::allToAll),
            flat(BARRIER, "dissemination", DisseminationBarrier::plan),
            byHosts(BARRIER, "byHosts", (rank, size, root, hosts) -> HostPlans.barrier(rank, hosts)),
            shared(BARRIER, "flat", ExchangePrograms::barrier));

    private static final Map<CollectiveKind, Map<Topology, List<String>>> NAMES = ALL.stream()
            .collect(groupingBy(
                    Algorithm::kind, groupingBy(Algorithm::topology, mapping(Algorithm::name, toUnmodifiableList()))));

    private AlgorithmRegistry() {}

    /** Makes the plan of a rank for a kind without a root. */
    @FunctionalInterface
    private interface Rootless {
        Plan plan(int rank, int size);
    }

    /** Makes the plan of a rank for a kind with a root. */
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
        return ALL;
    }

    /**
     * Lists the algorithms of a kind.
     *
     * @param kind     of operation
     * @param topology where they run
     * @return names; at least one, except for {@link Topology#HOSTS}
     */
    public static List<String> names(CollectiveKind kind, Topology topology) {
        return NAMES.get(kind).getOrDefault(topology, List.of());
    }

    /**
     * Finds an algorithm.
     *
     * @param kind of operation
     * @param name its name
     * @return row
     * @throws IllegalArgumentException that lists what exists, if there is no such algorithm
     */
    public static Algorithm of(CollectiveKind kind, String name) {
        for (Algorithm row : ALL) {
            if (row.kind() == kind && row.name().equals(name)) {
                return row;
            }
        }
        List<String> known = ALL.stream()
                .filter(row -> row.kind() == kind)
                .map(Algorithm::name)
                .toList();
        throw new IllegalArgumentException("no algorithm \"" + name + "\" for " + kind + ": use one of " + known);
    }

    private static Algorithm flat(CollectiveKind kind, String name, Rootless plans, Trait... traits) {
        PlanMaker maker = (rank, size, root, hosts) -> plans.plan(rank, size);
        return new Algorithm(kind, Topology.FLAT, name, maker, Set.of(traits));
    }

    private static Algorithm rooted(CollectiveKind kind, String name, Rooted plans) {
        PlanMaker maker = (rank, size, root, hosts) -> plans.plan(rank, size, root);
        return new Algorithm(kind, Topology.FLAT, name, maker, Set.of());
    }

    private static Algorithm byHosts(CollectiveKind kind, String name, PlanMaker plans, Trait... traits) {
        return new Algorithm(kind, Topology.HOSTS, name, plans, Set.of(traits));
    }

    private static Algorithm shared(CollectiveKind kind, String name, ProgramMaker programs, Trait... traits) {
        return new Algorithm(kind, Topology.SHARED_MEMORY, name, programs, Set.of(traits));
    }
}
