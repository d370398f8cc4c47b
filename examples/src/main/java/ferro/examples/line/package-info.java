/**
 * The program of docs/training.md, in which several ranks learn a line, save a checkpoint, and resume from it.
 *
 * <p>Start at {@link ferro.examples.line.LineTraining}. The page shows the parts of this program in order. The program
 * needs no other framework.
 */
package ferro.examples.line;
