/**
 * Collective algorithms, written once and run over any transport.
 *
 * <p>An algorithm here is a pure function from rank, world size and, where there is one, root to a
 * {@link ferro.collectives.plan.Plan}: it opens no socket, starts no thread and never sees a tensor. Start reading at
 * {@code Plan}, then {@link ferro.collectives.algorithm.RingAllReduce}; {@link ferro.collectives.algorithm.AlgorithmChoice}
 * chooses. Bytes in the comments are those that one rank sends, for {@code n} bytes per operation and {@code p} ranks.
 *
 * <p>Nothing in this package blocks, logs, reads the environment or looks at byte counts, the table's choice excepted.
 */
package ferro.collectives.algorithm;
