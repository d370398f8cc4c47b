/**
 * Ranks inside one JVM, connected by channels in memory. Simulated ranks need no sockets and no configuration.
 *
 * {@snippet file="ferro/examples/snippets/SimulatedRanksSnippetsTest.java" region="run" :
 *
 * SimulatedBackend.run(3, group -> {
 *     float[] gradient = {group.rank() + 1, 10};
 *     group.allReduce(gradient, ReduceOp.SUM);
 *     assertArrayEquals(new float[] {6, 30}, gradient);
 * });
 * }
 *
 * <p>Start reading at {@link ferro.backend.simulated.SimulatedBackend}, then {@code SimulatedTransport} and
 * {@code LinkQueue}. A rank copies or combines directly from the sender's memory. Two media use the same channels.
 * {@code ThreadedMedium} delivers at once. {@code SeededMedium} delivers after delays that are drawn from a seed, under
 * a virtual clock.
 *
 * <p>Code in this package opens no socket, and does not read the environment. This package creates threads and links
 * when they are needed.
 */
package ferro.backend.simulated;
