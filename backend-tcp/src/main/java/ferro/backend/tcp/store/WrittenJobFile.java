package ferro.backend.tcp.store;

import ferro.FerroException.Where;
import ferro.backend.tcp.store.JobAddressFile.JobFileContent;
import ferro.spi.ExitTask;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * A job file that this rank has written. The file is removed when all ranks have joined, the port closes, or the JVM
 * exits.
 */
final class WrittenJobFile {
    private final JobAddressFile file;
    private final JobFileContent entry;
    private ExitTask.Handle atExit;
    private boolean removed;

    private WrittenJobFile(JobAddressFile file, JobFileContent entry) {
        this.file = file;
        this.entry = entry;
    }

    static WrittenJobFile write(JobAddressFile file, JobFileContent entry, RankContext context, Where where) {
        WrittenJobFile written = new WrittenJobFile(file, entry);
        synchronized (written) {
            written.atExit = context.atExit(ExitTask.Stage.GROUPS, exit -> written.remove());
            try {
                file.write(entry, where);
            } catch (RuntimeException failure) {
                written.atExit.cancel();
                throw failure;
            }
        }
        JobFileCleaner.sweep(file.folder(), System.currentTimeMillis(), where);
        PlainLoggers.write(
                "ferro.join",
                Level.INFO,
                "ranks find each other through the job file " + file.path() + " until all have joined");
        return written;
    }

    /**
     * Removes the file, unless another start has replaced it; idempotent. Event loops must not call this method,
     * because the file may be on a network file system.
     */
    synchronized void remove() {
        if (removed) {
            return;
        }
        removed = true;
        try {
            file.remove(entry);
        } catch (IOException failure) {
            PlainLoggers.write(
                    "ferro.join",
                    Level.WARNING,
                    "the job file " + file.path() + " cannot be removed (" + failure
                            + "): it contains the secret of this start");
        }
        atExit.cancel();
    }
}
