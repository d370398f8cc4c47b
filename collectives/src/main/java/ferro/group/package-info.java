/**
 * The main API. Programs join a group and call its collectives.
 *
 * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="join" :
 *
 * float[] gradient = {1, 2, 3};
 * try (ProcessGroup group = ProcessGroup.join()) {
 *     group.allReduce(gradient, ReduceOp.AVG); // in place: every rank has the mean
 * }
 * }
 *
 * <p>Start reading at {@link ferro.group.ProcessGroup}. {@code BackendSelection} chooses the back end. {@link
 * ferro.group.JoinOptions} describes a rank whose process has no variables of a launcher. {@link
 * ferro.group.SystemContext} reads the settings. Only launchers and back ends need a context, and {@link
 * ferro.group.Groups} creates groups in a context. {@link ferro.group.GroupObjects} encodes objects as bytes and moves
 * the bytes by collectives.
 */
package ferro.group;
