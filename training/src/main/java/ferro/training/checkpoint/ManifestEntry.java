package ferro.training.checkpoint;

import java.util.Map;

/**
 * A file of a checkpoint, as the manifest lists it.
 *
 * @param file     the name of the file in the folder of the checkpoint
 * @param bytes    the length of the file in bytes
 * @param checksum the CRC-32C of the bytes
 * @param rank     the rank that wrote the file
 */
record ManifestEntry(String file, long bytes, long checksum, int rank) {

    static ManifestEntry of(JsonObjectFields fields) {
        return new ManifestEntry(
                ObjectNames.checkFile(fields.source(), fields.string("file")),
                fields.count("bytes"),
                fields.count("crc32c"),
                fields.small("rank"));
    }

    Map<String, Object> fields() {
        return Map.of("file", file, "bytes", bytes, "crc32c", checksum, "rank", rank);
    }
}
