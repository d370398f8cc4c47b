package ferro.backend.nccl.queue;

/**
 * Native work that may still be in progress when its first call returns. All methods run on the {@link DeviceThread}.
 */
public interface DeviceTask<T> {
    /**
     * Issues the work to the library. It is called again until it returns true. No other task starts before, since a
     * communicator must not be used while an earlier call on it is in progress.
     *
     * @return whether the library has taken it
     */
    boolean issue();

    /**
     * Polls whether the work is over, without waiting. It is called until it returns true. Other tasks may start
     * meanwhile.
     *
     * @return whether it is over; true unless the task polls
     */
    default boolean over() {
        return true;
    }

    /** {@return the result of the work; null unless the task has one. It is called once, at the end} */
    default T result() {
        return null;
    }
}
