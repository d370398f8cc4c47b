/**
 * Reads the flight recordings of a job's ranks, and says which rank is to blame.
 *
 * <p>Start reading at {@link ferro.launcher.analyze.Analysis}: files become {@code RankRecording}s, {@code Merge} lines up their
 * clocks, {@code Investigation} comes to a {@code Verdict} by the rules of {@code ferro.control.failure}, {@code VerdictText}
 * makes its sentences, and {@code TextReport} and {@code HtmlReport} show all of it.
 *
 * <p>Files come from other processes and perhaps from other users. Nothing in them is trusted, and all text is cleaned
 * before it is shown. Nothing here starts a process, opens a socket or changes a recording.
 */
package ferro.launcher.analyze;
