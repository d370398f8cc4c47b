package ferro.backend.nccl.queue;

/** The native side of one operation, as steps that never wait. All methods run on the {@link DeviceThread}. */
public interface NcclJob {
    /**
     * Issues the part that can be issued now. It is called again until it returns true, and no other task starts
     * before.
     *
     * @return whether all of it is issued
     */
    boolean issue();

    /**
     * Polls whether the device has passed all of it. It is called until it returns true.
     *
     * @return whether it is over
     */
    boolean passed();

    /** Copies results to the caller's memory. Called once, after {@link #passed}, and never for a failed operation. */
    default void deliver() {
        // the results are there already
    }

    /**
     * Records a new event after an abort has ended. By then the rest of the operation is on the stream, also for an
     * operation that was cut off while it was issued. It is called once, and only for a failed operation.
     */
    void cutOff();

    /** Gives back its resources, once the device has passed the operation. It is called once. */
    default void end() {
        // nothing is held
    }

    /** Gives back the resources of an operation that was never begun. Called on any thread, instead of {@link #end}. */
    default void drop() {
        // nothing is held
    }
}
