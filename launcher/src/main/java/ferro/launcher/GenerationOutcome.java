package ferro.launcher;

import ferro.launcher.input.ExitCode;
import ferro.launcher.nodes.LostNode;
import ferro.launcher.output.FailureBox;
import ferro.launcher.output.Screen;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.util.ArrayList;
import java.util.List;

/**
 * The conclusion about a generation: its end, as the launcher prints it, and the next action. All nodes get the
 * conclusion of node 0.
 *
 * @param code       exit code of the launcher
 * @param notes      lines that the launcher prints first
 * @param box        failure report, printed last; null without a report
 * @param cause      what ended the ranks, in a few words
 * @param kind       kind of the end
 * @param next       line that each launcher prints before all ranks start again; null if the job ends
 * @param waitMillis rest of the wait between the failure and the next start; 0 if the job ends
 * @param past       one line for each generation until now; empty for a job that ends with its only generation
 */
record GenerationOutcome(
        int code,
        List<String> notes,
        FailureBox box,
        String cause,
        EndReason kind,
        String next,
        long waitMillis,
        List<String> past) {
    GenerationOutcome(int code, List<String> notes, FailureBox box, String cause, EndReason kind) {
        this(code, notes, box, cause, kind, null, 0, List.of());
    }

    /** The reasons for the end of the ranks. */
    enum EndReason {
        /** Every rank ended by itself with exit code 0. */
        WELL,
        /** A rank or a node failed. */
        FAILED,
        /** A signal to a launcher, or the reader of its output, ended the ranks. */
        ASKED
    }

    /**
     * Makes the conclusion from the ends of the ranks.
     *
     * @param postmortem      analysis of all nodes that have reported how their ranks ended
     * @param lost            nodes that have not reported
     * @param startedNanos    time at which the job started, on the same clock as the ends of the ranks
     * @param saysWhatIsWrong whether exit code 2 means that rank 0 has printed the error in the user's input
     */
    static GenerationOutcome of(
            Postmortem postmortem, List<LostNode> lost, long startedNanos, boolean saysWhatIsWrong) {
        JobOutcome outcome = postmortem.outcome();
        if (outcome.signal() != null) {
            return signalled(postmortem, lost, outcome.signal());
        }
        if (outcome.unshown() != null) {
            String why =
                    "the output of the ranks can no longer be shown (" + outcome.unshown() + "): the job was stopped";
            List<String> notes = new ArrayList<>(List.of(why));
            lost.forEach(one -> notes.add(one.said()));
            return new GenerationOutcome(ExitCode.OUTPUT_CLOSED, notes, null, "the output was closed", EndReason.ASKED);
        }
        if (!lost.isEmpty() && !postmortem.blamesARankThatItSaw()) {
            double seconds = (System.nanoTime() - startedNanos) / 1e9;
            String cause = "node " + lost.get(0).entry().node() + " is lost: "
                    + lost.get(0).why();
            return new GenerationOutcome(
                    ExitCode.FAILED, List.of(), postmortem.box(lost, seconds), cause, EndReason.FAILED);
        }
        if (outcome.failures().isEmpty()) {
            return new GenerationOutcome(
                    ExitCode.OK, List.of(), null, "all ranks ended with exit code 0", EndReason.WELL);
        }
        JobEvent.RankEndEvent first = postmortem.first();
        boolean explained = saysWhatIsWrong
                && first.code() == ExitCode.BAD_INPUT
                && outcome.stopped().isEmpty();
        FailureBox box = explained ? null : postmortem.box((first.atNanos() - startedNanos) / 1e9);
        return new GenerationOutcome(postmortem.code(), List.of(), box, postmortem.cause(), EndReason.FAILED);
    }

    private static GenerationOutcome signalled(Postmortem postmortem, List<LostNode> lost, String signal) {
        List<String> notes = new ArrayList<>(List.of("ended by signal " + signal + ", passed on to all ranks"));
        lost.forEach(one -> notes.add(one.said()));
        postmortem
                .places()
                .folders()
                .values()
                .forEach(folder -> notes.add("recordings that ranks wrote before are kept: "
                        + Invocation.ofProcess().line("analyze", folder)));
        boolean failed = !lost.isEmpty() || !postmortem.outcome().failures().isEmpty();
        int code = failed ? ExitCode.ofSignal(signal) : ExitCode.OK;
        return new GenerationOutcome(code, notes, null, "ended by signal " + signal, EndReason.ASKED);
    }

    /** Returns this conclusion with lines that the launcher prints before its notes. */
    GenerationOutcome after(List<String> lines) {
        List<String> all = new ArrayList<>(lines);
        all.addAll(notes);
        return new GenerationOutcome(code, all, box, cause, kind);
    }

    /** Returns this conclusion with a next action. The action is to start another generation or to end the job. */
    GenerationOutcome followed(String line, long millis, List<String> generations) {
        return new GenerationOutcome(code, notes, box, cause, kind, line, millis, generations);
    }

    /** Returns the list of generations as the end of a job prints it; empty if {@code past} is empty. */
    static List<String> listed(List<String> past) {
        List<String> lines = new ArrayList<>();
        past.forEach(line -> lines.add("  " + line));
        if (!past.isEmpty()) {
            lines.add(0, "the job had these generations:");
        }
        return lines;
    }

    /**
     * Returns this conclusion with the list of generations. The list is in the failure report, or below the notes if
     * there is no report.
     */
    GenerationOutcome ofJob() {
        List<String> lines = listed(past);
        if (lines.isEmpty()) {
            return this;
        }
        List<String> all = new ArrayList<>(notes);
        if (box == null) {
            all.addAll(lines);
        }
        return new GenerationOutcome(code, all, box == null ? null : box.with(lines), cause, kind);
    }

    /** Whether all ranks are started again. */
    boolean restarts() {
        return next != null;
    }

    /** Whether every rank ended by itself with exit code 0. */
    boolean well() {
        return kind == EndReason.WELL;
    }

    /** Whether a rank or a node failed, so that a restart may help. */
    boolean failed() {
        return kind == EndReason.FAILED;
    }

    /** Prints the notes and the failure report. */
    void show(Screen screen) {
        notes.forEach(screen::note);
        if (box != null) {
            screen.tell(box.lines(screen.columns(FailureBox.MOST_COLUMNS)));
        }
    }
}
