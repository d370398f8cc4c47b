package ferro.training.checkpoint;

import ferro.spi.PlainLoggers;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The deletion of checkpoints and files that are no longer needed. This class never deletes the published checkpoint or
 * an object of a later owner.
 */
final class Retention {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.training");

    private final StateFolder folder;
    private final CheckpointStorage storage;

    Retention(StateFolder folder) {
        this.folder = folder;
        storage = folder.storage();
    }

    /**
     * Throws an exception if this owner has published the step last, because a new save would overwrite the step's
     * folder.
     */
    void refuseLatest(long step) throws IOException {
        // read the latest step anew: a publication that reported a failure may have succeeded
        if (folder.isTaken()
                && StateFolder.latestIn(storage)
                        .filter(latest -> latest.folder().equals(folder.ofStep(step)))
                        .isPresent()) {
            throw new CheckpointException(
                    "step " + step + " is already the latest checkpoint in " + storage + ": save a later step");
        }
    }

    /** Deletes the files of unfinished saves of earlier owners, to free space in storage. A failure is only logged. */
    void deleteLeftovers() {
        try {
            List<StoredObject> listed = storage.list("");
            Set<String> complete = listed.stream()
                    .map(StoredObject::name)
                    .filter(ObjectNames::isManifest)
                    .map(ObjectNames::folderOf)
                    .collect(Collectors.toSet());
            folder.deleteEarlier(
                    listed, name -> ObjectNames.isPart(name) && !complete.contains(ObjectNames.folderOf(name)));
        } catch (UnsupportedOperationException keepsAll) {
            LOG.log(Level.DEBUG, () -> "files of earlier jobs are not deleted: " + keepsAll.getMessage());
        } catch (IOException | RuntimeException failure) {
            LOG.log(
                    Level.WARNING,
                    () -> "cannot delete files of earlier jobs in " + storage + ": " + MessageFormatter.of(failure));
        }
    }

    /** Deletes the files in a step folder of this owner, before the owner saves the step again. */
    void clear(String ownFolder) throws IOException {
        List<StoredObject> left = storage.list(ownFolder + "/");
        try {
            delete(left);
        } catch (UnsupportedOperationException keepsAll) {
            LOG.log(
                    Level.DEBUG,
                    () -> "files of an earlier save of this step are overwritten, not deleted: "
                            + keepsAll.getMessage());
        }
    }

    /** Deletes the files of a save that failed before it was published, to free space. A failure is only logged. */
    void deleteFailed(String ownFolder, List<String> files) {
        for (String file : files) {
            String name = ownFolder + "/" + file;
            try {
                storage.delete(name);
            } catch (UnsupportedOperationException keepsAll) {
                LOG.log(Level.DEBUG, () -> "files of a failed save are not deleted: " + keepsAll.getMessage());
            } catch (IOException | RuntimeException | Error failure) {
                LOG.log(
                        Level.WARNING,
                        () -> "cannot delete file " + name + " of a failed save: " + MessageFormatter.of(failure));
            }
        }
    }

    /** A step folder and its owner. If two owners have saved the same step, the folder of the later owner counts. */
    private record StepFolder(long step, StateFolderOwner owner) {
        private static final Comparator<StepFolder> ORDER =
                Comparator.comparingLong(StepFolder::step).thenComparing(StepFolder::owner);

        private static StepFolder of(String object) {
            return new StepFolder(ObjectNames.stepOf(object), StateFolderOwner.ofState(object));
        }
    }

    /**
     * Deletes the checkpoints that are older than a published checkpoint, except the newest complete checkpoints. The
     * method also deletes the files of older unfinished saves. The published checkpoint counts as one of the
     * {@code keepLast} checkpoints.
     */
    void deleteOlder(SavedStep published, int keepLast) {
        try {
            Map<StepFolder, List<StoredObject>> older = new TreeMap<>(StepFolder.ORDER.reversed());
            StepFolder newest = StepFolder.of(published.folder() + "/");
            for (StoredObject object : storage.list("")) {
                StepFolder of = StepFolder.of(object.name());
                if (of.step() >= 0 && folder.mayDelete(object.name()) && StepFolder.ORDER.compare(of, newest) < 0) {
                    older.computeIfAbsent(of, each -> new ArrayList<>()).add(object);
                }
            }
            int kept = 1;
            long last = newest.step();
            for (Map.Entry<StepFolder, List<StoredObject>> one : older.entrySet()) {
                boolean complete = one.getValue().stream().anyMatch(object -> ObjectNames.isManifest(object.name()));
                if (complete && one.getKey().step() != last && kept < keepLast) {
                    last = one.getKey().step();
                    kept++;
                } else {
                    delete(complete ? one.getValue() : parts(one.getValue()));
                }
            }
        } catch (IOException | RuntimeException failure) {
            // the new checkpoint is already published, so a failed deletion must not make the save fail
            LOG.log(
                    Level.WARNING,
                    () -> "step " + published.step() + " is published in " + storage
                            + ", but older checkpoints cannot be deleted, and the next save tries again: "
                            + MessageFormatter.of(failure));
        }
    }

    private static List<StoredObject> parts(List<StoredObject> objects) {
        return objects.stream()
                .filter(object -> ObjectNames.isPart(object.name()))
                .toList();
    }

    /** Deletes objects. Manifests are deleted first, because a folder with a manifest must be a complete checkpoint. */
    private void delete(List<StoredObject> objects) throws IOException {
        for (StoredObject object : objects) {
            if (ObjectNames.isManifest(object.name())) {
                storage.delete(object.name());
            }
        }
        for (StoredObject object : objects) {
            if (!ObjectNames.isManifest(object.name())) {
                storage.delete(object.name());
            }
        }
    }
}
