package ferro.recorder;

import ferro.recorder.RecordedGroup.Failed;
import ferro.spi.ExitTask;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;

/**
 * The folder of {@code ferro.recorder.dir}, and the thread that writes there: when a group has failed, when what is known of the
 * failure has changed, and when somebody asks by a file. Nobody waits for it but the end of the JVM, and whoever closes the last
 * group.
 */
final class RecordFolder {
    static final String REQUEST = "dump.request";

    private static final long LOOK_MILLIS = 500;
    /** More is learned of a failure soon after it: one file has it all. */
    private static final long GATHER_MILLIS = 20;
    /** The operations of a failed group end within the turn of whoever drives; a file without their ends says less. */
    private static final long SETTLE_MILLIS = 100;

    private static final long JOIN_MILLIS = 2000;
    private static final System.Logger LOG = System.getLogger("ferro.recorder");

    private final Path folder;
    private final FlightRecorder recorder;
    private final Thread writer;
    private ExitTask.Handle atExit;
    private FileTime answered;
    private boolean woken;
    private boolean closed;

    private RecordFolder(Path folder, FlightRecorder recorder) {
        this.folder = folder;
        this.recorder = recorder;
        this.answered = requested();
        this.writer = new Thread(this::run, "ferro-recorder-" + recorder.owner().rank());
        this.writer.setDaemon(true);
    }

    /** Makes the folder if it is not there, and sees whether it can be written. */
    static RecordFolder open(String text, FlightRecorder recorder) {
        try {
            Path folder = Files.createDirectories(Path.of(text).toAbsolutePath());
            Files.delete(Files.createTempFile(folder, ".ferro", ".probe"));
            return new RecordFolder(folder, recorder);
        } catch (IOException | InvalidPathException | SecurityException refused) {
            throw new IllegalArgumentException(
                    Settings.RECORDER_DIR.name() + "=" + text + " cannot be written (" + refused
                            + "): name a folder that this process can write, or unset it",
                    refused);
        }
    }

    void start(RankContext context) {
        atExit = context.atExit(ExitTask.Stage.RECORDINGS, exit -> finish());
        writer.start();
    }

    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    void close() {
        finish();
        if (atExit != null) {
            atExit.cancel();
        }
    }

    /** Has the writer write what is not written yet, and end; a disk that does not answer is not waited for. */
    private void finish() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        try {
            writer.join(JOIN_MILLIS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (pause()) {
            writeFailures();
            FileTime asked = requested();
            if (asked != null && !asked.equals(answered)) {
                answered = asked;
                write("request");
            }
        }
        writeFailures();
    }

    /** Trouble with one file does not end the thread: the next one may be well. */
    private void writeFailures() {
        try {
            writeNewFailures();
        } catch (RuntimeException | Error broken) {
            complain(broken);
        }
    }

    private synchronized boolean pause() {
        try {
            if (!woken && !closed) {
                wait(LOOK_MILLIS);
            }
            if (woken && !closed) {
                wait(GATHER_MILLIS);
            }
        } catch (InterruptedException interrupted) {
            closed = true;
        }
        woken = false;
        return !closed;
    }

    private FileTime requested() {
        try {
            Path request = folder.resolve(REQUEST);
            return Files.exists(request) ? Files.getLastModifiedTime(request) : null;
        } catch (IOException gone) {
            return null;
        }
    }

    /** Writes if a group has failed and the file does not say so yet, or says something else. */
    private void writeNewFailures() {
        GroupRecorder failed = null;
        for (GroupRecorder group : recorder.groups()) {
            Failed failure = group.failure();
            if (failure != null && !group.isWritten(failure)) {
                awaitEnds(group);
                group.written(failure);
                failed = failed == null ? group : failed;
            }
        }
        if (failed != null) {
            write("first failure of group " + failed.name());
        }
    }

    private void awaitEnds(GroupRecorder group) {
        long until = System.nanoTime() + SETTLE_MILLIS * 1_000_000;
        try {
            while (recorder.hasOpenOperations(group) && System.nanoTime() - until < 0) {
                Thread.sleep(1);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void write(String reason) {
        try {
            recorder.write(folder, reason);
        } catch (IOException | RuntimeException | Error failure) {
            complain(failure);
        }
    }

    private void complain(Throwable failure) {
        int rank = recorder.owner().rank();
        LOG.log(
                Level.WARNING,
                "rank " + rank + " cannot write its flight recorder to " + folder + ": " + failure,
                failure);
    }
}
