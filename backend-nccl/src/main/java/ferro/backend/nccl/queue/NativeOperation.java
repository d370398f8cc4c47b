package ferro.backend.nccl.queue;

/** The native calls of one operation, as steps that never wait. All methods run on the {@link DeviceThread}. */
public interface NativeOperation {
    /**
     * Issues those native calls that can be issued now. The method is called again until it returns true. No other task
     * starts before that.
     *
     * @return whether all native calls of the operation were issued
     */
    boolean issue();

    /**
     * Returns whether the device has completed the operation. The method is called until it returns true.
     *
     * @return whether the operation is complete
     */
    boolean passed();

    /**
     * Copies results to the caller's memory. Called once, after {@link #passed} has returned true, and never for a
     * failed operation.
     */
    default void deliver() {
        // the results are already in place
    }

    /**
     * Records a new event after an abort has ended. After the abort, all work of the operation is on the stream, even
     * if the abort has cut off the operation while it was issued. The method is called once, and only for a failed
     * operation.
     */
    void cutOff();

    /** Releases the resources of the operation. Called once, after the device has completed the operation. */
    default void end() {
        // no resources by default
    }

    /** Releases the resources of an operation that never began. Called on any thread, instead of {@link #end}. */
    default void drop() {
        // no resources by default
    }
}
