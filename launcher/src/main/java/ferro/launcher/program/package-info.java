/**
 * The program that every rank runs: a command, a main class, a source file, or a command of ferro itself.
 *
 * <p>Start reading at {@code LaunchTarget}. A target is checked when it is created, before any rank starts.
 */
package ferro.launcher.program;
