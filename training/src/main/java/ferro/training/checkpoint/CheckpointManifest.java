package ferro.training.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * What stands in {@code checkpoint.json}: what a checkpoint says of itself, and its files. Whoever reads one knows that all files
 * were there when it was written.
 *
 * @param info what the checkpoint says of itself
 * @param parts its files but for this one
 */
record CheckpointManifest(CheckpointInfo info, List<StoredPart> parts) {
    private static final String FORMAT = "ferro-checkpoint";
    private static final long VERSION = 1;

    /** Reads the manifest of the folder of a step. */
    static CheckpointManifest parse(long step, String text) {
        String source = ObjectNames.folder(step) + "/" + ObjectNames.MANIFEST;
        JsonValues fields = StrictJson.read(source, text);
        refuseOther(fields);
        if (fields.number("step") != step) {
            throw new CheckpointException(source + ": need step " + step + ", found " + fields.number("step"));
        }
        List<StoredPart> parts =
                fields.objects("parts").stream().map(StoredPart::of).toList();
        Set<String> names = new HashSet<>();
        for (StoredPart part : parts) {
            if (!names.add(part.file())) {
                throw new CheckpointException(source + ": file \"" + part.file() + "\" stands twice");
            }
        }
        Map<String, String> metadata = fields.object("metadata").strings();
        return new CheckpointManifest(new CheckpointInfo(step, fields.small("worldSize"), metadata), parts);
    }

    private static void refuseOther(JsonValues fields) {
        String format = fields.string("format");
        if (!format.equals(FORMAT) || fields.number("version") != VERSION) {
            throw new CheckpointException(fields.source() + ": need format " + FORMAT + " version " + VERSION
                    + ", found " + Text.shortened(format) + " version " + fields.number("version"));
        }
    }

    String text() {
        Map<String, Object> fields = header();
        fields.put("step", info.step());
        fields.put("worldSize", info.worldSize());
        fields.put("metadata", new TreeMap<>(info.metadata()));
        fields.put("parts", parts.stream().map(StoredPart::fields).toList());
        return StrictJson.write(fields);
    }

    private static Map<String, Object> header() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("format", FORMAT);
        fields.put("version", VERSION);
        return fields;
    }

    /**
     * What stands in {@code latest.json}.
     *
     * @param step the step of the latest checkpoint
     * @param checksum CRC-32C of its manifest
     */
    record LatestStep(long step, long checksum) {

        static LatestStep parse(String source, ByteBuffer text) {
            JsonValues fields = StrictJson.read(source, text);
            refuseOther(fields);
            return new LatestStep(fields.count("step"), fields.count("crc32c"));
        }

        byte[] bytes() {
            Map<String, Object> fields = header();
            fields.put("step", step);
            fields.put("folder", ObjectNames.folder(step));
            fields.put("crc32c", checksum);
            return StrictJson.write(fields).getBytes(StandardCharsets.UTF_8);
        }
    }

    static long checksum(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.duplicate());
        return checksum.getValue();
    }
}
