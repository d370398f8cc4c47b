package ferro.backend.nccl;

import ferro.ReduceOp;
import java.util.Optional;

/** A reduction with its number in NCCL: {@code ncclRedOp_t} of nccl.h, where MAX comes before MIN. */
public enum NcclRedOp {
    /** Addition. */
    SUM(0, ReduceOp.SUM),
    /** Multiplication. */
    PROD(1, ReduceOp.PRODUCT),
    /** Maximum. */
    MAX(2, ReduceOp.MAX),
    /** Minimum. */
    MIN(3, ReduceOp.MIN),
    /** Sum divided by the number of ranks; since NCCL 2.10. */
    AVG(4, ReduceOp.AVG);

    private static final NcclVersion FIRST_WITH_AVG = new NcclVersion(2, 10, 0);

    private final int code;
    private final ReduceOp op;

    NcclRedOp(int code, ReduceOp op) {
        this.code = code;
        this.op = op;
    }

    /** {@return NCCL's code} */
    public int code() {
        return code;
    }

    /**
     * {@return why the library does not support this reduction; empty if it does}
     *
     * @param library release of the loaded NCCL
     */
    public Optional<String> unsupportedBecause(NcclVersion library) {
        return this == AVG && !library.atLeast(FIRST_WITH_AVG)
                ? Optional.of("reduction avg needs NCCL >= " + FIRST_WITH_AVG + ", found " + library)
                : Optional.empty();
    }

    /**
     * Finds NCCL's reduction for a reduction of ferro.
     *
     * @param op built-in reduction
     * @return NCCL's reduction
     * @throws UnsupportedOperationException if NCCL has no such reduction; the message names {@code op} and the
     *     reductions of NCCL
     */
    public static NcclRedOp of(ReduceOp op) {
        for (NcclRedOp mine : values()) {
            if (mine.op == op) {
                return mine;
            }
        }
        throw new UnsupportedOperationException(
                "NCCL has no reduction " + op.name() + ": use one of sum, product, max, min, avg, or a host tensor");
    }
}
