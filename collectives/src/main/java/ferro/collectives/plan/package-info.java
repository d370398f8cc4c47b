/**
 * Plans and the algorithms that make plans. A plan describes the steps of one rank in one collective as data. Each
 * algorithm is written once for all transports.
 *
 * <p>An algorithm is a pure function from rank, world size and, for some collectives, root to a
 * {@link ferro.collectives.plan.Plan}. Start reading at {@code Plan}, then {@link ferro.collectives.plan.RingPlans}.
 * {@link ferro.collectives.plan.Algorithm} is the table of all algorithms, and
 * {@link ferro.collectives.plan.AlgorithmChooser} chooses the algorithm of an operation. The tests of this package have
 * PlanVerifier, which proves that the plans of all ranks together are correct. Byte counts in the comments are the
 * bytes that one rank sends, for {@code n} bytes per operation and {@code p} ranks.
 *
 * <p>No code in this package opens a socket, starts a thread, blocks, logs, reads a file or the environment, or sees a
 * tensor. Only the choice of an algorithm uses byte counts.
 */
package ferro.collectives.plan;
