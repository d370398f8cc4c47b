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

    /** Gives back what it holds, whatever came; once. */
    default void end() {
        // nothing is held
    }
}
