/**
 * The processes behind a joined group and all its subgroups: heartbeats, silence, pauses and ends of processes.
 *
 * <p>Start reading at {@code Membership}. Groups are notified about their ranks on the background executor of the
 * context.
 */
package ferro.control.membership;
