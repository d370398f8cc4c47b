package ferro.collectives.engine.exec;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.plan.Region;
import ferro.collectives.reduce.IntegerSums;

/**
 * The additional work of operations that average integers. When such an operation begins, at its position in the order,
 * it makes a wider copy of its operand. The collective sums this copy in place. After the collective, the operation
 * divides the sums and writes the averages to the result. Staged operations run one at a time, so one buffer is enough
 * for a group. Only the thread that makes progress uses this object.
 */
final class IntegerAverages {
    /**
     * Maximum length of the buffer that is kept. A longer operand gets a new buffer, whose allocation is cheap compared
     * with the operation.
     */
    private static final int MAX_LONGS_KEPT = 1 << 17;

    private final int rank;
    private final int worldSize;
    private long[] kept = {};

    IntegerAverages(int rank, int worldSize) {
        this.rank = rank;
        this.worldSize = worldSize;
    }

    /**
     * Returns the work of such an operation before and after the collective.
     *
     * @param in  operand of the caller
     * @param out result of the caller, or null
     * @param own other staging outside this one, or null
     */
    Operation.OperandStaging of(Prepared prepared, HostTensor in, HostTensor out, Operation.OperandStaging own) {
        return new Sums(prepared, in, out, own);
    }

    private long[] buffer(long elements) {
        int longs = Math.toIntExact(elements);
        if (longs > MAX_LONGS_KEPT) {
            return new long[longs];
        }
        if (kept.length < longs) {
            kept = new long[Math.min(MAX_LONGS_KEPT, 2 * longs)];
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
            sums = buffer(elements);
            IntegerSums.widen(given, sums);
            return HostTensor.of(DataType.INT64, sums, 0, (int) elements);
        }

        @Override
        public HostTensor result() {
            if (out == null) {
                return null;
            }
            int count = Math.toIntExact(out.elementCount() * IntegerSums.longsPerElement(prepared.type));
            return HostTensor.of(DataType.INT64, sums, first(), count);
        }

        /**
         * Returns the index in the operand at which the result begins: for a reduce-scatter that of this rank's part,
         * else 0.
         */
        private int first() {
            boolean scatters = prepared.kind == CollectiveKind.REDUCE_SCATTER;
            return scatters ? (int) prepared.carriedParts.start(Region.IN, rank, worldSize) : 0;
        }

        @Override
        public void deliver() {
            if (out != null) {
                IntegerSums.divide(sums, first(), worldSize, out);
            }
            if (own != null) {
                own.deliver();
            }
        }
    }
}
