package ferro.training.checkpoint;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The files of one checkpoint, which its manifest lists. All files exist and have the length in the manifest. */
final class StoredFiles {
    private final ObjectReader reader;
    private final String folder;
    private final Map<String, ManifestEntry> parts = new LinkedHashMap<>();

    /** Checks the files of a checkpoint. Throws an exception if a file is missing or has another length. */
    StoredFiles(CheckpointStorage storage, CheckpointManifest manifest) {
        reader = new ObjectReader(storage);
        folder = manifest.folder();
        Map<String, Long> lengths = reader.lengths(folder);
        List<String> problems = new ArrayList<>();
        for (ManifestEntry part : manifest.parts()) {
            Long length = lengths.get(part.file());
            if (length == null) {
                problems.add(name(part.file()) + ", the part of rank " + part.rank() + ", is missing in " + storage);
            } else if (length != part.bytes()) {
                problems.add(name(part.file()) + " has " + length + " bytes, need " + part.bytes());
            }
            parts.put(part.file(), part);
        }
        if (!problems.isEmpty()) {
            throw new CheckpointException("the checkpoint is incomplete: " + MessageFormatter.of(problems));
        }
    }

    /** Returns the object name of a file. */
    String name(String file) {
        return folder + "/" + file;
    }

    List<String> names() {
        return List.copyOf(parts.keySet());
    }

    /** Reads the header of a file. The file {@code source} contains the name of the file {@code file}. */
    PartFile open(String source, String file) {
        ManifestEntry part = parts.get(file);
        if (part == null) {
            throw new CheckpointException(source + " names the file \"" + MessageFormatter.shortened(file)
                    + "\", which is not listed in " + folder + "/" + ObjectNames.MANIFEST);
        }
        return PartFile.open(reader, folder, part);
    }

    /** Reads a JSON file. Throws an exception if the checksum of the file differs from the checksum in the manifest. */
    JsonObjectFields json(String file) {
        ManifestEntry part = parts.get(file);
        if (part == null) {
            throw new CheckpointException(name(ObjectNames.MANIFEST) + " does not list the file \"" + file + "\"");
        }
        ByteBuffer bytes = reader.small(name(file));
        refuseDamaged(name(file), bytes, part.checksum());
        return JsonCodec.read(name(file), bytes);
    }

    static void refuseDamaged(String name, ByteBuffer bytes, long expected) {
        long checksum = CheckpointManifest.checksum(bytes);
        if (checksum != expected) {
            throw new CheckpointException(name + " has checksum " + ObjectReader.hex(checksum) + ", need "
                    + ObjectReader.hex(expected) + ": the file is damaged");
        }
    }

    ObjectReader reader() {
        return reader;
    }
}
