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
 * The file of one recorder: written beside its place, then moved there, so that nobody reads half of it. It takes no other
 * recorder's place, as that may hold a first failure: a rank that leaves and joins again finds its own file of before. Thread-safe.
 */
final class RecordFile {
    private static final int NAME_CHARACTERS = 64;
    /** A folder that is never emptied holds so many files of a rank; then the last of them is written over. */
    private static final int MOST = 16;

    private final FlightRecorder.Owner owner;
    private final Map<Path, String> names = new ConcurrentHashMap<>();

    RecordFile(FlightRecorder.Owner owner) {
        this.owner = owner;
    }

    Path write(Path folder, Supplier<String> content) throws IOException {
        Files.createDirectories(folder);
        String writer =
                ProcessHandle.current().pid() + "-" + Thread.currentThread().getId();
        Path unfinished = folder.resolve("." + name(1) + "." + writer + ".tmp");
        Files.deleteIfExists(unfinished);
        try {
            // a new file only: no link that somebody put there is followed
            Files.writeString(unfinished, content.get(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            Path key = folder.toAbsolutePath().normalize();
            String own = names.get(key);
            Path file = own == null ? moveToFree(unfinished, folder) : move(unfinished, folder.resolve(own));
            names.put(key, file.getFileName().toString());
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

    /** A job's name is whatever its user chose: no path may come of it. */
    private String name(int number) {
        String job = owner.job().replaceAll("[^A-Za-z0-9_-]", "_");
        String cut = job.length() <= NAME_CHARACTERS ? job : job.substring(0, NAME_CHARACTERS);
        return "ferro-" + cut + (number == 1 ? "" : "." + number) + "-rank" + owner.rank() + ".json";
    }
}
