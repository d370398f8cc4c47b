/**
 * The execution of collectives: their plans, their order, their executors and the watch on them.
 *
 * <p>Start reading at {@code OperationQueue}, then {@code LinkExecutor} and {@code PlanRun}, which run a plan over links, and
 * {@code SharedMemoryExecutor}, which runs a program in shared memory. {@code Planner} chooses and keeps plans.
 */
package ferro.collectives.engine.exec;
