/**
 * What threads of a rank and the writer of its file touch at once in the flight recorder, run by jcstress.
 *
 * <p>Start at {@link ferro.recorder.ReadWhileReplaced}. Nothing here is published, and nothing here may wait for another actor.
 */
package ferro.recorder;
