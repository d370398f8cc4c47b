package ferro.training.checkpoint;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of objects and files. Names that are read from a file are checked, so that no name leads out of the
 * checkpoint's folder.
 */
final class ObjectNames {
    /** The prefix of the names of step folders. */
    static final String STEP = "step-";

    static final String LATEST = "latest.json";
    static final String MANIFEST = "checkpoint.json";
    static final String INDEX = "model.safetensors.index.json";

    private static final String PART = "[A-Za-z0-9][A-Za-z0-9._-]{0,199}";
    private static final Pattern FILE = Pattern.compile(PART);
    private static final Pattern OBJECT = Pattern.compile(PART + "(/" + PART + ")?");
    private static final Pattern FOLDER = Pattern.compile("step-(0|[1-9][0-9]{0,17})(-" + StateFolderOwner.NAME + ")?");
    private static final Pattern PART_OF_SAVE =
            Pattern.compile("(model|optimizer)-[0-9]{5,}-of-[0-9]{5,}[.]safetensors|" + Pattern.quote(INDEX));

    private ObjectNames() {}

    /** Returns the prefix of a step's folder names. In folders of this build, the owner's name follows the prefix. */
    static String folder(long step) {
        return STEP + step;
    }

    /** Returns the step of the folder that contains an object; -1 if the folder is not a step folder. */
    static long stepOf(String object) {
        int slash = object.indexOf('/');
        Matcher matcher = FOLDER.matcher(slash < 0 ? "" : object.substring(0, slash));
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : -1;
    }

    /** Returns the name of the folder that contains an object, without the slash. */
    static String folderOf(String object) {
        return object.substring(0, object.indexOf('/'));
    }

    /** Returns whether an object is a file that a save writes before the manifest. */
    static boolean isPart(String object) {
        return PART_OF_SAVE.matcher(object.substring(object.indexOf('/') + 1)).matches();
    }

    static boolean isManifest(String object) {
        return object.endsWith("/" + MANIFEST);
    }

    /** Checks a file name read from {@code source}. Throws an exception if the name leads out of the folder. */
    static String checkFile(String source, String name) {
        if (!FILE.matcher(name).matches()) {
            throw new CheckpointException(source + ": need the name of a file in the same folder, found \""
                    + MessageFormatter.shortened(name) + "\"");
        }
        return name;
    }

    /** Checks an object name. Throws an exception if no object can have this name. */
    static String checkObject(String name) {
        if (!isObject(name)) {
            throw new IllegalArgumentException(
                    "need an object name such as step-12/checkpoint.json, found \"" + name + "\"");
        }
        return name;
    }

    /** Returns whether an object can have this name. Other programs may leave files with other names in the folder. */
    static boolean isObject(String name) {
        return OBJECT.matcher(name).matches();
    }
}
