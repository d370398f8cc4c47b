/**
 * Failures of a group: what they are, what ranks tell each other of them, and who is to blame.
 *
 * <p>Start reading at {@link ferro.control.failure.Failure}, then {@code ControlMessage} and {@code Diagnosis}. Nothing
 * here sends, waits or looks at a clock.
 */
package ferro.control.failure;
