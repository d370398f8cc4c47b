package ferro.spark.state;

import ferro.training.checkpoint.CheckpointStorage;
import java.io.IOException;

/** The latest step that all ranks have written: its folder, its number, and how many ranks. */
record Latest(String folder, long step, int ranks) {
    static final Latest NONE = new Latest("none", -1, 0);

    /** Reads {@code step-12-4-9f3a12cd 12 4}. */
    static Latest of(String text, CheckpointStorage storage) throws IOException {
        if (text.equals(NONE.text())) {
            return NONE;
        }
        if (!text.matches(StateFolder.STEP + " [0-9]{1,18} [0-9]{1,9}")) {
            throw new IOException("what names the latest state in " + storage + " is damaged: \"" + text
                    + "\" is no folder, step and number of ranks");
        }
        String[] parts = text.split(" ");
        return new Latest(parts[0], Long.parseLong(parts[1]), Integer.parseInt(parts[2]));
    }

    boolean isNone() {
        return ranks == 0;
    }

    String text() {
        return folder + " " + step + " " + ranks;
    }
}
