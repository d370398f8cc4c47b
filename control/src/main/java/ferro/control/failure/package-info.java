/**
 * The failure of a group: its cause, the control messages about it, and the ranks to blame for it.
 *
 * <p>Start reading at {@link ferro.control.failure.Failure}, then {@code ControlMessage} and {@code Diagnosis}. No
 * class in this package sends a message, waits or reads a clock.
 */
package ferro.control.failure;
