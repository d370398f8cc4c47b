package ferro;

/**
 * Thrown if the result of a collective could not be copied from the host back to its device. The collective itself
 * succeeded on every rank.
 *
 * <p>Only a failure of the copy from host to device is wrapped in this exception. A failure of the copy to the host, or
 * of the communication between ranks, is thrown unchanged.
 */
public final class FerroTransferException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates a failure.
     *
     * @param message operation, direction, device, bytes and the remedy
     * @param cause   failure of the copy
     */
    public FerroTransferException(String message, Throwable cause) {
        super(message, cause);
    }
}
