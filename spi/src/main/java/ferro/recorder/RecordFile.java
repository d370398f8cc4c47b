package ferro.recorder;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;

/** The file of one rank: written beside its place, then moved there, so that nobody reads half of it. */
final class RecordFile {
    private static final int NAME_CHARACTERS = 64;

    private RecordFile() {}

    static Path write(Path folder, FlightRecorder.Owner owner, Supplier<String> content) throws IOException {
        Files.createDirectories(folder);
        String name = name(owner);
        String writer =
                ProcessHandle.current().pid() + "-" + Thread.currentThread().getId();
        Path unfinished = folder.resolve("." + name + "." + writer + ".tmp");
        Files.deleteIfExists(unfinished);
        try {
            // a new file only: no link that somebody put there is followed
            Files.writeString(unfinished, content.get(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            return move(unfinished, folder.resolve(name));
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    private static Path move(Path from, Path to) throws IOException {
        try {
            return Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (AtomicMoveNotSupportedException unusual) {
            return Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** A job's name is whatever its user chose: no path may come of it. */
    private static String name(FlightRecorder.Owner owner) {
        String job = owner.job().replaceAll("[^A-Za-z0-9_-]", "_");
        String cut = job.length() <= NAME_CHARACTERS ? job : job.substring(0, NAME_CHARACTERS);
        return "ferro-" + cut + "-rank" + owner.rank() + ".json";
    }
}
