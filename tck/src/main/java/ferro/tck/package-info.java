/**
 * JUnit tests of the contract that every back end keeps. A class that extends {@link ferro.tck.BackendContract} and
 * implements {@code createGroup} runs all tests of the contract.
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
 *         return Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, ABORT_ACROSS_RANKS);
 *     }
 * }
 * }
 *
 * <p>Start at {@link ferro.tck.BackendContract}. docs/contract.md has each rule with its number and the name of its
 * test. {@link ferro.tck.Ranks} runs code on every rank and records every failure.
 *
 * <p>No class of this package depends on a back end, waits without a time limit, or reads the environment.
 */
package ferro.tck;
