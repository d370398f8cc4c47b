/**
 * The failure of a group: the cause of the failure, the control messages about the failure, and the ranks to blame.
 *
 * <p>Start reading at {@link ferro.control.failure.Failure}, then {@code ControlMessage} and {@code Diagnosis}. No
 * class in this package sends a message, waits or reads a clock.
 */
package ferro.control.failure;
