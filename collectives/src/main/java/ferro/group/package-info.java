/**
 * The main API: joining a group and calling its collectives.
 *
 * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="join" :
 *
 * float[] gradient = {1, 2, 3};
 * try (ProcessGroup group = ProcessGroup.join()) {
 *     group.allReduce(gradient, ReduceOp.AVG); // in place: every rank has the mean
 * }
 * }
 *
 * <p>Start at {@link ferro.group.ProcessGroup}; {@code BackendSelection} chooses the back end, and
 * {@link ferro.group.SystemContext} reads the settings; {@link ferro.group.GroupObjects} sends objects by way of tensors.
 *
 * <p>The queue and the sequence numbers of a group are in its back end. Kept here are its open blocks of calls
 * ({@code Coalescing}), and which groups a thread has joined ({@code JoiningThread}).
 */
package ferro.group;
