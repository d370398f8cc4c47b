/**
 * Finds the launcher that has started this process, the rank of the process, and how the ranks of its job find each
 * other.
 *
 * <p>Start reading at {@link ferro.job.JobFinder}, which makes a {@link ferro.job.RankOfJob} from the variables that a
 * launcher has set. The back end decides how the ranks then meet.
 *
 * <p>Nothing here opens a socket or reads the environment: variables come as a map, and other facts, such as the name of
 * the host, come from {@link ferro.job.Surroundings}.
 */
package ferro.job;
