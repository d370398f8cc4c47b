package ferro.training.checkpoint;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of objects and files, so that none from a file leads out of the folder of its checkpoint. */
final class ObjectNames {
    static final String LATEST = "latest.json";
    static final String MANIFEST = "checkpoint.json";
    static final String INDEX = "model.safetensors.index.json";

    private static final String PART = "[A-Za-z0-9][A-Za-z0-9._-]{0,199}";
    private static final Pattern FILE = Pattern.compile(PART);
    private static final Pattern OBJECT = Pattern.compile(PART + "(/" + PART + ")?");
    private static final Pattern FOLDER = Pattern.compile("step-(0|[1-9][0-9]{0,17})(-[1-9][0-9]{0,17}-[0-9a-f]{8})?");
    private static final Pattern PART_OF_SAVE =
            Pattern.compile("(model|optimizer)-[0-9]{5,}-of-[0-9]{5,}[.]safetensors|" + Pattern.quote(INDEX));

    private ObjectNames() {}

    /** Returns how the folders of a step begin; those that jobs write now end with the name of the owner. */
    static String folder(long step) {
        return "step-" + step;
    }

    /** Returns the step whose folder an object lies in; -1 if it lies in none. */
    static long stepOf(String object) {
        int slash = object.indexOf('/');
        String folder = slash < 0 ? "" : object.substring(0, slash);
        Matcher matcher = FOLDER.matcher(folder);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : -1;
    }

    /** Returns the folder of an object, without a slash. */
    static String folderOf(String object) {
        return object.substring(0, object.indexOf('/'));
    }

    /** Returns whether an object is what a save writes before its manifest. */
    static boolean isPart(String object) {
        return PART_OF_SAVE.matcher(object.substring(object.indexOf('/') + 1)).matches();
    }

    static boolean isManifest(String object) {
        return object.endsWith("/" + MANIFEST);
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
