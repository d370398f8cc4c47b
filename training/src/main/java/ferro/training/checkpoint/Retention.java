package ferro.training.checkpoint;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Deletes checkpoints that are no longer wanted, never the one that is published, and nothing of a later owner. */
final class Retention {
    private static final System.Logger LOG = System.getLogger("ferro.training");

    private final StateFolder folder;
    private final CheckpointStorage storage;

    Retention(StateFolder folder) {
        this.folder = folder;
        storage = folder.storage();
    }

    /** Refuses to save the step that is the latest one. */
    void refuseLatest(long step) throws IOException {
        if (StateFolder.latestIn(storage)
                .filter(latest -> latest.step() == step)
                .isPresent()) {
            throw new CheckpointException(
                    "step " + step + " is the latest checkpoint in " + storage + " already: save a later step");
        }
    }

    /** Deletes the parts of saves that earlier owners have not finished, so that they take no room; a failure here is logged. */
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
            LOG.log(Level.DEBUG, () -> "what jobs before have left stays: " + keepsAll.getMessage());
        } catch (IOException | RuntimeException failure) {
            LOG.log(
                    Level.WARNING,
                    () -> "cannot delete what jobs before have left in " + storage + ": " + Text.of(failure));
        }
    }

    /** Deletes what this owner has in the folder of a step that it saves again. */
    void clear(String ownFolder) throws IOException {
        List<StoredObject> left = storage.list(ownFolder + "/");
        try {
            delete(left);
        } catch (UnsupportedOperationException keepsAll) {
            LOG.log(Level.DEBUG, () -> "what a save has left is replaced: " + keepsAll.getMessage());
        }
    }

    /** Deletes files of a save that has failed before it was published, so that they take no room; a failure here is logged. */
    void deleteFailed(String ownFolder, List<String> files) {
        for (String file : files) {
            String name = ownFolder + "/" + file;
            try {
                storage.delete(name);
            } catch (UnsupportedOperationException keepsAll) {
                LOG.log(Level.DEBUG, () -> "what a failed save has written stays: " + keepsAll.getMessage());
            } catch (IOException | RuntimeException | Error failure) {
                LOG.log(Level.WARNING, () -> "cannot delete " + name + " of a failed save: " + Text.of(failure));
            }
        }
    }

    /** The folder of a step; of two jobs that have saved one step the later one's counts. */
    private record StepFolder(long step, StateOwner owner) {
        private static final Comparator<StepFolder> ORDER =
                Comparator.comparingLong(StepFolder::step).thenComparing(StepFolder::owner);

        private static StepFolder of(String object) {
            return new StepFolder(ObjectNames.stepOf(object), StateOwner.ofState(object));
        }
    }

    /** Deletes checkpoints before a published one, but for the newest complete ones, and what saves before it have left. */
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
            // the new checkpoint is published: what cannot be deleted must not make its save fail
            LOG.log(
                    Level.WARNING,
                    () -> "step " + published.step() + " is published in " + storage
                            + ", but older checkpoints cannot be deleted, which the next save tries again: "
                            + Text.of(failure));
        }
    }

    private static List<StoredObject> parts(List<StoredObject> objects) {
        return objects.stream()
                .filter(object -> ObjectNames.isPart(object.name()))
                .toList();
    }

    /** The manifest goes first: a checkpoint that has one is complete. */
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
