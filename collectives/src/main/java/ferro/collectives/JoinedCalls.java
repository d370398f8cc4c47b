package ferro.collectives;

import ferro.Collective;
import ferro.Collective.AllReduce;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.algorithm.Algorithm;
import ferro.collectives.reduce.Copies;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The calls of a coalesced block, small all-reduces of one type and op put together as long as the result keeps its bits: what is
 * joined goes by an algorithm that combines every element in the same order wherever it lies, or the order makes no difference.
 * All ranks decide alike, by lengths, type, op, world size and table alone.
 */
final class JoinedCalls {
    /** Above, copying in and out costs more than a call of its own that is under way together with others. */
    private static final long SINGLE_BYTES_MOST = 1 << 10;

    private static final long TOTAL_BYTES_MOST = 64 << 10;
    private static final Set<ReduceOp> KNOWN_OPS =
            Set.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG);

    private final Planner planner;
    private final int worldSize;
    private final List<Batch> batches = new ArrayList<>();

    /** Some calls that run as one: one call of any kind, or several all-reduces. */
    static final class Batch implements Operation.Staging {
        private final Copies copies = new Copies();
        final List<Collective> calls = new ArrayList<>();
        private long elements;
        private HostTensor room;
        /** Made with the second call. */
        private MemoryUse use;

        boolean isJoined() {
            return calls.size() > 1;
        }

        AllReduce first() {
            return (AllReduce) calls.get(0);
        }

        DataType type() {
            return first().in().dataType();
        }

        long[] lengths() {
            return calls.stream()
                    .mapToLong(call -> call.operand().elementCount())
                    .toArray();
        }

        private void add(Collective call) {
            calls.add(call);
            elements += call.operand() == null ? 0 : call.operand().elementCount();
        }

        /** Returns where all operands and results have their place, side by side; made at the first call. */
        HostTensor room() {
            if (room == null) {
                // memory of the heap is made in no time, unlike such that has to be given back
                int count = Math.toIntExact(elements);
                room = HostTensor.ofArray(type(), type().carrier().newArray(count), 0, count);
            }
            return room;
        }

        @Override
        public HostTensor operand() {
            long at = 0;
            for (Collective call : calls) {
                HostTensor in = (HostTensor) call.in();
                copies.copy(room, at, in, 0, in.elementCount());
                at += in.elementCount();
            }
            return room;
        }

        @Override
        public HostTensor result() {
            return room;
        }

        @Override
        public void deliver() {
            long at = 0;
            for (Collective call : calls) {
                HostTensor out = (HostTensor) call.out();
                copies.copy(out, 0, room, at, out.elementCount());
                at += out.elementCount();
            }
        }

        /** Refuses two calls that touch one memory: joined, the second would not see what the first leaves there. */
        private void refuseOverlap(Collective call) {
            if (calls.isEmpty()) {
                return;
            }
            if (use == null) {
                use = new MemoryUse();
                use.add((HostTensor) first().in(), (HostTensor) first().out());
            }
            if (!use.add((HostTensor) call.in(), (HostTensor) call.out())) {
                throw new IllegalArgumentException("coalesced: two calls of " + call.kind()
                        + " touch the same memory, and run as one: make them in two blocks");
            }
        }
    }

    JoinedCalls(Planner planner, int worldSize, List<Collective> calls) {
        this.planner = planner;
        this.worldSize = worldSize;
        for (Collective call : calls) {
            Batch last = batches.isEmpty() ? null : batches.get(batches.size() - 1);
            if (last == null || !fits(last, call)) {
                last = new Batch();
                batches.add(last);
            }
            last.refuseOverlap(call);
            last.add(call);
        }
    }

    List<Batch> batches() {
        return batches;
    }

    private boolean fits(Batch batch, Collective call) {
        if (!isSmall(call) || !isSmall(batch.calls.get(0))) {
            return false;
        }
        DataType type = batch.type();
        ReduceOp op = batch.first().op();
        if (call.operand().dataType() != type || !call.op().equals(op)) {
            return false;
        }
        long total = batch.elements + call.operand().elementCount();
        if (total * type.byteSize() > TOTAL_BYTES_MOST) {
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
        return call instanceof AllReduce all
                && KNOWN_OPS.contains(all.op())
                && all.in() instanceof HostTensor in
                && in.byteCount() <= SINGLE_BYTES_MOST;
    }

    /** Two operands have one order; integers and the smaller or larger of two come out the same in any. */
    private boolean isOrderFree(DataType type, ReduceOp op) {
        return worldSize <= 2 || !type.isFloating() || op == ReduceOp.MIN || op == ReduceOp.MAX;
    }
}
