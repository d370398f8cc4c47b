package ferro.backend.nccl;

import ferro.FerroException;

/** NCCL reported an error: a {@link FerroException} of code NATIVE that keeps NCCL's own code and text. */
public final class NcclException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Code that the function has returned. */
    private final NcclResult result;
    /** Text of the library; empty if it has none. */
    private final String lastError;

    /**
     * Makes a failure.
     *
     * @param where     place
     * @param result    code that the call returned
     * @param lastError text of ncclGetLastError, empty if there is none or if the library has no such function; only a
     *     hint: the library keeps one text per process
     * @param message   call, result, text
     * @param cause     first cause or null
     */
    public NcclException(Where where, NcclResult result, String lastError, String message, Throwable cause) {
        super(Code.NATIVE, where, message, cause);
        this.result = result;
        this.lastError = lastError;
    }

    /**
     * Returns the same failure as part of an operation.
     *
     * @param where     place
     * @param operation operation that failed, for example {@code NCCL allreduce}
     * @return failure with this one as its cause
     */
    public NcclException during(Where where, String operation) {
        return new NcclException(where, result, lastError, operation + " failed: " + getMessage(), this);
    }

    /** {@return the result code of NCCL} */
    public NcclResult result() {
        return result;
    }

    /** {@return NCCL's last error, the text of ncclGetLastError, or empty} */
    public String lastError() {
        return lastError;
    }
}
