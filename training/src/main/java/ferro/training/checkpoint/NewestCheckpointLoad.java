package ferro.training.checkpoint;

import ferro.spi.PlainLoggers;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The load of the newest undamaged checkpoint. The latest checkpoint is loaded first. Only if this load fails, the
 * ranks check the files of all checkpoints, the newest checkpoint first. Each rank reads a part of the files.
 */
final class NewestCheckpointLoad {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.training");
    private static final String FOLDERS = "folders";
    private static final String DAMAGE = "damage";
    private static final String SEARCH = "searching for an undamaged checkpoint";

    private final MessageExchange ranks;
    private final CheckpointStorage storage;
    private final LoadRun run;
    private final ObjectReader reader;

    NewestCheckpointLoad(MessageExchange ranks, CheckpointStorage storage) {
        this.ranks = ranks;
        this.storage = storage;
        run = new LoadRun(ranks, storage);
        reader = new ObjectReader(storage);
    }

    /** Loads the newest undamaged checkpoint. The result is empty if no checkpoint exists. */
    Optional<CheckpointInfo> load(TrainingState into) {
        CheckpointException failure;
        try {
            return run.latest().isEmpty() ? Optional.empty() : Optional.of(run.loadLatest(into));
        } catch (CheckpointException failed) {
            failure = failed;
        }
        for (String folder : folders()) {
            String damage = damage(folder);
            if (damage.isEmpty()) {
                // also the checkpoint that could not be loaded, if its files are undamaged: it fails again, with its
                // cause
                return Optional.of(run.load(run.in(folder), into));
            }
            if (ranks.rank() == 0) {
                LOG.log(Level.WARNING, () -> folder + " in " + storage + " is left out: " + damage);
            }
        }
        throw failure;
    }

    /** Returns the folders of complete checkpoints up to the latest step, the newest checkpoint first. */
    private List<String> folders() {
        return ranks.exchange(SEARCH, () -> ranks.rank() == 0 ? Map.of(FOLDERS, listed()) : Map.of())
                .get(0)
                .texts(FOLDERS);
    }

    private List<String> listed() throws IOException {
        Optional<SavedStep> latest = StateFolder.latestIn(storage);
        List<String> folders = new ArrayList<>();
        storage.list(ObjectNames.STEP).stream()
                .map(StoredObject::name)
                .filter(name -> ObjectNames.stepOf(name) >= 0 && ObjectNames.isManifest(name))
                .filter(name -> latest.isPresent()
                        && ObjectNames.stepOf(name) <= latest.get().step())
                .sorted(Comparator.<String>comparingLong(ObjectNames::stepOf)
                        .thenComparing(StateFolderOwner::ofState)
                        .reversed())
                .forEach(name -> folders.add(ObjectNames.folderOf(name)));
        return folders;
    }

    /** Returns what is wrong with a checkpoint; empty if the checkpoint is undamaged. */
    private String damage(String folder) {
        return ranks.exchange(SEARCH, () -> Map.of(DAMAGE, ownDamage(folder))).stream()
                .map(message -> message.string(DAMAGE))
                .filter(damage -> !damage.isEmpty())
                .findFirst()
                .orElse("");
    }

    /** Checks the files of this rank's part of a checkpoint. */
    private String ownDamage(String folder) {
        try {
            List<ManifestEntry> parts = CheckpointManifest.read(reader, folder).parts();
            String damage = "";
            for (int part = ranks.rank(); part < parts.size() && damage.isEmpty(); part += ranks.worldSize()) {
                damage = reader.difference(folder, parts.get(part));
            }
            return damage;
        } catch (CheckpointException unreadable) {
            return unreadable.getMessage();
        }
    }
}
