/**
 * The program of {@code ferro bench}, which times one collective over several sizes on every rank. The program checks
 * the results against plain loops.
 *
 * <p>Start reading at {@link ferro.benchmarks.CollectiveBench}, the program of one rank. {@link ferro.benchmarks.Sweep}
 * is the request, {@code Stopwatch} measures the time, and {@code MeasuredOperation} makes the calls and checks the
 * results.
 *
 * <p>Code in this package depends on no back end, and uses only {@link ferro.group.ProcessGroup}, as a user's program
 * does. An operation is timed only after its result has been checked.
 */
package ferro.benchmarks;
