package ferro.collectives.engine.exec;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.plan.Region;
import ferro.collectives.reduce.WholeSums;

/**
 * Averages of integers. When it begins, in its order, an operation makes a wider copy of its operand, which is summed in
 * place; then it divides the sums into its result. Staged operations run one at a time, so that one buffer serves all those
 * of a group. Belongs to the thread that makes progress.
 */
final class WholeAverages {
    /** Longer ones get memory of their own: allocating it is cheap compared with the operation. */
    private static final int LONGS_KEPT_MOST = 1 << 17;

    private final int rank;
    private final int worldSize;
    private long[] kept = {};

    WholeAverages(int rank, int worldSize) {
        this.rank = rank;
        this.worldSize = worldSize;
    }

    /**
     * Returns what such an operation does before and after.
     *
     * @param in  operand of the caller
     * @param out result of the caller, or null
     * @param own other staging around it, or null
     */
    Operation.OperandStaging of(Prepared prepared, HostTensor in, HostTensor out, Operation.OperandStaging own) {
        return new Sums(prepared, in, out, own);
    }

    private long[] room(long elements) {
        int longs = Math.toIntExact(elements);
        if (longs > LONGS_KEPT_MOST) {
            return new long[longs];
        }
        if (kept.length < longs) {
            kept = new long[Math.min(LONGS_KEPT_MOST, 2 * longs)];
        }
        return kept;
    }

    private final class Sums implements Operation.OperandStaging {
        private final Prepared prepared;
        private final HostTensor in;
        private final HostTensor out;
        private final Operation.OperandStaging own;
        private long[] sums;

        Sums(Prepared prepared, HostTensor in, HostTensor out, Operation.OperandStaging own) {
            this.prepared = prepared;
            this.in = in;
            this.out = out;
            this.own = own;
        }

        @Override
        public HostTensor operand() {
            HostTensor given = own == null ? in : own.operand();
            long elements = prepared.carriedParts.elements();
            sums = room(elements);
            WholeSums.widen(given, sums);
            return HostTensor.of(DataType.INT64, sums, 0, (int) elements);
        }

        @Override
        public HostTensor result() {
            if (out == null) {
                return null;
            }
            int count = Math.toIntExact(out.elementCount() * WholeSums.longsPerElement(prepared.type));
            return HostTensor.of(DataType.INT64, sums, first(), count);
        }

        /** Returns where the result begins in the operand: for a reduce-scatter at this rank's part, else at 0. */
        private int first() {
            boolean scatters = prepared.kind == CollectiveKind.REDUCE_SCATTER;
            return scatters ? (int) prepared.carriedParts.start(Region.IN, rank, worldSize) : 0;
        }

        @Override
        public void deliver() {
            if (out != null) {
                WholeSums.divide(sums, first(), worldSize, out);
            }
            if (own != null) {
                own.deliver();
            }
        }
    }
}
