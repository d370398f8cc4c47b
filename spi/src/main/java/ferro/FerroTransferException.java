package ferro;

/**
 * A result could not be copied back to the device it belongs to; the collective itself went well on every rank.
 *
 * <p>Only that direction is wrapped: what goes wrong on the way to the host, or between ranks, arrives as it was thrown.
 */
public final class FerroTransferException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes a failure.
     *
     * @param message operation, direction, device, bytes and the way out
     * @param cause   what the copy said
     */
    public FerroTransferException(String message, Throwable cause) {
        super(message, cause);
    }
}
