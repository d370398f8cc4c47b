/**
 * How a group makes progress: the loop and its lock, the handle of an operation, what a thread does while nothing moves,
 * and the links of a group.
 *
 * <p>Start reading at {@code ProgressLoop} and {@code ProgressLock}, then {@code SpinThenPark} and {@code WaitBudget},
 * whose numbers say where they were measured. The loop knows its work by {@code CollectiveProgress} and {@code MessageProgress} only.
 */
package ferro.collectives.engine.progress;
