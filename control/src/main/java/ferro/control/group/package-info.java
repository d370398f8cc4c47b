/**
 * Failure and agreement of one group, over control messages that never wait behind data: the same for every medium.
 *
 * <p>Start reading at {@link ferro.control.group.GroupControl}. Beside it are {@code failure} (what has
 * failed, and who is to blame), {@code membership} (the processes behind all groups) and {@code wire} (the codec of
 * messages).
 *
 * <p>Nothing here waits, except {@code SubgroupAgreement} for a caller of newGroup, and {@code GroupControl} for one of
 * silentRanks.
 */
package ferro.control.group;
