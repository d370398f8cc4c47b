/**
 * The contract that every back end keeps, as JUnit tests. A class that extends {@link ferro.tck.BackendContract} and
 * implements how a group is made runs all of them.
 *
 * {@snippet file="ferro/examples/plain/QueueBackendContractTest.java" region="contract" :
 *
 * class QueueBackendContractTest extends BackendContract {
 *     @Override
 *     protected List<? extends Backend> createGroup(int worldSize) {
 *         return QueueBackend.createGroup(worldSize);
 *     }
 *
 *     @Override
 *     protected Set<String> declaredRefusals() {
 *         return Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, ABORT_ACROSS_RANKS);
 *     }
 * }
 * }
 *
 * <p>Start at {@link ferro.tck.BackendContract}. The rules are in the interfaces that it implements, each with its number in
 * docs/contract.md. {@link ferro.tck.Ranks} runs code on every rank and keeps every failure.
 *
 * <p>Nothing here knows a back end, waits without a bound, or reads the environment.
 */
package ferro.tck;
