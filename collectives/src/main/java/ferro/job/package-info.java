/**
 * Which launcher has started this process, which rank it is, and by what the ranks of its job find each other.
 *
 * <p>Start reading at {@link ferro.job.JobFinder}, which makes a {@link ferro.job.Job} of the variables that a launcher has set.
 * How the ranks then meet is the business of a back end.
 *
 * <p>Nothing here opens a socket or reads the environment: variables come as a map, and what they cannot tell, such as the
 * name of the host, comes by {@link ferro.job.Surroundings}.
 */
package ferro.job;
