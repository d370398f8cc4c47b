/**
 * Tests of state that several threads of a rank access at once, run by jcstress on the real objects of the package of the
 * same name.
 *
 * <p>Start at {@link ferro.collectives.engine.CompletionAgainstAbort}; {@code Alone} is the fixture of the other tests. They
 * are run by {@code -Pdrill}, never by a plain build.
 *
 * <p>Nothing here is published, and nothing here may wait for another actor.
 */
package ferro.collectives.engine;
