package ferro.training.checkpoint;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * The file systems that are not supported, by their names in Linux. An unsupported file system either renames a file by
 * copying the file, or can lose the old and the new file in a crash during a rename.
 */
final class FileSystemCheck {
    private static final String COPIES =
            "it stores files in an object store, and renames a file by copying and deleting it";
    private static final String NO_JOURNAL = "it has no journal, so a crash during a rename can lose both files";

    private static final Map<String, String> REFUSED = Map.ofEntries(
            Map.entry("fuse.s3fs", COPIES),
            Map.entry("fuse.goofys", COPIES),
            Map.entry("fuse.geesefs", COPIES),
            Map.entry("fuse.mountpoint-s3", COPIES),
            Map.entry("fuse.mount-s3", COPIES),
            Map.entry("fuse.gcsfuse", COPIES),
            Map.entry("fuse.blobfuse", COPIES),
            Map.entry("fuse.blobfuse2", COPIES),
            Map.entry("fuse.ossfs", COPIES),
            Map.entry("fuse.cosfs", COPIES),
            Map.entry("fuse.rclone", COPIES),
            Map.entry("vfat", NO_JOURNAL),
            Map.entry("msdos", NO_JOURNAL),
            Map.entry("exfat", NO_JOURNAL));

    private FileSystemCheck() {}

    static void refuseWithoutAtomicRename(Path folder, String type) {
        String reason = REFUSED.get(type.toLowerCase(Locale.ROOT));
        if (reason != null) {
            throw refusal(folder, type, reason);
        }
    }

    static CheckpointException refusal(Path folder, String type, String reason) {
        return new CheckpointException("cannot store checkpoints in " + folder + ": file system " + type
                + " does not rename atomically (" + reason
                + "): use a local file system or NFS, or implement a CheckpointStorage for it");
    }
}
