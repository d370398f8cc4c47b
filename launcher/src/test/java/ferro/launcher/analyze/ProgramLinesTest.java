package ferro.launcher.analyze;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ferro.launcher.analyze.RecordedJob.TracedThread;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramLinesTest {
    private static final String SLEEPS = "Train.load at Train.java:88 (sleeping)";
    private static final String CALLS = "Train.step at Train.java:90";

    @TempDir
    private Path folder;

    private static RecordedJob waits() {
        RecordedJob job = new RecordedJob(3).calls(1, 4, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 5, RecordedJob.TEXT, 1));
        job.allBut(1)
                .forEach(rank -> job.stack(
                        rank, 7, "request", new TracedThread(RecordedJob.GROUP, CALLS, "Train.step(Train.java:90)")));
        return job;
    }

    private String text(RecordedJob job) throws Exception {
        return String.join("\n", job.analyzed(folder, job.allBut()).text());
    }

    @Test
    void theVerdictHasTheLineOfTheCulpritAndTheReportAllLines() throws Exception {
        RecordedJob job = waits();
        job.stack(
                1,
                5,
                "asked by a rank that waits",
                new TracedThread("", "Train.earlier at Train.java:1 (running)", "x"));
        job.stack(1, 7, "request", new TracedThread("", SLEEPS, "Train.load(Train.java:88)"));

        String text = text(job);

        assertHas(text, "; it is in no call of ferro: " + SLEEPS);
        assertHas(
                text,
                "\nlines of the program\n  ranks 0, 2: in a call of group \"tcp\": " + CALLS + "\n  rank 1: " + SLEEPS);
        assertFalse(text.contains("Train.earlier") || text.contains("its own code"), text);
    }

    @Test
    void theReportHasTheLinesOfTheFirstFailure() throws Exception {
        RecordedJob job = waits();
        job.stack(1, 6, "failure of group tcp", new TracedThread("", SLEEPS, "x"));
        job.stack(
                1, 7, "failure of group tcp[0, 1]", new TracedThread("", "Train.print at Train.java:2 (running)", "x"));
        job.stack(1, 8, "asked by a rank that waits", new TracedThread("", "Train.end at Train.java:3 (running)", "x"));

        assertHas(text(job), "; it is in no call of ferro: " + SLEEPS);
    }

    @Test
    void theReportNamesAThreadThatEndedOrHasNoLine() throws Exception {
        assertHas(
                text(waits().stack(1, 7, "request", new TracedThread("", "", ""))),
                "; it is in no call of ferro: the thread that joined has ended");
        assertHas(
                text(waits().stack(1, 7, "request", new TracedThread("", "", "java.lang.Object.wait(Object.java)"))),
                "; it is in no call of ferro: the thread that joined executes no code of the program");
    }

    @Test
    void aRecordingWithoutStacksShowsNoLines() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 4, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 5, RecordedJob.TEXT, 1));
        job.allBut().forEach(rank -> job.of(rank).remove("stacks"));

        String text = text(job);
        assertHas(text, "; it is in no call of ferro, but in its own code");
        assertLacks(text, "lines of the program");
    }
}
