package ferro.backend.nccl.queue;

/** The native side of one operation, as steps that never wait. All methods run on the {@link DeviceThread}. */
public interface NativeOperation {
    /**
     * Issues the part that can be issued now. The method is called again until it returns true, and no other task
     * starts before.
     *
     * @return whether all parts are issued
     */
    boolean issue();

    /**
     * Polls whether the device has completed the operation. The method is called until it returns true.
     *
     * @return whether the operation is complete
     */
    boolean passed();

    /** Copies results to the caller's memory. Called once, after {@link #passed}, and never for a failed operation. */
    default void deliver() {
        // the results are already in place
    }

    /**
     * Records a new event after an abort has ended. By then the rest of the operation is on the stream, even if the
     * operation was cut off while it was issued. The method is called once, and only for a failed operation.
     */
    void cutOff();

    /** Releases the resources, after the device has completed the operation. It is called once. */
    default void end() {
        // nothing is held
    }

    /** Releases the resources of an operation that never began. Called on any thread, instead of {@link #end}. */
    default void drop() {
        // nothing is held
    }
}
