/**
 * Reads the flight recordings of a job's ranks, and determines which rank is to blame.
 *
 * <p>Start reading at {@link ferro.launcher.analyze.Analysis}. An {@code Analysis} turns files into {@code
 * RankRecording}s, whose clocks {@code MergedRecordings} aligns. {@code VerdictFinder} finds a {@code Verdict} by the
 * rules of {@code ferro.control.failure}. {@code VerdictFormatter} forms sentences from the verdict. {@code TextReport} and
 * {@code HtmlReport} show the complete analysis.
 *
 * <p>The files come from other processes and perhaps from other users. Code in this package trusts no data in the
 * files, and cleans all text before the text is shown. The package starts no process, opens no socket and changes no
 * recording.
 */
package ferro.launcher.analyze;
