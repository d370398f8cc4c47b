/**
 * A work queue, in which one rank gives out tasks of unequal length and takes the results from any rank.
 *
 * <p>Start at {@link ferro.examples.workqueue.MandelbrotQueue}. {@link ferro.examples.workqueue.SquareTask} is the work, and
 * knows no group.
 */
package ferro.examples.workqueue;
