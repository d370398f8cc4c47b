/**
 * A training in which several ranks learn a line, save a checkpoint, and resume from it.
 *
 * <p>Start at {@link ferro.examples.line.LineTraining}. The program needs no other framework.
 */
package ferro.examples.line;
