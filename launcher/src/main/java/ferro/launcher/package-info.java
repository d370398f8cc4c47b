/**
 * The {@code ferro} command: starts the ranks of a job, shows what they print, and ends them all when one fails.
 *
 * <p>Start reading at {@link ferro.launcher.FerroCommand}, then {@code Job}, which is one loop over events: a rank ended, a
 * signal came, all ranks have joined. {@code Leash} is what makes every rank die with the launcher.
 *
 * <p>Here the environment may be read. Nothing here may be needed by a program that joins a group: a job started by
 * something else sets the same variables and works the same. No secret may reach a command line or a message.
 */
package ferro.launcher;
