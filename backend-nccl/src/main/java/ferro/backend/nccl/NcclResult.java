package ferro.backend.nccl;

import java.util.List;

/**
 * Result of an NCCL call: a code of nccl.h, or one that this version of ferro does not know.
 *
 * <p>Source: {@code ncclResult_t} of nccl.h; code 6 exists since NCCL 2.13.4, code 7 since 2.14, code 8 since 2.30.3.
 *
 * @param code  code that the library returned
 * @param label the constant's name in nccl.h, or {@code unknown NCCL result}
 */
public record NcclResult(int code, String label) implements java.io.Serializable {
    /** The call succeeded. */
    public static final NcclResult SUCCESS = new NcclResult(0, "ncclSuccess");
    /** A call of the CUDA runtime failed. */
    public static final NcclResult UNHANDLED_CUDA_ERROR = new NcclResult(1, "ncclUnhandledCudaError");
    /** A call of the operating system failed. */
    public static final NcclResult SYSTEM_ERROR = new NcclResult(2, "ncclSystemError");
    /** An internal error of NCCL. */
    public static final NcclResult INTERNAL_ERROR = new NcclResult(3, "ncclInternalError");
    /** An argument has an invalid value. */
    public static final NcclResult INVALID_ARGUMENT = new NcclResult(4, "ncclInvalidArgument");
    /** The call is not valid in the current state. */
    public static final NcclResult INVALID_USAGE = new NcclResult(5, "ncclInvalidUsage");
    /** Another rank, or the network to it, is lost. */
    public static final NcclResult REMOTE_ERROR = new NcclResult(6, "ncclRemoteError");
    /** A call on a non-blocking communicator is still in progress, which is no failure. */
    public static final NcclResult IN_PROGRESS = new NcclResult(7, "ncclInProgress");
    /** A time limit of NCCL itself has passed. */
    public static final NcclResult TIMEOUT = new NcclResult(8, "ncclTimeout");

    private static final List<NcclResult> KNOWN = List.of(
            SUCCESS,
            UNHANDLED_CUDA_ERROR,
            SYSTEM_ERROR,
            INTERNAL_ERROR,
            INVALID_ARGUMENT,
            INVALID_USAGE,
            REMOTE_ERROR,
            IN_PROGRESS,
            TIMEOUT);

    private static final long serialVersionUID = 1L;

    /**
     * Finds a result by its code.
     *
     * @param code any number
     * @return result, for which {@link #known} is false if ferro does not know the code
     */
    public static NcclResult of(int code) {
        return code >= 0 && code < KNOWN.size() ? KNOWN.get(code) : new NcclResult(code, "unknown NCCL result");
    }

    /** {@return all results that have a name, by code, from code 0} */
    public static List<NcclResult> all() {
        return KNOWN;
    }

    /** {@return whether the code has a name; false for codes newer than ferro} */
    public boolean known() {
        return code >= 0 && code < KNOWN.size();
    }

    /** {@return name and number, for example {@code ncclInvalidUsage (5)}} */
    @Override
    public String toString() {
        return label + " (" + code + ")";
    }
}
