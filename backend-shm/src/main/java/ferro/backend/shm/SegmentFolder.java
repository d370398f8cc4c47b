package ferro.backend.shm;

import ferro.spi.LinuxFiles;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The folder in which this rank creates segments.
 *
 * @param folder  folder that holds the files
 * @param process this process
 * @param host    name of the host of this rank: {@code ferro.host}, or the boot of the machine and the file system of
 *     the folder
 * @param mapper  mapper of this JDK
 */
record SegmentFolder(Path folder, ProcessIdentity process, String host, FileMapper mapper) {
    /** Returns why no segment can be created in the folder; empty if segments can be created. */
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
     * Reads the facts about the folder and this process from the system.
     *
     * @throws IOException if the system is not Linux, or the folder does not exist
     */
    static SegmentFolder of(RankContext context) throws IOException {
        Path folder = Path.of(Settings.SHM_DIR.of(context));
        ProcessIdentity process = ProcessIdentity.in(LinuxFiles.HOST);
        long device = FileStat.of(folder).device();
        String host = Settings.HOST.find(context).orElse("boot " + process.boot() + ", file system " + device);
        return new SegmentFolder(folder, process, host, FileMapper.ofThisJdk());
    }

    /** Returns whether the files of the folder use memory, and not only disk space. */
    boolean isInMemory() throws IOException {
        return Files.getFileStore(folder).type().equals("tmpfs");
    }

    /** Returns the number of bytes that can still be written to the folder; {@link Long#MAX_VALUE} without a limit. */
    long freeBytes() throws IOException {
        var store = Files.getFileStore(folder);
        // tmpfs without a limit reports 0 (tmpfs(5), size=0)
        return store.getTotalSpace() == 0 ? Long.MAX_VALUE : store.getUsableSpace();
    }
}
