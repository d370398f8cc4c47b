/**
 * The program of {@code ferro bench}: one collective over several sizes, timed on every rank and checked against plain
 * loops.
 *
 * <p>Start reading at {@link ferro.benchmarks.CollectiveBench}, the program of one rank; {@link ferro.benchmarks.Sweep} is
 * its request, {@code Stopwatch} measures the time, and {@code MeasuredOperation} makes the calls and checks the results.
 *
 * <p>Code in this package does not know a back end: it uses only {@link ferro.group.ProcessGroup}, as a user's program does.
 * An operation is timed only after its result has been checked.
 */
package ferro.benchmarks;
