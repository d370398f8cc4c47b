/**
 * What several threads of a rank touch at once, run by jcstress on the real objects of the package of the same name.
 *
 * <p>Start at {@link ferro.collectives.CompletionAgainstAbort}; {@code Alone} is what the others are made of. Run by
 * {@code -Pdrill}, never by a plain build.
 *
 * <p>Nothing here is published, and nothing here may wait for another actor.
 */
package ferro.collectives;
