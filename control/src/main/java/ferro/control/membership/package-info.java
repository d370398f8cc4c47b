/**
 * The processes behind a joined group and all groups made of it: heartbeats, silence, pauses and ends of processes.
 *
 * <p>Start reading at {@code Membership}. Groups are told what concerns them on the context's background.
 */
package ferro.control.membership;
