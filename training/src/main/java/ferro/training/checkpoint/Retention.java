package ferro.training.checkpoint;

import ferro.training.checkpoint.CheckpointManifest.LatestStep;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/** Deletes checkpoints that are no longer wanted, never the one that is published. */
final class Retention {
    private static final System.Logger LOG = System.getLogger("ferro.training");

    private final CheckpointStorage storage;

    Retention(CheckpointStorage storage) {
        this.storage = storage;
    }

    /** Deletes what lies in the folder of a step that is to be saved, which a save that was cut off has left there. */
    void clear(long step) throws IOException {
        ByteBuffer latest = new ObjectReader(storage).smallIfThere(ObjectNames.LATEST);
        if (latest != null && LatestStep.parse(ObjectNames.LATEST, latest).step() == step) {
            throw new CheckpointException("step " + step + " is the latest checkpoint in " + storage
                    + " already: save a later step, since writing it again could lose it");
        }
        List<StoredObject> left = storage.list(ObjectNames.folder(step) + "/");
        try {
            delete(left);
        } catch (UnsupportedOperationException keepsAll) {
            LOG.log(Level.DEBUG, () -> "what a save has left is replaced: " + keepsAll.getMessage());
        }
    }

    /** Deletes files of a save that has failed before it was published, so that they take no room; a failure here is logged. */
    void deleteFailed(long step, List<String> files) {
        for (String file : files) {
            String name = ObjectNames.folder(step) + "/" + file;
            try {
                storage.delete(name);
            } catch (UnsupportedOperationException keepsAll) {
                LOG.log(Level.DEBUG, () -> "what a failed save has written stays: " + keepsAll.getMessage());
            } catch (IOException | RuntimeException | Error failure) {
                LOG.log(Level.WARNING, () -> "cannot delete " + name + " of a failed save: " + Text.of(failure));
            }
        }
    }

    /** Deletes checkpoints before a published one, but for the newest complete ones, and what saves before it have left. */
    void deleteOlder(long published, int keepLast) {
        try {
            TreeMap<Long, List<StoredObject>> older = new TreeMap<>(Comparator.reverseOrder());
            for (StoredObject object : storage.list("")) {
                long step = ObjectNames.stepOf(object.name());
                if (step >= 0 && step < published) {
                    older.computeIfAbsent(step, each -> new ArrayList<>()).add(object);
                }
            }
            int kept = 1;
            for (List<StoredObject> objects : older.values()) {
                if (kept < keepLast && objects.stream().anyMatch(Retention::isManifest)) {
                    kept++;
                } else {
                    delete(objects);
                }
            }
        } catch (IOException | RuntimeException failure) {
            // the new checkpoint is published: what cannot be deleted must not make its save fail
            LOG.log(
                    Level.WARNING,
                    () -> "step " + published + " is published in " + storage
                            + ", but older checkpoints cannot be deleted, which the next save tries again: "
                            + Text.of(failure));
        }
    }

    /** The manifest goes first: a checkpoint that has one is complete. */
    private void delete(List<StoredObject> objects) throws IOException {
        for (StoredObject object : objects) {
            if (isManifest(object)) {
                storage.delete(object.name());
            }
        }
        for (StoredObject object : objects) {
            if (!isManifest(object)) {
                storage.delete(object.name());
            }
        }
    }

    private static boolean isManifest(StoredObject object) {
        return object.name().endsWith("/" + ObjectNames.MANIFEST);
    }
}
