package ferro.training.checkpoint;

import java.util.regex.Pattern;

/** Names of objects and files, so that none from a file leads out of the folder of its checkpoint. */
final class ObjectNames {
    static final String LATEST = "latest.json";
    static final String MANIFEST = "checkpoint.json";
    static final String INDEX = "model.safetensors.index.json";

    private static final String PART = "[A-Za-z0-9][A-Za-z0-9._-]{0,199}";
    private static final Pattern FILE = Pattern.compile(PART);
    private static final Pattern OBJECT = Pattern.compile(PART + "(/" + PART + ")?");
    private static final Pattern FOLDER = Pattern.compile("step-(0|[1-9][0-9]{0,17})");

    private ObjectNames() {}

    /** Returns the folder of a step, without a slash. */
    static String folder(long step) {
        return "step-" + step;
    }

    /** Returns the step whose folder an object lies in; -1 if it lies in none. */
    static long stepOf(String object) {
        int slash = object.indexOf('/');
        String folder = slash < 0 ? "" : object.substring(0, slash);
        return FOLDER.matcher(folder).matches() ? Long.parseLong(folder.substring("step-".length())) : -1;
    }

    /** Refuses the name of a file that a file gives, unless it stays inside the folder. */
    static String checkFile(String source, String name) {
        if (!FILE.matcher(name).matches()) {
            throw new CheckpointException(
                    source + ": need a name of a file in the same folder, found \"" + Text.shortened(name) + "\"");
        }
        return name;
    }

    /** Refuses a name that no object can have. */
    static String checkObject(String name) {
        if (!isObject(name)) {
            throw new IllegalArgumentException("need a name such as step-12/checkpoint.json, found \"" + name + "\"");
        }
        return name;
    }

    /** Returns whether it is a name of ours; other programs may leave files beside them. */
    static boolean isObject(String name) {
        return OBJECT.matcher(name).matches();
    }
}
