package ferro.collectives;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.collectives.algorithm.AlgorithmTable;
import ferro.collectives.plan.Plan;
import ferro.collectives.reduce.Kernels;
import ferro.spi.CallHeader;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Chooses and caches plans; says which calls cannot be done. Thread-safe. */
final class Planner {
    static final String ON_DEVICE =
            "the tensor is on a device, and this back end reads host memory only: copy it to the"
                    + " host first, or join with -Dferro.backend=nccl";

    private static final int SLOTS = 64;

    private final GroupSpec group;
    private final long identity;
    private final AlgorithmTable table;
    private final long segmentBytes;
    private final Prepared[] cache = new Prepared[SLOTS];

    Planner(GroupSpec group, long identity, RankContext context) {
        this.group = group;
        this.identity = identity;
        this.table = AlgorithmTable.of(Settings.ALGORITHM.of(context));
        this.segmentBytes = Math.max(1, Settings.SEGMENT.of(context));
    }

    Optional<String> unsupportedBecause(Collective call) {
        if (call.hasCounts()) {
            return Optional.of(call.kind() + " with part lengths of its own is not there yet: use equal parts");
        }
        if (isOnDevice(call)) {
            return Optional.of(ON_DEVICE);
        }
        ReduceOp op = call.op();
        return op == null
                ? Optional.empty()
                : Kernels.unsupportedBecause(call.operand().dataType(), op);
    }

    Prepared prepare(Collective call, Operands operands) {
        Tensor operand = call.operand();
        DataType type = operand == null ? null : operand.dataType();
        Prepared.Key key = new Prepared.Key(call.kind(), type, operands.elements(), operands.op(), operands.root());
        int slot = key.slot(SLOTS);
        synchronized (cache) {
            if (!key.fits(cache[slot])) {
                cache[slot] = make(key);
            }
            return cache[slot];
        }
    }

    /** Returns what every rank must agree on. */
    CallHeader header(Prepared prepared, long sequence) {
        return new CallHeader(identity, sequence, prepared.fingerprint, prepared.text);
    }

    private Prepared make(Prepared.Key key) {
        int unit = key.type() == null ? 1 : key.type().byteSize();
        String algorithm = table.algorithm(key.kind(), group.worldSize(), key.elements() * unit);
        Plan plan = table.plan(key.kind(), algorithm, group.rank(), group.worldSize(), key.root());
        List<Plan> plans = key.elements() * unit <= Schedule.SCRATCH_BYTES_MOST ? List.of(plan) : all(key, algorithm);
        Schedule.Cut cut = Schedule.Cut.of(plans, key.elements(), unit, segmentBytes, Schedule.SCRATCH_BYTES_MOST);
        return new Prepared(key, plan, new Schedule(plan, cut));
    }

    /** Makes the plans of all ranks: only they tell how much scratch memory the one that needs most needs. */
    private List<Plan> all(Prepared.Key key, String algorithm) {
        return IntStream.range(0, group.worldSize())
                .mapToObj(rank -> table.plan(key.kind(), algorithm, rank, group.worldSize(), key.root()))
                .toList();
    }

    private static boolean isOnDevice(Collective call) {
        return call.in() instanceof DeviceTensor || call.out() instanceof DeviceTensor;
    }
}
