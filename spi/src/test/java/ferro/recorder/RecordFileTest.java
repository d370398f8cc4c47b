package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RecordFileTest {
    @TempDir
    private Path folder;

    private final RecordFile file = new RecordFile(new FlightRecorder.RecorderOwner("night", 1, 2, Optional.empty()));
    private final CountDownLatch begun = new CountDownLatch(1);

    @Test
    void aMissingFolderIsCreatedForItsOwnerOnly() throws IOException {
        Path missing = folder.resolve("removed/while/running");

        Path written = file.write(missing, () -> "{}");

        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(written.getParent())));
    }

    private Thread writing(String content, Runnable before) {
        return new Thread(() -> {
            try {
                file.write(folder, () -> {
                    before.run();
                    return content;
                });
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        });
    }

    private static void awaitEndOrLock(Thread thread) {
        while (thread.getState() != Thread.State.TERMINATED && thread.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aSlowWriterDoesNotReplaceANewerRecord() throws Exception {
        Thread newer = writing("newer", () -> {});
        Thread slow = writing("older", () -> {
            begun.countDown();
            awaitEndOrLock(newer);
        });
        slow.start();
        begun.await();
        newer.start();
        slow.join();
        newer.join();

        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of(folder.resolve("ferro-night-rank1.json")), files.toList());
        }
        assertEquals("newer", Files.readString(folder.resolve("ferro-night-rank1.json")));
    }
}
