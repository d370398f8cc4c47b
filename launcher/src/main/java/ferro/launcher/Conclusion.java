package ferro.launcher;

import ferro.launcher.input.ExitCode;
import ferro.launcher.nodes.LostNode;
import ferro.launcher.output.FailureBox;
import ferro.launcher.output.Screen;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor;
import java.util.ArrayList;
import java.util.List;

/**
 * How a job has ended, as its launcher prints it. It is the same on all nodes.
 *
 * @param code  exit code of the launcher
 * @param notes lines that the launcher itself prints
 * @param box   printed last; null if there is none
 * @param well  whether every rank ended with 0 by itself
 */
record Conclusion(int code, List<String> notes, FailureBox box, boolean well) {
    /**
     * Concludes from how the ranks ended.
     *
     * @param postmortem      of all nodes that have reported how their ranks ended
     * @param lost            nodes that have not reported
     * @param startedNanos    when the job started, on the same clock as the ends of the ranks
     * @param saysWhatIsWrong whether exit code 2 means that rank 0 has said what is wrong with what was typed
     */
    static Conclusion of(Postmortem postmortem, List<LostNode> lost, long startedNanos, boolean saysWhatIsWrong) {
        Supervisor.JobOutcome outcome = postmortem.outcome();
        if (outcome.signal().isPresent()) {
            return signalled(postmortem, lost, outcome.signal().get());
        }
        if (outcome.unshown().isPresent()) {
            String why = "the output of the ranks can no longer be shown ("
                    + outcome.unshown().get() + "): the job was stopped";
            List<String> notes = new ArrayList<>(List.of(why));
            lost.forEach(one -> notes.add(one.said()));
            return new Conclusion(ExitCode.OUTPUT_CLOSED, notes, null, false);
        }
        if (!lost.isEmpty() && !postmortem.blamesARankThatItSaw()) {
            double seconds = (System.nanoTime() - startedNanos) / 1e9;
            return new Conclusion(ExitCode.FAILED, List.of(), postmortem.box(lost, seconds), false);
        }
        if (outcome.failures().isEmpty()) {
            return new Conclusion(ExitCode.OK, List.of(), null, true);
        }
        JobEvent.Ended first = postmortem.first();
        boolean explained = saysWhatIsWrong
                && first.code() == ExitCode.BAD_INPUT
                && outcome.stopped().isEmpty();
        FailureBox box = explained ? null : postmortem.box((first.atNanos() - startedNanos) / 1e9);
        return new Conclusion(postmortem.code(), List.of(), box, false);
    }

    private static Conclusion signalled(Postmortem postmortem, List<LostNode> lost, String signal) {
        List<String> notes = new ArrayList<>(List.of("ended by signal " + signal + ", passed on to all ranks"));
        lost.forEach(one -> notes.add(one.said()));
        postmortem
                .places()
                .folders()
                .values()
                .forEach(folder -> notes.add("recordings that ranks wrote before are kept: "
                        + Invocation.ofProcess().line("analyze", folder)));
        boolean failed = !lost.isEmpty() || !postmortem.outcome().failures().isEmpty();
        return new Conclusion(failed ? ExitCode.ofSignal(signal) : ExitCode.OK, notes, null, false);
    }

    /** Returns this conclusion with lines that the launcher prints before its notes. */
    Conclusion after(List<String> lines) {
        List<String> all = new ArrayList<>(lines);
        all.addAll(notes);
        return new Conclusion(code, all, box, well);
    }

    /** Prints the notes and the box. */
    void show(Screen screen) {
        notes.forEach(screen::note);
        if (box != null) {
            screen.tell(box.lines(screen.columns(FailureBox.MOST_COLUMNS)));
        }
    }
}
