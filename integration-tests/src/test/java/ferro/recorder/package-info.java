/**
 * Tests of the flight recorder's state that threads of a rank and the writer of its file access at once, run by jcstress.
 *
 * <p>Start at {@link ferro.recorder.ReadWhileReplaced}. Nothing here may wait for another actor.
 */
package ferro.recorder;
