package ferro;

/**
 * A result could not be copied back to its device. The collective itself succeeded on every rank.
 *
 * <p>Only failures of this copy are wrapped: a failure of the copy to the host, or between ranks, is thrown unchanged.
 */
public final class FerroTransferException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes a failure.
     *
     * @param message operation, direction, device, bytes and the remedy
     * @param cause   failure of the copy
     */
    public FerroTransferException(String message, Throwable cause) {
        super(message, cause);
    }
}
