package ferro.training.checkpoint;

import ferro.training.checkpoint.PartFile.LoadPlan;
import ferro.training.checkpoint.SliceRange.StateKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One load. Rank 0 chooses the checkpoint. Each rank reads the files that contain its tensors. Any ranks may have
 * written the files. All ranks compare all tensors before any rank writes an element. If one rank fails, all ranks
 * fail.
 */
final class LoadRun {
    private static final String FOLDER_FIELD = "folder";
    private static final String MANIFEST_FIELD = "manifest";
    /**
     * The maximum number of reads of the latest checkpoint. The latest checkpoint is read again if another checkpoint
     * has become the latest checkpoint.
     */
    private static final int MAX_READS = 100;

    private final MessageExchange ranks;
    private final CheckpointStorage storage;
    private final ObjectReader reader;

    LoadRun(MessageExchange ranks, CheckpointStorage storage) {
        this.ranks = ranks;
        this.storage = storage;
        reader = new ObjectReader(storage);
    }

    /** Reads the manifest of the latest checkpoint. */
    Optional<CheckpointManifest> latest() {
        return manifest("looking for the latest checkpoint", () -> {
            Optional<SavedStep> latest = StateFolder.latestIn(storage);
            for (int read = 1; latest.isPresent(); read++) {
                try {
                    return fields(latest.get());
                } catch (CheckpointException failure) {
                    Optional<SavedStep> now = StateFolder.latestIn(storage);
                    if (now.equals(latest) || read == MAX_READS) {
                        throw failure;
                    }
                    latest = now;
                }
            }
            return Map.of();
        });
    }

    private Map<String, Object> fields(SavedStep saved) {
        String name = CheckpointManifest.name(saved.folder());
        ByteBuffer manifest = reader.small(name);
        StoredFiles.refuseDamaged(name, manifest, saved.checksum());
        return fields(saved.folder(), manifest);
    }

    /** Reads the manifest of the checkpoint of a step. */
    CheckpointManifest of(long step) {
        return manifest("loading step " + step, () -> {
                    String name = manifestOf(step);
                    return fields(ObjectNames.folderOf(name), reader.small(name));
                })
                .orElseThrow();
    }

    /** Reads the manifest of the checkpoint in a folder. */
    CheckpointManifest in(String folder) {
        return manifest("loading " + folder, () -> fields(folder, reader.small(CheckpointManifest.name(folder))))
                .orElseThrow();
    }

    /** Finds the manifest of a step. If several owners saved the step, returns the manifest of the latest owner. */
    private String manifestOf(long step) throws IOException {
        return storage.list(ObjectNames.folder(step)).stream()
                .map(StoredObject::name)
                .filter(name -> ObjectNames.stepOf(name) == step && ObjectNames.isManifest(name))
                .max(Comparator.comparing(StateFolderOwner::ofState))
                .orElseThrow(() -> new CheckpointException("there is no checkpoint of step " + step + " in " + storage
                        + ": no folder " + ObjectNames.folder(step) + "-* has a " + ObjectNames.MANIFEST));
    }

    private static Map<String, Object> fields(String folder, ByteBuffer manifest) {
        return Map.of(
                FOLDER_FIELD,
                folder,
                MANIFEST_FIELD,
                StandardCharsets.UTF_8.decode(manifest).toString());
    }

    /** Reads the manifest on rank 0, sends it to all ranks, and parses it on each rank. */
    private Optional<CheckpointManifest> manifest(String what, MessageExchange.Contribution first) {
        JsonObjectFields read = ranks.exchange(what, () -> ranks.rank() == 0 ? first.make() : Map.of())
                .get(0);
        return read.fields().containsKey(MANIFEST_FIELD)
                ? Optional.of(CheckpointManifest.parse(read.string(FOLDER_FIELD), read.string(MANIFEST_FIELD)))
                : Optional.empty();
    }

    /**
     * Loads the latest checkpoint into the tensors of this rank. A saving job may delete the files of the checkpoint
     * during the load. If the load fails and another checkpoint has become the latest checkpoint, the new latest
     * checkpoint is loaded.
     */
    CheckpointInfo loadLatest(TrainingState into) {
        CheckpointManifest manifest = latest().orElseThrow(() -> new CheckpointException(
                "there is no checkpoint in " + storage + ": " + ObjectNames.LATEST + " is missing"));
        for (int read = 1; ; read++) {
            try {
                return load(manifest, into);
            } catch (CheckpointException failure) {
                Optional<CheckpointManifest> now = latestAfter(failure);
                if (read == MAX_READS || now.isEmpty() || now.get().folder().equals(manifest.folder())) {
                    throw failure;
                }
                manifest = now.get();
            }
        }
    }

    private Optional<CheckpointManifest> latestAfter(CheckpointException failure) {
        try {
            return latest();
        } catch (CheckpointException unreadable) {
            failure.addSuppressed(unreadable);
            return Optional.empty();
        }
    }

    /** Loads a checkpoint into the tensors of this rank. */
    CheckpointInfo load(CheckpointManifest manifest, TrainingState into) {
        String what = "loading step " + manifest.info().step();
        LoadPlan plan = new LoadPlan();
        List<StoredFiles> stored = new ArrayList<>();
        List<JsonObjectFields> matched = ranks.exchange(what, () -> {
            stored.add(new StoredFiles(storage, manifest));
            return match(stored.get(0), into, plan);
        });
        refuseExtraState(what, matched);
        ranks.exchange(what, () -> {
            plan.run(stored.get(0).reader());
            return Map.of();
        });
        return manifest.info();
    }

    private static Map<String, Object> match(StoredFiles stored, TrainingState into, LoadPlan plan) {
        SaveRun.refuseTwins(into.parameters());
        List<String> problems = new ArrayList<>();
        StoredParameters.open(stored).match(into.parameters(), plan, problems);
        StoredState state = StoredState.open(stored);
        Set<StateKey> unasked = new LinkedHashSet<>(state.keys());
        for (StateSlice slice : into.slices()) {
            unasked.remove(SliceRange.of(slice).key());
            state.match(slice, plan, problems);
        }
        if (!problems.isEmpty()) {
            throw new CheckpointException("the tensors do not match the checkpoint: " + MessageFormatter.of(problems));
        }
        return Map.of(
                "slices", into.slices().size(),
                "unasked", unasked.stream().map(StateKey::toString).toList());
    }

    /**
     * Throws an exception if the checkpoint has state that no rank loads. If no rank loads any state, all state is
     * ignored.
     */
    private static void refuseExtraState(String what, List<JsonObjectFields> matched) {
        Set<String> unasked = new LinkedHashSet<>(matched.get(0).texts("unasked"));
        matched.forEach(message -> unasked.retainAll(message.texts("unasked")));
        if (matched.stream().anyMatch(message -> message.count("slices") > 0) && !unasked.isEmpty()) {
            throw new CheckpointException(what + " failed: the checkpoint has state that no rank expects: "
                    + MessageFormatter.of(List.copyOf(unasked)));
        }
    }
}
