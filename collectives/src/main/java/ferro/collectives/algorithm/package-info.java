/**
 * Collective algorithms, written once and run over any transport.
 *
 * <p>An algorithm here is a pure function from rank, world size and, if there is one, root to a
 * {@link ferro.collectives.plan.Plan}: it opens no socket, starts no thread and never sees a tensor. Start reading at
 * {@code Plan}, then {@link ferro.collectives.algorithm.RingAllReduce};
 * {@link ferro.collectives.algorithm.AlgorithmChoice} chooses. Bytes in the comments are those that one rank sends, for
 * {@code n} bytes per operation and {@code p} ranks.
 *
 * <p>Nothing in this package logs or reads the environment. Only {@code TunedRows} reads a file, and only the choice of an
 * algorithm uses byte counts.
 */
package ferro.collectives.algorithm;
