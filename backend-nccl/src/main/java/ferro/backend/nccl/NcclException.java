package ferro.backend.nccl;

import ferro.FerroException;

/** An error that NCCL reported: a {@link FerroException} of code NATIVE with NCCL's code and text. */
public final class NcclException extends FerroException {
    private static final long serialVersionUID = 1L;

    /** Result code that the function of NCCL returned. */
    private final NcclResult result;
    /** Last error text of the library; empty if the library has no text. */
    private final String lastError;

    /**
     * Creates a failure.
     *
     * @param where     location
     * @param result    code that the call returned
     * @param lastError text of ncclGetLastError; empty if there is none, or if the library lacks the function. The text
     *     may belong to another call, since the library has one text per process
     * @param message   call, result, text
     * @param cause     exception that caused the failure, or null
     */
    public NcclException(Where where, NcclResult result, String lastError, String message, Throwable cause) {
        super(Code.NATIVE, where, message, cause);
        this.result = result;
        this.lastError = lastError;
    }

    /**
     * Returns a copy of this failure that also names an operation.
     *
     * @param where     location
     * @param operation operation that failed, for example {@code NCCL allreduce}
     * @return new failure whose cause is this failure
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
