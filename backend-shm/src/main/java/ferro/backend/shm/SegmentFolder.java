package ferro.backend.shm;

import ferro.spi.Proc;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The folder in which this rank makes segments.
 *
 * @param folder  folder that holds the files
 * @param process this process
 * @param host    host that this rank counts as being on
 * @param mapper  mapper of this JDK
 */
record SegmentFolder(Path folder, ThisProcess process, String host, Mapper mapper) {
    /** Returns why no segments can be made here; empty if they can. */
    static Optional<String> unusableBecause(RankContext context) {
        if (Settings.LINKS.of(context).equals("tcp")) {
            return Optional.of(Settings.LINKS.name() + "=tcp turns it off");
        }
        Path folder = Path.of(Settings.SHM_DIR.of(context));
        String setting = Settings.SHM_DIR.name() + "=" + folder;
        if (!folder.isAbsolute()) {
            return Optional.of(setting + " is not an absolute path");
        }
        if (!Files.isDirectory(folder)) {
            return Optional.of(setting + " is not a folder: name a folder of a file system in memory");
        }
        if (!Files.isWritable(folder)) {
            return Optional.of(
                    "cannot create a file in " + folder + ": name another folder by " + Settings.SHM_DIR.name());
        }
        try {
            of(context);
            return Optional.empty();
        } catch (IOException | RuntimeException unknown) {
            return Optional.of("processes cannot identify each other here, which needs /proc of Linux: " + unknown);
        }
    }

    /**
     * Reads the folder and this process from the system.
     *
     * @throws IOException if this is not Linux, or the folder is gone
     */
    static SegmentFolder of(RankContext context) throws IOException {
        Path folder = Path.of(Settings.SHM_DIR.of(context));
        ThisProcess process = ThisProcess.in(Proc.HOST);
        long device = FileFacts.of(folder).device();
        String host = Settings.HOST.find(context).orElse("boot " + process.boot() + ", file system " + device);
        return new SegmentFolder(folder, process, host, Mapper.ofThisJdk());
    }

    /** Returns whether files here take memory, and not only disk space. */
    boolean isInMemory() throws IOException {
        return Files.getFileStore(folder).type().equals("tmpfs");
    }

    /** Returns the bytes that can still be written; {@link Long#MAX_VALUE} if there is no limit. */
    long freeBytes() throws IOException {
        var store = Files.getFileStore(folder);
        // tmpfs without a limit reports 0 (tmpfs(5), size=0)
        return store.getTotalSpace() == 0 ? Long.MAX_VALUE : store.getUsableSpace();
    }
}
