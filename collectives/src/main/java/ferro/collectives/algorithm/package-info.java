/**
 * Collective algorithms, each written once for all transports.
 *
 * <p>An algorithm of this package is a pure function from rank, world size and, if there is one, root to a
 * {@link ferro.collectives.plan.Plan}. An algorithm opens no socket, starts no thread and never reads a tensor. Start
 * reading at {@code Plan}, then {@link ferro.collectives.algorithm.RingAllReduce};
 * {@link ferro.collectives.algorithm.AlgorithmChoice} chooses the algorithm of an operation. Byte counts in the
 * comments are the bytes that one rank sends, for {@code n} bytes per operation and {@code p} ranks.
 *
 * <p>Nothing in this package logs, reads a file or reads the environment. Only the choice of an algorithm uses byte
 * counts.
 */
package ferro.collectives.algorithm;
