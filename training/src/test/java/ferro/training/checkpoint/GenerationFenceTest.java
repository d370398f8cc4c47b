package ferro.training.checkpoint;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Medium;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A rank of an earlier generation that wakes up after a stop publishes nothing, over real files. */
class GenerationFenceTest {
    @TempDir
    private Path folder;

    /** Both generations list the same owners, so both make the same attempt; the nonces say nothing. */
    @Tag("long")
    @RepeatedTest(10)
    void theLaterGenerationOwnsAFolderThatBothTakeAtOnce() throws IOException {
        List<SavingJob> later = new ArrayList<>();
        Overtaken stopped = new Overtaken(
                LocalStorage.at(folder), "publish latest-.*", () -> later.get(0).save(2));
        try (SavingJob first = new SavingJob(Medium.TCP, 2, stopped, "host-a", 1);
                SavingJob second = new SavingJob(Medium.TCP, 2, LocalStorage.at(folder), "host-b", 2)) {
            later.add(second);

            String refusal = first.refusal(1);

            assertTrue(refusal.matches(".* owner 1[.]1-\\w{8} \\(host host-a.*"), refusal);
            assertTrue(refusal.matches(".*: owner 1[.]2-\\w{8} \\(host host-b, .* saves there now.*"), refusal);
            assertTrue(refusal.endsWith("; generation 1 is over"), refusal);
            assertEquals(2, second.load());
            second.save(3);
            assertEquals(3, first.load());
        }
    }

    @Test
    void anEarlierGenerationThatNeverSavedCannotBecomeTheOwner() throws IOException {
        try (SavingJob first = new SavingJob(Medium.TCP, 2, LocalStorage.at(folder), "host-a", 0);
                SavingJob second = new SavingJob(Medium.TCP, 3, LocalStorage.at(folder), "host-b", 1)) {
            second.save(1);

            assertSays(first.refusal(2), "generation 0 of this job cannot save in " + folder, "host host-b");
            second.save(2);
            assertEquals(2, second.load());
        }
    }

    /** The earlier generation owns the folder, and is stopped in its next save. */
    @ParameterizedTest
    @ValueSource(strings = {"write step-2.*/model-0.*", "write step-2.*/checkpoint.json", "publish latest-.*"})
    void anEarlierOwnerThatResumesDuringASaveFails(String call) throws IOException {
        List<SavingJob> later = new ArrayList<>();
        Overtaken stopped =
                new Overtaken(LocalStorage.at(folder), call, () -> later.get(0).save(2));
        Runnable meanwhile = stopped.withdraw();
        try (SavingJob first = new SavingJob(Medium.TCP, 2, stopped, "host-a", 0)) {
            first.save(1);
            stopped.again(meanwhile);
            try (SavingJob second = new SavingJob(Medium.TCP, 2, LocalStorage.at(folder), "host-b", 1)) {
                later.add(second);
                assertEquals(1, second.load());

                String refusal = first.refusal(2);

                assertTrue(refusal.matches(".*: owner 2[.]1-.* saves there now; generation 0 is over"), refusal);
                assertEquals(2, first.load());
                second.save(3);
                assertEquals(3, first.load());
            }
        }
    }

    /** Its generation is 0 again. */
    @Test
    void aJobStartedByHandOwnsTheFolderOfARestartedJob() throws IOException {
        try (SavingJob restarted = new SavingJob(Medium.TCP, 2, LocalStorage.at(folder), "host-a", 2)) {
            restarted.save(1);
            try (SavingJob byHand = new SavingJob(Medium.TCP, 2, LocalStorage.at(folder), "host-b", 0)) {
                assertEquals(1, byHand.load());
                byHand.save(2);

                String refusal = restarted.refusal(3);

                assertTrue(
                        refusal.matches(".*: owner 2-.* saves there now; use a separate folder for each job"), refusal);
                assertEquals(2, restarted.load());
            }
        }
    }
}
