package ferro.collectives.engine;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.plan.Algorithm.Topology;
import ferro.collectives.plan.AlgorithmChooser;
import ferro.collectives.plan.AlgorithmChooser.ChoiceInputs;
import ferro.collectives.plan.Hosts;
import ferro.collectives.plan.Plan;
import ferro.collectives.reduce.IntegerSums;
import ferro.collectives.reduce.KernelFactory;
import ferro.collectives.shared.ProgramCall;
import ferro.collectives.shared.SegmentLayout;
import ferro.dispatch.FallbackDecision;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The choice and the cache of plans. The planner also finds out which calls are not supported. Thread-safe. */
final class Planner {
    /**
     * Number of pairs of slots. A program that repeats 100 different calls finds nine in ten of the plans in the cache.
     * A program that repeats 32 calls finds nearly all plans.
     */
    private static final int SLOTS = 128;

    private static final String ENGINE = "GroupEngine";

    /** Slots for calls with labels, which share plans of calls without labels. A model has hundreds of parameters. */
    private static final int LABELLED_SLOTS = 2048;

    private static final int JOINED_SLOTS = 16;
    /**
     * Maximum number of steps of a cached plan. Making a longer plan is cheap compared with running it, and long plans
     * may have many different lengths.
     */
    private static final int MAX_STEPS_KEPT = 1 << 16;

    private final GroupSpec group;
    private final RankContext context;
    private final long identity;
    private final AlgorithmChooser choice;
    private final long segmentBytes;
    private final PreparedCall[] cache = new PreparedCall[2 * SLOTS];
    private final PreparedCall[] joined = new PreparedCall[JOINED_SLOTS];
    /** Cache of calls with labels; null before the first call with a label. */
    private volatile PreparedCall[] labelled;

    private PreparedCall newest;
    private SegmentLayout shared;
    private Hosts hosts;

    /**
     * Makes a planner from the identity and the choice of algorithms of a group. The identity and the choice must be
     * the same on all ranks.
     */
    Planner(GroupSpec group, RankContext context, long identity, AlgorithmChooser choice) {
        this.group = group;
        this.context = context;
        this.identity = identity;
        this.choice = choice;
        this.segmentBytes = Math.max(1, Settings.SEGMENT.of(context));
    }

    /**
     * Makes later operations run in shared memory. All ranks must share memory. The caller calls this method before the
     * first operation.
     */
    void share(SegmentLayout layout) {
        synchronized (cache) {
            shared = layout;
        }
    }

    /**
     * Uses a plan for several hosts if the operation has such a plan. Plans for several hosts send data between hosts
     * once, and use shared memory inside a host. The caller calls this method before the first operation.
     */
    void spread(Hosts spanned) {
        synchronized (cache) {
            hosts = spanned;
        }
    }

    Optional<String> unsupportedBecause(Collective call) {
        if (isOnDevice(Objects.requireNonNull(call, "call"))) {
            return Optional.of(refusalOnDevice(call.kind().label()));
        }
        ReduceOp op = call.op();
        if (op == null) {
            return Optional.empty();
        }
        DataType type = call.operand().dataType();
        return IntegerSums.serve(type, op)
                ? IntegerSums.unsupportedBecause(type, call.operand().elementCount())
                : KernelFactory.unsupportedBecause(type, op);
    }

    /**
     * Returns the prepared object that equal calls share. Checks the arguments of the call and whether the call is
     * supported, before any data moves. Takes no lock, because each cache entry is complete when another thread can
     * read the entry.
     */
    PreparedCall prepare(Collective call, String label) {
        Objects.requireNonNull(call, "call").check(group.rank(), group.worldSize());
        if (isOnDevice(call)) {
            throw new UnsupportedOperationException(
                    refusalOnDevice(CallOptions.named(call.kind().label(), label)));
        }
        PreparedCall last = newest;
        if (last != null && last.fits(call, label, group.worldSize())) {
            return last;
        }
        PreparedCall found = label.isEmpty() ? plain(call) : labelled(call, label);
        if (found.steps <= MAX_STEPS_KEPT) {
            newest = found;
        }
        return found;
    }

    private PreparedCall plain(Collective call) {
        int slot = 2 * PreparedCall.Key.slot(call, "", group.worldSize(), SLOTS);
        PreparedCall kept = kept(cache, slot, call, "");
        return kept == null ? make(call) : kept;
    }

    private PreparedCall labelled(Collective call, String label) {
        PreparedCall[] all = labelled;
        if (all == null) {
            all = new PreparedCall[2 * LABELLED_SLOTS];
            labelled = all;
        }
        int slot = 2 * PreparedCall.Key.slot(call, label, group.worldSize(), LABELLED_SLOTS);
        PreparedCall kept = kept(all, slot, call, label);
        return kept == null ? keep(all, slot, plain(call).labelled(label)) : kept;
    }

    /** Returns the cached object of a call from one of its two slots, else null. */
    private PreparedCall kept(PreparedCall[] all, int slot, Collective call, String label) {
        PreparedCall first = all[slot];
        if (first != null && first.fits(call, label, group.worldSize())) {
            return first;
        }
        PreparedCall second = all[slot + 1];
        return second != null && second.fits(call, label, group.worldSize()) ? second : null;
    }

    private static PreparedCall keep(PreparedCall[] all, int slot, PreparedCall made) {
        if (made.steps <= MAX_STEPS_KEPT) {
            all[slot + 1] = all[slot];
            all[slot] = made;
        }
        return made;
    }

