/**
 * Rules for jobs that start again after a failure ({@code ferro run --restarts}).
 *
 * <p>Start reading at {@link ferro.launcher.restarts.RestartRules}: it says after each failure whether the job starts again,
 * and when. {@code PastGenerations} keeps what the end of the job prints about each generation. docs/decisions/0058 gives
 * the reasons.
 *
 * <p>Nothing here starts a process, waits, prints, or talks to another launcher.
 */
package ferro.launcher.restarts;
