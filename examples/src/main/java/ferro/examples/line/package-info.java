/**
 * The program of docs/training.md: several ranks learn a line, save, and go on.
 *
 * <p>Start at {@link ferro.examples.line.LineTraining}. The page shows its parts in their order; nothing here needs another framework.
 */
package ferro.examples.line;