    private PreparedCall make(Collective call) {
        Optional<String> refusal = unsupportedBecause(call);
        if (refusal.isPresent()) {
            throw new UnsupportedOperationException(
                    call.kind() + " on group \"" + group.name() + "\" rank " + group.rank() + ": " + refusal.get());
        }
        PreparedCall made = make(PreparedCall.Key.of(call, group.worldSize()));
        return keep(cache, 2 * PreparedCall.Key.slot(call, "", group.worldSize(), SLOTS), made);
    }

    private PreparedCall make(PreparedCall.Key key) {
        PreparedCall.Key carried = key.carried();
        ProgramCall call = call(carried);
        long bytes = call.elements() * call.unit();
        boolean isOrdered = key.op() != null && key.op().isOrdered();
        Algorithm algorithm = isOrdered
                ? choice.inRankOrder(flat(call))
                : algorithm(call, carried.parts().areEqual());
        if (algorithm.topology() == Topology.SHARED_MEMORY) {
            return new PreparedCall(key, identity, algorithm.program(call, shared.slotBytes()));
        }
        Plan plan = algorithm.plan(group.rank(), group.worldSize(), key.root(), hosts);
        boolean hasOnePass = bytes <= Schedule.SCRATCH_BYTES_MOST;
        // the number of passes must be equal on all ranks, so the rank with the most scratch memory decides
        return prepared(
                key,
                plan,
                hasOnePass ? plan.scratch().count() : algorithm.scratchChunks(group.worldSize(), key.root(), hosts));
    }

    private ProgramCall call(PreparedCall.Key key) {
        return new ProgramCall(key.kind(), group.rank(), group.worldSize(), key.root(), key.elements(), unit(key), 1)
                .inRecords(recordElements(key));
    }

    private static int unit(PreparedCall.Key key) {
        return key.type() == null ? 1 : key.type().byteSize();
    }

    /** Returns the number of elements of a record. No algorithm may split a record. */
    private static int recordElements(PreparedCall.Key key) {
        return key.op() == null ? 1 : key.op().recordElements();
    }

    /**
     * Chooses an algorithm for the topology of the ranks. The topology is memory that all ranks share, hosts on which
     * some ranks share memory, or messages between all ranks.
     */
    private Algorithm algorithm(ProgramCall call, boolean areEqual) {
        CollectiveKind kind = call.kind();
        long bytes = call.elements() * call.unit();
        if (shared != null
                && areEqual
                && choice.serves(kind, Topology.SHARED_MEMORY)
                && call.hasShortProgram(shared.slotBytes())) {
            return choice.algorithm(
                    Topology.SHARED_MEMORY, new ChoiceInputs(kind, group.worldSize(), 1, bytes, shared.slotBytes()));
        }
        if (hosts != null && areEqual && choice.serves(kind, Topology.HOSTS)) {
            return choice.algorithm(Topology.HOSTS, new ChoiceInputs(kind, group.worldSize(), hosts.count(), bytes, 0));
        }
        ChoiceInputs flat = flat(call);
        return areEqual ? choice.algorithm(Topology.FLAT, flat) : choice.algorithmOfParts(flat);
    }

    private ChoiceInputs flat(ProgramCall call) {
        return new ChoiceInputs(call.kind(), group.worldSize(), call.elements() * call.unit());
    }

    private PreparedCall prepared(PreparedCall.Key key, Plan plan, int scratchChunks) {
        PreparedCall.Key carried = key.carried();
        int record = recordElements(key);
        ChunkLengths parts = carried.parts().inRecords(record);
        long scratch = parts.longest(plan.chunkCount()) * scratchChunks;
        Schedule.Chunking cut =
                Schedule.Chunking.of(parts, scratch, record * unit(carried), segmentBytes, Schedule.SCRATCH_BYTES_MOST);
        return new PreparedCall(key, identity, plan, new Schedule(plan, cut));
    }

    Algorithm allReduceAlgorithm(DataType type, long elements) {
        return algorithm(
                new ProgramCall(
                        CollectiveKind.ALL_REDUCE, group.rank(), group.worldSize(), 0, elements, type.byteSize(), 1),
                true);
    }

    /**
     * Returns the prepared object for all-reduces that are joined from parts of the given lengths. Each part has a
     * label. The fingerprint includes the lengths and labels.
     */
    PreparedCall prepareJoined(DataType type, ReduceOp op, long[] lengths, String... labels) {
        int slot = (31 * Arrays.hashCode(lengths) + type.ordinal()) & (JOINED_SLOTS - 1);
        PreparedCall kept = joined[slot];
        if (kept == null || kept.type != type || !op.equals(kept.op) || !Arrays.equals(kept.joined, lengths)) {
            ChunkLengths total = ChunkLengths.equal(LongStream.of(lengths).sum());
            kept = make(new PreparedCall.Key(CollectiveKind.ALL_REDUCE, type, total, op, 0, lengths, ""));
        }
        String[] labelsOfCall = Stream.of(labels).allMatch(labels[0]::equals) ? new String[] {labels[0]} : labels;
        kept = kept.hasLabels(labelsOfCall) ? kept : kept.labelled(labelsOfCall);
        joined[slot] = kept;
        return kept;
    }

    String refusalOnDevice(String operation) {
        return FallbackDecision.of(context).refusal(operation, ENGINE, group.rank(), group.worldSize());
    }

    private static boolean isOnDevice(Collective call) {
        return call.in() instanceof DeviceTensor || call.out() instanceof DeviceTensor;
    }
}
