/**
 * Failure and agreement of one group, over control messages that never wait behind data: the same for every medium.
 *
 * <p>Start reading at {@link ferro.collectives.control.GroupControl}; what travels stands in
 * {@code ControlMessage} and {@code MembershipMessage}, why a group has failed in {@link ferro.collectives.control.Failure}.
 *
 * <p>Nothing here waits, but for {@link ferro.collectives.control.Agreement}, where a caller of newGroup does.
 */
package ferro.collectives.control;
