package ferro.collectives.engine.exec;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.collectives.algorithm.Algorithm;
import ferro.collectives.algorithm.AlgorithmChoice;
import ferro.collectives.algorithm.AlgorithmChoice.Case;
import ferro.collectives.algorithm.Hosts;
import ferro.collectives.algorithm.Topology;
import ferro.collectives.engine.operands.ChunkCounts;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.engine.operands.Schedule;
import ferro.collectives.plan.Plan;
import ferro.collectives.reduce.Kernels;
import ferro.collectives.reduce.WholeSums;
import ferro.collectives.shared.ChunkSizes;
import ferro.collectives.shared.SegmentLayout;
import ferro.collectives.shared.SharedCall;
import ferro.dispatch.FallbackGate;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Chooses and caches plans; tells which calls are not supported. Thread-safe. */
public final class Planner {
    /** Number of pairs of slots: a round of 100 different calls finds nine in ten of its plans, a round of 32 nearly all. */
    private static final int SLOTS = 128;

    /** The back end, as a refusal names it. */
    private static final String ENGINE = "GroupEngine";

    /** Of calls with labels, which share the plans of those without: a model has hundreds of parameters. */
    private static final int LABELLED_SLOTS = 2048;

    private static final int JOINED_SLOTS = 16;
    /** Longer plans are not cached: making them is cheap compared with running them, and they may have many lengths. */
    private static final int STEPS_KEPT_MOST = 1 << 16;

    private final GroupSpec group;
    private final RankContext context;
    private final long identity;
    private final AlgorithmChoice choice;
    private final long segmentBytes;
    private final Prepared[] cache = new Prepared[2 * SLOTS];
    private final Prepared[] joined = new Prepared[JOINED_SLOTS];
    /** Of calls with labels; made with the first of them. */
    private volatile Prepared[] labelled;

    private Prepared newest;
    private SegmentLayout shared;
    private Hosts hosts;

    /** Makes a planner of a group's identity and choice of algorithms, which must be the same on all ranks. */
    public Planner(GroupSpec group, RankContext context, long identity, AlgorithmChoice choice) {
        this.group = group;
        this.context = context;
        this.identity = identity;
        this.choice = choice;
        this.segmentBytes = Math.max(1, Settings.SEGMENT.of(context));
    }

    /** Makes operations run over shared memory from now on, which all ranks have; called before the first operation. */
    public void share(SegmentLayout layout) {
        synchronized (cache) {
            shared = layout;
        }
    }

    /**
     * Makes operations that have such plans send data between hosts once, and over shared memory inside them; called before
     * the first operation.
     */
    public void spread(Hosts spanned) {
        synchronized (cache) {
            hosts = spanned;
        }
    }

    /** Returns why a call cannot be done; empty if it can. */
    public Optional<String> unsupportedBecause(Collective call) {
        if (isOnDevice(Objects.requireNonNull(call, "call"))) {
            return Optional.of(refusalOnDevice(call.kind().label()));
        }
        ReduceOp op = call.op();
        if (op == null) {
            return Optional.empty();
        }
        DataType type = call.operand().dataType();
        return WholeSums.serve(type, op)
                ? WholeSums.unsupportedBecause(type, call.operand().elementCount())
                : Kernels.unsupportedBecause(type, op);
    }

    /**
     * Returns what calls like this one share. Checks all that can be wrong with the call, before anything moves. Takes no
     * lock: an entry read from the cache is complete, whichever thread stored it.
     *
     * @throws UnsupportedOperationException if it cannot be done
     */
    Prepared prepare(Collective call, String label) {
        Objects.requireNonNull(call, "call").check(group.rank(), group.worldSize());
        if (isOnDevice(call)) {
            throw new UnsupportedOperationException(
                    refusalOnDevice(CallOptions.named(call.kind().label(), label)));
        }
        Prepared last = newest;
        if (last != null && last.fits(call, label, group.worldSize())) {
            return last;
        }
        Prepared found = label.isEmpty() ? plain(call) : labelled(call, label);
        if (found.steps <= STEPS_KEPT_MOST) {
            newest = found;
        }
        return found;
    }

    private Prepared plain(Collective call) {
        int place = 2 * Prepared.Key.slot(call, "", group.worldSize(), SLOTS);
        Prepared kept = kept(cache, place, call, "");
        return kept == null ? make(call) : kept;
    }

    private Prepared labelled(Collective call, String label) {
        Prepared[] all = labelled;
        if (all == null) {
            all = new Prepared[2 * LABELLED_SLOTS];
            labelled = all;
        }
        int place = 2 * Prepared.Key.slot(call, label, group.worldSize(), LABELLED_SLOTS);
        Prepared kept = kept(all, place, call, label);
        return kept == null ? keep(all, place, plain(call).labelled(label)) : kept;
    }

    /** Returns what is kept of a call in one of two places, else null. */
    private Prepared kept(Prepared[] all, int place, Collective call, String label) {
        Prepared first = all[place];
        if (first != null && first.fits(call, label, group.worldSize())) {
            return first;
        }
        Prepared second = all[place + 1];
        return second != null && second.fits(call, label, group.worldSize()) ? second : null;
    }

