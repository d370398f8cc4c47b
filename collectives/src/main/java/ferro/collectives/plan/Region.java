package ferro.collectives.plan;

/** The memory regions of a plan. */
public enum Region {
    /** The caller's operand; never written. */
    IN,
    /** The caller's result. */
    OUT,
    /** Memory of the engine, unset at the start. */
    SCRATCH
}
