package ferro.recorder;

import ferro.spi.ExitTask;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The folder of {@code ferro.recorder.dir}, with the thread that writes to it. The thread writes a record when a group
 * has failed, when more facts about the failure are known, and when a file requests a record. The thread also writes a
 * record when the rank ends because a call has timed out, or by {@code System.exit} before the groups of the rank are
 * closed. Only the end of the JVM and the close of the last group wait for the thread.
 */
final class RecordFolder {
    static final String REQUEST = "dump.request";

    private static final long LOOK_MILLIS = 500;
    /**
     * Time that the thread waits after a failure. Soon after a failure, more facts about the failure are known. Because
     * of the wait, one file contains all facts that are known soon after the failure.
     */
    private static final long GATHER_MILLIS = 20;
    /**
     * Maximum wait for the operations of a failed group to end, so that the file contains their ends. The operations
     * end while the thread that makes progress holds the progress lock.
     */
    private static final long SETTLE_MILLIS = 100;

    /** Maximum wait for the writer thread, which may not run for seconds on a busy machine. */
    private static final long JOIN_NANOS = 10_000_000_000L;

    private static final System.Logger LOG = PlainLoggers.logger("ferro.recorder");

    private final Path folder;
    private final FlightRecorder recorder;
    private final Thread writer;
    private List<ExitTask.Handle> atExit = List.of();
    private FileTime answered;
    private boolean woken;
    private boolean closed;
    /** Whether the JVM exits without a signal. */
    private volatile boolean exits;
    /** Whether a file has the failure of a group. Only the writer thread uses this field. */
    private boolean wroteFailure;
    /** Whether the group had failed before the JVM exits. Only the writer thread uses this field. */
    private boolean failedBefore;
    /** Whether a warning has been logged. Only the writer thread uses this field. */
    private boolean complained;

    private RecordFolder(Path folder, FlightRecorder recorder) {
        this.folder = folder;
        this.recorder = recorder;
        this.answered = requested();
        this.writer = new Thread(this::run, "ferro-recorder-" + recorder.owner().rank());
        this.writer.setDaemon(true);
    }

    /** Creates the folder if it does not exist, and checks that it can be written. */
    static RecordFolder open(String text, FlightRecorder recorder) {
        try {
            Path folder = create(Path.of(text).toAbsolutePath());
            Files.delete(Files.createTempFile(folder, ".ferro", ".probe"));
            return new RecordFolder(folder, recorder);
        } catch (IOException | InvalidPathException | SecurityException refused) {
            throw new IllegalArgumentException(
                    Settings.RECORDER_DIR.name() + "=" + text + " cannot be written (" + refused
                            + "): name a folder that this process can write, or unset it",
                    refused);
        }
    }

    /**
     * Creates the folder for its owner alone, because records name hosts and programs. An existing folder stays as it
     * is.
     */
    static Path create(Path folder) throws IOException {
        boolean isPosix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
        FileAttribute<?>[] owner = isPosix
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
                }
                : new FileAttribute<?>[0];
        return Files.createDirectories(folder, owner);
    }

    void start(RankContext context) {
        // the first task runs before the groups are left, because a leave may make a group fail
        atExit = List.of(
                context.atExit(
                        ExitTask.Stage.DEVICES, exit -> exits = exit.signal().isEmpty()),
                context.atExit(ExitTask.Stage.RECORDINGS, exit -> finish(exit.untilNanos() - context.nanoTime())));
        writer.start();
    }

    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    void close() {
        finish(JOIN_NANOS);
        atExit.forEach(ExitTask.Handle::cancel);
    }

    /**
     * Makes the writer thread write pending failures and end. Waits for the thread at most for the longer of the given
     * time and two seconds, so that a disk that does not respond does not block the caller.
     */
    private void finish(long limitNanos) {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        try {
            writer.join(Math.max(2000, TimeUnit.NANOSECONDS.toMillis(limitNanos)));
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
        writeTimeout();
        writeExit();
    }

    /**
     * A holder of the line, initialised by the first rank that writes a file at the exit of the JVM. Later ranks do not
     * search again, because the search stops every thread.
     */
    private static final class ExitLineHolder {
        /** The line of the program that has called {@code System.exit}; empty if no line has called it. */
        private static final String LINE = line();

        private ExitLineHolder() {}

        private static String line() {
            for (StackTraceElement[] frames : Thread.getAllStackTraces().values()) {
                if (Arrays.stream(frames)
                        .anyMatch(frame -> frame.getClassName().equals("java.lang.Runtime")
                                && frame.getMethodName().equals("exit"))) {
                    return Arrays.stream(frames)
                            .filter(ProgramFrames::isOfTheProgram)
                            .findFirst()
                            .map(frame -> frame.getFileName() + ":" + frame.getLineNumber())
                            .orElse("");
                }
            }
            return "";
        }
    }

    /**
     * Writes a file if the program has called {@code System.exit} before it has closed its groups. Other ranks may
     * still need this rank, and the file shows where this rank ended.
     */
    private void writeExit() {
        if (exits && !failedBefore && !ExitLineHolder.LINE.isEmpty()) {
            write(FlightRecorder.EXIT_AT + ExitLineHolder.LINE);
        }
    }

    /**
     * Writes a file if the last operation of the rank has timed out. A send or receive that times out does not fail its
     * group, but the file shows which rank this rank waited for.
     */
    private void writeTimeout() {
        if (!wroteFailure && recorder.hasTimedOut()) {
            write("a call that timed out");
        }
    }

    /** Writes new failures. An error with one file does not end the thread, because a later file may succeed. */
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

    /**
     * Writes a file if a group has failed and the newest file lacks facts about the group. A missing fact is the
     * failure as known now, or a later operation or event.
     */
    private void writeNewFailures() {
        Map<GroupRecorder, GroupRecorder.FailureRecord> news = new LinkedHashMap<>();
        for (GroupRecorder group : recorder.groups()) {
            if (group.failure() != null && group.isNews()) {
                awaitEnds(group);
                news.put(group, group.failureRecord());
            }
        }
        if (!news.isEmpty()) {
            String first = news.keySet().iterator().next().name();
            if (write("first failure of group " + first)) {
                wroteFailure = true;
                failedBefore |= !exits;
                news.forEach(GroupRecorder::written);
            }
        }
    }

    private void awaitEnds(GroupRecorder group) {
        long until = System.nanoTime() + SETTLE_MILLIS * 1_000_000;
        try {
            while (!group.position().open().isEmpty() && System.nanoTime() - until < 0) {
                Thread.sleep(1);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean write(String reason) {
        try {
            recorder.write(folder, reason);
            complained = false;
            return true;
        } catch (IOException | RuntimeException | Error failure) {
            complain(failure);
            return false;
        }
    }

    /** Logs a warning once. A file that could not be written is tried again at each poll. */
    private void complain(Throwable failure) {
        int rank = recorder.owner().rank();
        Level level = complained ? Level.DEBUG : Level.WARNING;
        complained = true;
        LOG.log(level, "rank " + rank + " cannot write its flight record to " + folder + ": " + failure, failure);
    }
}
