package ferro.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A step that a job has published in a {@link StateFolder}. */
public final class SavedStep {
    private static final String FOLDER_FIELD = "folder";
    private static final Pattern PLAIN_TEXT =
            Pattern.compile("(step-[0-9]{1,18}-\\S{10,27}) ([0-9]{1,18}) ([0-9]{1,9})");
    private static final String PLAIN_NONE = "none -1 0";

    private final String folder;
    private final long step;
    private final int worldSize;
    private final long checksum;

    SavedStep(String folder, long step, int worldSize, long checksum) {
        Objects.requireNonNull(folder, FOLDER_FIELD);
        this.folder = folder;
        this.step = step;
        this.worldSize = worldSize;
        this.checksum = checksum;
    }

    /** {@return the folder of the objects of the step} */
    public String folder() {
        return folder;
    }

    /** {@return the number of the saved step} */
    public long step() {
        return step;
    }

    /** {@return the number of ranks that saved the step} */
    public int worldSize() {
        return worldSize;
    }

    /** {@return the CRC-32C of {@code checkpoint.json} in the folder; 0 if the folder has no such file} */
    public long checksum() {
        return checksum;
    }

    /**
     * Creates the description of a step without the checksum of a {@code checkpoint.json}.
     *
     * @param folder    the folder of the objects of the step
     * @param step      the number of the saved step
     * @param worldSize the number of ranks that saved the step
     * @return step
     */
    public static SavedStep of(String folder, long step, int worldSize) {
        return new SavedStep(folder, step, worldSize, 0);
    }

    /**
     * Parses a step from the fields of a published file. In builds without {@link StateFolder}, the name of the folder
     * has only the step.
     */
    static SavedStep of(JsonObjectFields fields) {
        long step = fields.count("step");
        String folder = fields.string(FOLDER_FIELD);
        if (ObjectNames.stepOf(folder + "/") != step) {
            throw new CheckpointException(fields.source() + ": need the folder of step " + step + ", found \""
                    + MessageFormatter.shortened(folder) + "\"");
        }
        int worldSize = fields.fields().containsKey("worldSize") ? fields.small("worldSize") : 0;
        return new SavedStep(folder, step, worldSize, fields.count("crc32c"));
    }

    /**
     * Parses the text that older builds published for ranks inside Spark. The text has folder, step and number of
     * ranks. Returns null if the text says that no step exists.
     */
    static SavedStep ofPlainText(String source, String text) {
        Matcher parts = PLAIN_TEXT.matcher(text);
        if (text.equals(PLAIN_NONE)) {
            return null;
        }
        if (!parts.matches() || ObjectNames.stepOf(parts.group(1) + "/") != Long.parseLong(parts.group(2))) {
            throw new CheckpointException(source + ": need folder, step and number of ranks, found \""
                    + MessageFormatter.shortened(text) + "\"");
        }
        return new SavedStep(parts.group(1), Long.parseLong(parts.group(2)), Integer.parseInt(parts.group(3)), 0);
    }

    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("step", step);
        fields.put(FOLDER_FIELD, folder);
        fields.put("worldSize", worldSize);
        fields.put("crc32c", checksum);
        return fields;
    }

    @Override
    public String toString() {
        return "SavedStep[folder=" + folder + ", step=" + step + ", worldSize=" + worldSize + ", checksum=" + checksum
                + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SavedStep that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(folder, step, worldSize, checksum);
    }
}
