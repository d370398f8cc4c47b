package ferro.backend.nccl;

/** The native side of one operation, as steps that never wait; everything here runs on the {@link DeviceThread}. */
interface NcclJob {
    /**
     * Hands over what can be handed over now; asked again until it says true, and nothing else starts before.
     *
     * @return whether all of it is handed over
     */
    boolean issue();

    /**
     * Looks whether the device has passed all of it; asked until it says true.
     *
     * @return whether it is over
     */
    boolean passed();

    /** Brings results to where the caller wants them; once, after {@link #passed}, and never for a failed operation. */
    default void deliver() {
        // the results are there already
    }

    /**
     * Marks anew what has to pass: an abort has ended, and what it left of the operation, also of one that was cut off while
     * it was handed over, is on the stream by now. Once, and only for a failed operation.
     */
    void cutOff();

    /** Gives back what it holds, once the device has passed it; once. */
    default void end() {
        // nothing is held
    }

    /** Gives back what it holds though it was never begun; on any thread, and instead of {@link #end}. */
    default void drop() {
        // nothing is held
    }
}
