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
 * The content of {@code checkpoint.json}: the description of a checkpoint and the list of its files. The manifest is
 * written last. So all files of the checkpoint existed when the manifest was written.
 *
 * @param folder the folder of the manifest; the file itself does not contain the folder
 * @param info   the description of the checkpoint
 * @param parts  the files of the checkpoint except the manifest
 */
record CheckpointManifest(String folder, CheckpointInfo info, List<ManifestEntry> parts) {
    /** The value of the field {@code format} in JSON files of checkpoints. */
    static final String FORMAT = "ferro-checkpoint";

    private static final long VERSION = 1;

    static CheckpointManifest parse(String folder, String text) {
        String source = name(folder);
        long step = ObjectNames.stepOf(source);
        JsonObjectFields fields = JsonCodec.read(source, text);
        refuseOther(fields, VERSION);
        if (fields.number("step") != step) {
            throw new CheckpointException(source + ": need step " + step + ", found " + fields.number("step"));
        }
        List<ManifestEntry> parts =
                fields.objects("parts").stream().map(ManifestEntry::of).toList();
        Set<String> names = new HashSet<>();
        for (ManifestEntry part : parts) {
            if (!names.add(part.file())) {
                throw new CheckpointException(source + ": file \"" + part.file() + "\" is listed twice");
            }
        }
        Map<String, String> metadata = fields.object("metadata").strings();
        return new CheckpointManifest(folder, new CheckpointInfo(step, fields.small("worldSize"), metadata), parts);
    }

    static CheckpointManifest read(ObjectReader reader, String folder) {
        return parse(
                folder,
                StandardCharsets.UTF_8.decode(reader.small(name(folder))).toString());
    }

    static String name(String folder) {
        return folder + "/" + ObjectNames.MANIFEST;
    }

    /** Throws an exception if the file has another format, or a version above the newest known version. */
    static void refuseOther(JsonObjectFields fields, long newest) {
        String format = fields.string("format");
        long version = fields.number("version");
        if (!format.equals(FORMAT) || version < VERSION || version > newest) {
            throw new CheckpointException(fields.source() + ": need format " + FORMAT + " version " + newest
                    + ", found " + MessageFormatter.shortened(format) + " version " + version);
        }
    }

    String text() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("format", FORMAT);
        fields.put("version", VERSION);
        fields.put("step", info.step());
        fields.put("worldSize", info.worldSize());
        fields.put("metadata", new TreeMap<>(info.metadata()));
        fields.put("parts", parts.stream().map(ManifestEntry::fields).toList());
        return JsonCodec.text(fields);
    }

    static long checksum(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.duplicate());
        return checksum.getValue();
    }
}
