package ferro.collectives.plan;

/** Memory that a plan works on. */
public enum Region {
    /** The caller's operand; never written. */
    IN,
    /** The caller's result. */
    OUT,
    /** Memory of the engine, unset at the start. */
    SCRATCH
}
