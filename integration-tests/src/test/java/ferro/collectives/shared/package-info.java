/**
 * Tests of what ranks that share memory write and read there at once, run by jcstress.
 *
 * <p>Start at {@link ferro.collectives.shared.ReuseWhileRead}. Nothing here may wait for another actor.
 */
package ferro.collectives.shared;