    private static Prepared keep(Prepared[] all, int place, Prepared made) {
        if (made.steps <= STEPS_KEPT_MOST) {
            all[place + 1] = all[place];
            all[place] = made;
        }
        return made;
    }

    private Prepared make(Collective call) {
        Optional<String> refusal = unsupportedBecause(call);
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(
                    call.kind() + " on group \"" + group.name() + "\" rank " + group.rank() + ": " + refusal.get());
        }
        Prepared made = make(Prepared.Key.of(call, group.worldSize()));
        return keep(cache, 2 * Prepared.Key.slot(call, "", group.worldSize(), SLOTS), made);
    }

    private Prepared make(Prepared.Key key) {
        Prepared.Key carried = key.carried();
        int unit = carried.type() == null ? 1 : carried.type().byteSize();
        ChunkCounts parts = carried.parts();
        long bytes = carried.elements() * unit;
        Algorithm algorithm = algorithm(call(carried, unit), parts.areEqual());
        if (algorithm.topology() == Topology.SHARED_MEMORY) {
            return new Prepared(key, identity, algorithm.program(call(carried, unit), shared.slotBytes()));
        }
        Plan plan = plan(algorithm, group.rank(), key.root());
        boolean hasOnePass = bytes <= Schedule.SCRATCH_BYTES_MOST;
        return prepared(key, plan, hasOnePass ? List.of(plan) : all(algorithm, key.root()));
    }

    private SharedCall call(Prepared.Key key, int unit) {
        return new SharedCall(key.kind(), group.rank(), group.worldSize(), key.root(), key.elements(), unit);
    }

    /**
     * Chooses an algorithm by what the ranks have: memory that all share, hosts inside which some share memory, else
     * messages between all.
     */
    private Algorithm algorithm(SharedCall call, boolean areEqual) {
        CollectiveKind kind = call.kind();
        long bytes = call.elements() * call.unit();
        if (shared != null
                && areEqual
                && choice.serves(kind, Topology.SHARED_MEMORY)
                && ChunkSizes.isShort(call, shared)) {
            return choice.algorithm(
                    Topology.SHARED_MEMORY, new Case(kind, group.worldSize(), 1, bytes, shared.slotBytes()));
        }
        if (hosts != null && areEqual && choice.serves(kind, Topology.HOSTS)) {
            return choice.algorithm(Topology.HOSTS, new Case(kind, group.worldSize(), hosts.count(), bytes, 0));
        }
        Case flat = new Case(kind, group.worldSize(), bytes);
        return areEqual ? choice.algorithm(Topology.FLAT, flat) : choice.algorithmOfParts(flat);
    }

    private Plan plan(Algorithm algorithm, int rank, int root) {
        return algorithm.plan(rank, group.worldSize(), root, hosts);
    }

    private Prepared prepared(Prepared.Key key, Plan plan, List<Plan> ofAll) {
        Prepared.Key carried = key.carried();
        int unit = carried.type() == null ? 1 : carried.type().byteSize();
        Schedule.Chunking cut =
                Schedule.Chunking.of(ofAll, carried.parts(), unit, segmentBytes, Schedule.SCRATCH_BYTES_MOST);
        return new Prepared(key, identity, plan, new Schedule(plan, cut));
    }

    /** Returns the algorithm of an all-reduce. */
    Algorithm allReduceAlgorithm(DataType type, long elements) {
        return algorithm(
                new SharedCall(
                        CollectiveKind.ALL_REDUCE, group.rank(), group.worldSize(), 0, elements, type.byteSize()),
                true);
    }

    /**
     * Returns what all-reduces joined from parts of these lengths share; their fingerprint covers the lengths and labels.
     *
     * @param labels one for each part
     */
    Prepared prepareJoined(DataType type, ReduceOp op, long[] lengths, String... labels) {
        int slot = (31 * Arrays.hashCode(lengths) + type.ordinal()) & (JOINED_SLOTS - 1);
        Prepared kept = joined[slot];
        if (kept == null || kept.type != type || !op.equals(kept.op) || !Arrays.equals(kept.joined, lengths)) {
            ChunkCounts whole = ChunkCounts.equal(LongStream.of(lengths).sum());
            kept = make(new Prepared.Key(CollectiveKind.ALL_REDUCE, type, whole, op, 0, lengths, ""));
        }
        String[] told = Stream.of(labels).allMatch(labels[0]::equals) ? new String[] {labels[0]} : labels;
        kept = kept.hasLabels(told) ? kept : kept.labelled(told);
        joined[slot] = kept;
        return kept;
    }

    /** Makes the plans of all ranks: they are needed to know the largest scratch memory of any rank. */
    private List<Plan> all(Algorithm algorithm, int root) {
        return IntStream.range(0, group.worldSize())
                .mapToObj(rank -> plan(algorithm, rank, root))
                .toList();
    }

    /** Returns why a call on device tensors is refused, as the message of the exception. */
    public String refusalOnDevice(String operation) {
        return FallbackGate.of(context).refusal(operation, ENGINE, group.rank(), group.worldSize());
    }

    private static boolean isOnDevice(Collective call) {
        return call.in() instanceof DeviceTensor || call.out() instanceof DeviceTensor;
    }
}
