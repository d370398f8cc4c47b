package ferro.backend.nccl;

/**
 * Native work that may not be over when its first call returns; everything here runs on the {@link DeviceThread}.
 *
 * @param <T> what it gives
 */
interface DeviceTask<T> {
    /**
     * Hands the work to the library; asked again until it says true. Nothing else starts before, since a communicator must
     * not be used while an earlier call on it is in progress.
     *
     * @return whether the library has taken it
     */
    boolean issue();

    /**
     * Looks whether the work is over, without waiting; asked until it says true. Other tasks may start meanwhile.
     *
     * @return whether it is over
     */
    boolean over();

    /**
     * Returns what the work gave; asked once, at the end.
     *
     * @return result or null
     */
    T result();
}
