/**
 * The {@code ferro} command: starts the ranks of a job, prints their output, and ends all ranks when one fails.
 *
 * <p>Start reading at {@link ferro.launcher.FerroCommand}, then {@code Job}. A job is one loop over events, for
 * example: a rank has ended, a signal has arrived, all ranks have joined. Package {@code input} has the user's request,
 * {@code program} the program of the ranks, {@code rank} the processes of the ranks, {@code output} the output of the
 * ranks, and {@code nodes} the communication with other nodes. The commands {@code doctor} and {@code analyze} have
 * packages with the names of the commands. Package {@code analyze} also diagnoses a failed job.
 *
 * <p>Code in this package may read the environment. A program that joins a group must not need anything from this
 * package. A job works in the same way under another launcher that sets the same variables. No secret may reach a
 * command line or a message.
 */
package ferro.launcher;
