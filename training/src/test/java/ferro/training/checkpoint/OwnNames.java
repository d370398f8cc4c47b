package ferro.training.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Names of objects without what differs in each run: the owner and the nonce of a temporary name. */
final class OwnNames {
    private OwnNames() {}

    /** Shortens names in a text: {@code step-3/model}, {@code latest.json}, {@code latest.json.tmp}. */
    static String shortened(String text) {
        return text.replaceAll("(step-[0-9]+|latest)-[0-9]+-[0-9a-f]{8}", "$1")
                .replaceAll("[.][0-9a-f]{8}[.]tmp", ".tmp");
    }

    /** Returns the name of the one object whose short name this is; of {@code latest.json} that of the owner. */
    static String of(MemoryStorage storage, String shortened) {
        List<String> found = storage.objects.keySet().stream()
                .filter(name -> shortened(name).equals(shortened) && !name.equals("latest.json"))
                .toList();
        if (found.size() != 1) {
            throw new AssertionError("need one object " + shortened + ", found " + found);
        }
        return found.get(0);
    }

    /** Returns the one folder of a step. */
    static Path folder(Path root, long step) {
        try (Stream<Path> all = Files.list(root)) {
            List<Path> found = all.filter(
                            path -> shortened(path.getFileName().toString()).equals("step-" + step))
                    .toList();
            if (found.size() != 1) {
                throw new AssertionError("need one folder of step " + step + ", found " + found);
            }
            return found.get(0);
        } catch (IOException failure) {
            throw new AssertionError("cannot list " + root, failure);
        }
    }
}
