/**
 * Agreement of the ranks of one group on failures, leaves and subgroups, over control messages that never wait behind
 * data. The code is the same for every medium.
 *
 * <p>Start reading at {@link ferro.control.group.GroupControl}. The package {@code failure} describes failures and the
 * ranks to blame. The package {@code membership} watches the processes behind all groups. The package {@code wire}
 * encodes the messages.
 *
 * <p>Threads wait only in newGroup ({@code SubgroupAgreement}), in silentRanks ({@code GroupControl}), and in a close
 * or at the exit of the JVM ({@code GroupDeparture}, {@code GroupRegistry}). A thread that fails a group may wait up to a
 * second for another thread that is sending the failure.
 */
package ferro.control.group;
