/**
 * Tests of state that several threads of a rank access at once, run by jcstress on the real objects of the package of the
 * same name.
 *
 * <p>Start at {@link ferro.collectives.engine.CompletionAgainstAbort}; {@code Alone} is the fixture of the other tests. {@code
 * ferro.integration.StressTest} runs them, never a plain build.
 *
 * <p>Nothing here may wait for another actor.
 */
package ferro.collectives.engine;
