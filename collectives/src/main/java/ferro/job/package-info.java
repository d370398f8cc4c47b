/**
 * The search for the launcher that has started this process, for the rank of the process, and for the address by which
 * the ranks of its job find each other.
 *
 * <p>Start reading at {@link ferro.job.JobFinder}, which makes a {@link ferro.job.RankOfJob} from the variables that a
 * launcher has set. The back end then connects the ranks.
 *
 * <p>No code in this package opens a socket or reads the environment. Variables come as a map. Other facts, such as the
 * name of the host, come from {@link ferro.job.HostFacts}.
 */
package ferro.job;
