package ferro.backend.nccl;

import ferro.FerroException;

/** NCCL said no: a {@link FerroException} of code NATIVE that keeps NCCL's own code and text. */
public final class NcclException extends FerroException {
    private static final long serialVersionUID = 1L;

    private final NcclResult result;
    private final String lastError;

    /**
     * Makes a failure.
     *
     * @param where     place
     * @param result    what the call answered
     * @param lastError what ncclGetLastError said, empty if nothing or if the library has no such function; a hint: the
     *     library keeps one text per process
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
     * @param operation what failed, for example {@code NCCL allreduce}
     * @return failure with this one as its cause
     */
    public NcclException during(Where where, String operation) {
        return new NcclException(where, result, lastError, operation + " failed: " + getMessage(), this);
    }

    /**
     * Returns what NCCL answered.
     *
     * @return result
     */
    public NcclResult result() {
        return result;
    }

    /**
     * Returns NCCL's last words.
     *
     * @return text of ncclGetLastError, or empty
     */
    public String lastError() {
        return lastError;
    }
}
