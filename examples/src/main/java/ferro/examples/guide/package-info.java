/**
 * The programs of docs/guide, docs/training.md and docs/objects.md, each in one file without a name of another class of this package.
 *
 * <p>Start at {@code BroadcastSettings}. A page shows a program without its package and Javadoc, so that a reader can save the program as
 * a file and run the file with {@code ./ferro run}. A program of the first hour has at most 15 lines.
 */
package ferro.examples.guide;
