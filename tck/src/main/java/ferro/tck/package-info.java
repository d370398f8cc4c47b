/**
 * The contract that every back end keeps, as JUnit tests: a class that extends {@link ferro.tck.BackendContract} and
 * names how a group is made runs all of them.
 *
 * <p>Start at {@link ferro.tck.BackendContract}; the rules stand in the interfaces it implements, each with the number it
 * has in docs/contract.md. {@link ferro.tck.Ranks} runs code on every rank and keeps every failure.
 *
 * <p>Nothing here knows a back end, waits without a bound, or reads the environment.
 */
package ferro.tck;
