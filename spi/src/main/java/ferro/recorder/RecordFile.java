package ferro.recorder;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The file of one recorder. The file is written under a temporary name and then renamed, so that no reader sees an
 * incomplete file. The file never replaces the file of another recorder, because the other file may contain a first
 * failure. For example, a rank that leaves and joins again may find a file of its earlier recorder. Thread-safe.
 */
final class RecordFile {
    private static final int NAME_CHARACTERS = 64;
    /**
     * Maximum number of files of one rank in a folder. When a rank has the maximum number of files, the last file is
     * overwritten.
     */
    private static final int MOST = 16;

    private final FlightRecorder.RecorderOwner owner;
    private final Map<Path, FolderFile> files = new ConcurrentHashMap<>();

    /**
     * The file that records are written to in one folder. Threads lock this object and write one after another, so that
     * the file has the newest record.
     */
    private static final class FolderFile {
        private String name;
    }

    RecordFile(FlightRecorder.RecorderOwner owner) {
        this.owner = owner;
    }

    Path write(Path folder, Supplier<String> content) throws IOException {
        FolderFile own = files.computeIfAbsent(folder.toAbsolutePath().normalize(), key -> new FolderFile());
        synchronized (own) {
            return write(folder, own, content);
        }
    }

    private Path write(Path folder, FolderFile own, Supplier<String> content) throws IOException {
        RecordFolder.create(folder);
        String writer =
                ProcessHandle.current().pid() + "-" + Thread.currentThread().getId();
        Path unfinished = folder.resolve("." + name(1) + "." + writer + ".tmp");
        Files.deleteIfExists(unfinished);
        try {
            // CREATE_NEW: a symbolic link that another user has created is not followed
            Files.writeString(unfinished, content.get(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            Path file = own.name == null ? moveToFree(unfinished, folder) : move(unfinished, folder.resolve(own.name));
            own.name = file.getFileName().toString();
            return file;
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    private Path moveToFree(Path from, Path folder) throws IOException {
        for (int number = 1; number < MOST; number++) {
            try {
                return Files.move(from, folder.resolve(name(number)));
            } catch (FileAlreadyExistsException taken) {
                continue;
            }
        }
        return move(from, folder.resolve(name(MOST)));
    }

    private static Path move(Path from, Path to) throws IOException {
        try {
            return Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException unusual) {
            return Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /**
     * Returns the file name. The user chooses the name of the job, so characters that could form a path are replaced.
     */
    private String name(int number) {
        String job = owner.job().replaceAll("[^A-Za-z0-9_-]", "_");
        String cut = job.length() <= NAME_CHARACTERS ? job : job.substring(0, NAME_CHARACTERS);
        return "ferro-" + cut + (number == 1 ? "" : "." + number) + "-rank" + owner.rank() + ".json";
    }
}
