package ferro.collectives.engine;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.plan.Algorithm;
import ferro.collectives.reduce.ElementCopier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The calls of a coalesced block. Small all-reduces of one type and op are joined if every bit of the result stays the
 * same. The bits stay the same if the algorithm combines every element in the same order at any position, or if the
 * order of combining makes no difference. All ranks make the same decision, because the decision depends only on
 * lengths, type, op, world size and the table of algorithms.
 */
final class CallFuser {
    /**
     * Maximum size of a call that is joined with other calls. Above this size, copying in and out costs more than a
     * separate call that is in flight together with other calls.
     */
    private static final long MAX_SINGLE_BYTES = 1 << 10;

    private static final long MAX_TOTAL_BYTES = 64 << 10;
    private static final Set<ReduceOp> KNOWN_OPS =
            Set.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG);

    private final OperationQueue queue;
    private final Planner planner;
    private final int worldSize;

    /** A batch of calls that run as one operation: one call of any kind, or several all-reduces. */
    static final class FusedBatch implements OperandStager {
        private final ElementCopier copies = new ElementCopier();
        final List<Collective> calls = new ArrayList<>();
        final List<String> labels = new ArrayList<>();

        private long elements;
        private HostTensor buffer;
        /** Memory that the calls of the batch use; null before the second call. */
        private AccessedRanges use;

        boolean isJoined() {
            return calls.size() > 1;
        }

        Collective first() {
            return calls.get(0);
        }

        DataType type() {
            return first().in().dataType();
        }

        long[] lengths() {
            return calls.stream()
                    .mapToLong(call -> call.operand().elementCount())
                    .toArray();
        }

        private void add(Collective call, String label) {
            calls.add(call);
            labels.add(label);
            elements += call.operand() == null ? 0 : call.operand().elementCount();
        }

        /** Returns the memory for all operands and results, one after the other. The first use allocates the memory. */
        HostTensor buffer() {
            if (buffer == null) {
                // heap memory is faster to allocate than memory that must be freed
                int count = Math.toIntExact(elements);
                buffer = HostTensor.ofArray(type(), type().carrier().newArray(count), 0, count);
            }
            return buffer;
        }

        @Override
        public HostTensor operand() {
            long at = 0;
            for (Collective call : calls) {
                HostTensor in = (HostTensor) call.in();
                copies.copy(buffer, at, in, 0, in.elementCount());
                at += in.elementCount();
            }
            return buffer;
        }

        @Override
        public HostTensor result() {
            return buffer;
        }

        @Override
        public void deliver() {
            long at = 0;
            for (Collective call : calls) {
                HostTensor out = (HostTensor) call.out();
                copies.copy(out, 0, buffer, at, out.elementCount());
                at += out.elementCount();
            }
        }

        /** Refuses joined calls whose memory overlaps. A later call would not read the result of an earlier call. */
        private void refuseOverlap(Collective call) {
            if (calls.isEmpty()) {
                return;
            }
            if (use == null) {
                use = new AccessedRanges();
                use.add((HostTensor) first().in(), (HostTensor) first().out());
            }
            if (!use.add((HostTensor) call.in(), (HostTensor) call.out())) {
                throw new IllegalArgumentException("coalesced: two calls of " + call.kind()
                        + " that would run as one operation use the same memory: make them in two blocks");
            }
        }
    }

    CallFuser(OperationQueue queue, Planner planner, int worldSize) {
        this.queue = queue;
        this.planner = planner;
        this.worldSize = worldSize;
    }

    List<PendingWork> submit(List<Collective> calls, List<String> labels, Duration timeout) {
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(labels, "labels");
        Objects.requireNonNull(timeout, "timeout");
        if (labels.size() != calls.size()) {
            throw new IllegalArgumentException(
                    "coalesced: found " + labels.size() + " labels, need one for each of " + calls.size() + " calls");
        }
        // checks every call before any data moves
        for (int i = 0; i < calls.size(); i++) {
            planner.prepare(calls.get(i), labels.get(i));
        }
        List<FusedBatch> batches = batches(calls, labels);
        batches.stream().filter(FusedBatch::isJoined).forEach(FusedBatch::buffer);
        List<PendingWork> pending = new ArrayList<>();
        for (FusedBatch batch : batches) {
            pending.add(
                    batch.isJoined()
                            ? queue.submit(prepared(batch), batch.buffer(), batch.buffer(), timeout, batch)
                            : queue.submit(batch.calls.get(0), batch.labels.get(0), timeout));
        }
        return pending;
    }

    private PreparedCall prepared(FusedBatch batch) {
        return planner.prepareJoined(
                batch.type(), batch.first().op(), batch.lengths(), batch.labels.toArray(new String[0]));
    }

    private List<FusedBatch> batches(List<Collective> calls, List<String> labels) {
        List<FusedBatch> batches = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            Collective call = calls.get(i);
            FusedBatch last = batches.isEmpty() ? null : batches.get(batches.size() - 1);
            if (last == null || !fits(last, call)) {
                last = new FusedBatch();
                batches.add(last);
            }
            last.refuseOverlap(call);
            last.add(call, labels.get(i));
        }
        return batches;
    }

    private boolean fits(FusedBatch batch, Collective call) {
        if (!isSmall(call) || !isSmall(batch.calls.get(0))) {
            return false;
        }
        DataType type = batch.type();
        ReduceOp op = batch.first().op();
        if (call.operand().dataType() != type || !call.op().equals(op)) {
            return false;
        }
        long total = batch.elements + call.operand().elementCount();
        if (total * type.byteSize() > MAX_TOTAL_BYTES) {
            return false;
        }
        if (isOrderFree(type, op)) {
            return true;
        }
        Algorithm algorithm = planner.allReduceAlgorithm(type, total);
        return algorithm.isInOneOrder()
                && algorithm.equals(
                        planner.allReduceAlgorithm(type, call.operand().elementCount()))
                && algorithm.equals(
                        planner.allReduceAlgorithm(type, batch.first().operand().elementCount()));
    }

    private static boolean isSmall(Collective call) {
        return call.kind() == CollectiveKind.ALL_REDUCE
                && KNOWN_OPS.contains(call.op())
                && call.in() instanceof HostTensor in
                && in.byteCount() <= MAX_SINGLE_BYTES;
    }

    /**
     * Returns whether the order of combining makes no difference. With two operands, only one order exists. Integers,
     * minimum and maximum have the same result in any order.
     */
    private boolean isOrderFree(DataType type, ReduceOp op) {
        return worldSize <= 2 || !type.isFloating() || op == ReduceOp.MIN || op == ReduceOp.MAX;
    }
}
