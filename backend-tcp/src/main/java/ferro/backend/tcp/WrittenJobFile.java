package ferro.backend.tcp;

import ferro.FerroException.Where;
import ferro.backend.tcp.JobFile.Entry;
import ferro.spi.ExitTask;
import ferro.spi.RankContext;
import java.io.IOException;
import java.lang.System.Logger.Level;

/** A job file that this rank has written: it goes once, when all have joined, with the port, or with the JVM. */
final class WrittenJobFile {
    private static final System.Logger LOG = System.getLogger("ferro.join");

    private final JobFile file;
    private final Entry entry;
    private ExitTask.Handle atExit;
    private boolean removed;

    private WrittenJobFile(JobFile file, Entry entry) {
        this.file = file;
        this.entry = entry;
    }

    static WrittenJobFile write(JobFile file, Entry entry, RankContext context, Where where) {
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
        OldJobFiles.sweep(file.folder(), System.currentTimeMillis(), where);
        LOG.log(Level.INFO, "the ranks meet by the job file " + file.path() + ", until all have joined");
        return written;
    }

    /** Removes it, unless it is another start's by now; idempotent. It may be on a network file system: not for a loop. */
    synchronized void remove() {
        if (removed) {
            return;
        }
        removed = true;
        try {
            file.remove(entry);
        } catch (IOException failure) {
            LOG.log(
                    Level.WARNING,
                    "the job file " + file.path() + " cannot be removed (" + failure + "): it has this start's secret");
        }
        atExit.cancel();
    }
}
