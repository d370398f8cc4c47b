/**
 * What {@code ferro bench} runs: one collective over several sizes, timed on every rank and checked against plain loops.
 *
 * <p>Start reading at {@link ferro.benchmarks.CollectiveBench}, the program of one rank; {@link ferro.benchmarks.Sweep} is
 * what it was asked to do, {@code Stopwatch} how it measures, {@code Operation} what it calls and expects.
 *
 * <p>Nothing in this package knows a back end: everything goes through {@link ferro.group.ProcessGroup}, as in a user's
 * program. Nothing is timed before its result has been checked.
 */
package ferro.benchmarks;
