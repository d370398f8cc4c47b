/**
 * The {@code ferro} command: starts the ranks of a job, shows what they print, and ends them all when one fails.
 *
 * <p>Start reading at {@link ferro.launcher.FerroCommand}, then {@code Job}, which is one loop over events: a rank ended, a
 * signal came, all ranks have joined. The user's request is in {@code input}, the program of the ranks in {@code program},
 * their processes in {@code rank}, their output in {@code output}, and other hosts in {@code nodes}. The commands
 * {@code doctor} and {@code analyze} have packages with these names. Package {@code analyze} also diagnoses a failed job.
 *
 * <p>Code here may read the environment. A program that joins a group must not need anything from here: a job started by
 * another launcher sets the same variables and works the same. No secret may reach a command line or a message.
 */
package ferro.launcher;
