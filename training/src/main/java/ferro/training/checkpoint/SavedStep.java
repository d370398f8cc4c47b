package ferro.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A step that a job has published in a {@link StateFolder}.
 *
 * @param folder    the folder of the objects of the step
 * @param step      the step
 * @param worldSize the number of ranks that saved the step
 * @param checksum  the CRC-32C of {@code checkpoint.json} in the folder; 0 if there is no such file
 */
public record SavedStep(String folder, long step, int worldSize, long checksum) {
    private static final String FOLDER_FIELD = "folder";

    /**
     * Checks that the folder is not null.
     *
     * @param folder    the folder of the objects of the step
     * @param step      the step
     * @param worldSize the number of ranks that saved the step
     * @param checksum  the CRC-32C of {@code checkpoint.json} in the folder
     */
    public SavedStep {
        Objects.requireNonNull(folder, FOLDER_FIELD);
    }

    /**
     * Parses a step from the fields of a published file. Builds without {@link StateFolder} named the folder by the step
     * alone.
     */
    static SavedStep of(JsonValues fields) {
        long step = fields.count("step");
        String folder = fields.string(FOLDER_FIELD);
        if (ObjectNames.stepOf(folder + "/") != step) {
            throw new CheckpointException(fields.source() + ": need the folder of step " + step + ", found \""
                    + Text.shortened(folder) + "\"");
        }
        int worldSize = fields.fields().containsKey("worldSize") ? fields.small("worldSize") : 0;
        return new SavedStep(folder, step, worldSize, fields.count("crc32c"));
    }

    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("step", step);
        fields.put(FOLDER_FIELD, folder);
        fields.put("worldSize", worldSize);
        fields.put("crc32c", checksum);
        return fields;
    }
}
