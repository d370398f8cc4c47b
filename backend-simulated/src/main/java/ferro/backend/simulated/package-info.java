/**
 * Ranks inside one JVM, over channels in memory, without sockets and configuration.
 *
 * {@snippet file="ferro/examples/snippets/PackageSnippetsTest.java" region="simulated" :
 *
 * ExecutorService threads = Executors.newFixedThreadPool(4);
 * List<Future<Float>> sums = new ArrayList<>();
 * for (SimulatedBackend rank : SimulatedBackend.createGroup(4)) {
 *     sums.add(threads.submit(() -> {
 *         float[] number = {rank.rank()};
 *         try (ProcessGroup group = ProcessGroup.of(rank)) {
 *             group.allReduce(number, ReduceOp.SUM);
 *         }
 *         return number[0];
 *     }));
 * }
 * }
 *
 * <p>Start reading at {@link ferro.backend.simulated.SimulatedBackend}, then {@code SimulatedTransport} and
 * {@code LaneQueue}. A rank copies or combines straight from the sender's memory. Two media move the same channels:
 * {@code ThreadedMedium} at once, and {@code SeededMedium} after delays drawn from a seed, under a virtual clock.
 *
 * <p>Code in this package opens no socket, does not read the environment, and makes no thread or link before it is used.
 */
package ferro.backend.simulated;
