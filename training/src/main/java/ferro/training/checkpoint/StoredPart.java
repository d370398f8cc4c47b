package ferro.training.checkpoint;

import java.util.Map;

/**
 * A file of a checkpoint.
 *
 * @param file its name in the folder of the checkpoint
 * @param bytes how long it is
 * @param checksum CRC-32C of its bytes
 * @param rank the rank that wrote it
 */
record StoredPart(String file, long bytes, long checksum, int rank) {

    static StoredPart of(JsonValues fields) {
        return new StoredPart(
                ObjectNames.checkFile(fields.source(), fields.string("file")),
                fields.count("bytes"),
                fields.count("crc32c"),
                fields.small("rank"));
    }

    Map<String, Object> fields() {
        return Map.of("file", file, "bytes", bytes, "crc32c", checksum, "rank", rank);
    }
}
