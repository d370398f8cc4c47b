package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.group.SystemContext;
import ferro.job.CheckpointReport;
import ferro.training.checkpoint.StoredParameters.WeightIndex;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One save. All ranks agree on a plan, and each rank writes its files. Rank 0 reads all files, and the other ranks read
 * the index that rank 0 has written. Rank 0 then publishes the step. If one rank fails, all ranks fail.
 */
final class SaveRun {
    private static final String FOLDER_FIELD = "folder";

    private final MessageExchange ranks;
    private final StateFolder folder;
    private final CheckpointStorage storage;
    private final CheckpointSettings settings;
    private final long step;
    private final Map<String, String> metadata;
    private SavePlan plan;
    /** The folder of this step and this owner. */
    private String ownFolder;

    private List<String> hosts;
    private List<NamedTensor> parameters;
    private List<NamedTensor> ownParameters;
    private List<NamedTensor> ownSlices;
    private Throwable notCopied;

    private SaveRun(
            MessageExchange ranks,
            StateFolder folder,
            CheckpointSettings settings,
            long step,
            Map<String, String> metadata) {
        this.ranks = ranks;
        this.folder = folder;
        storage = folder.storage();
        this.settings = settings;
        this.step = step;
        this.metadata = metadata;
    }

    /** Agrees on a plan with the other ranks, and makes this job the folder's owner. Writes no file of the step yet. */
    static SaveRun planned(
            MessageExchange ranks, StateFolder folder, CheckpointSettings settings, long step, TrainingState state) {
        SaveRun run = new SaveRun(ranks, folder, settings, step, state.metadata());
        run.agree(state);
        run.begin();
        return run;
    }

    long step() {
        return step;
    }

    /** Returns the name of this save for messages. */
    String what() {
        return "saving step " + step;
    }

    private void agree(TrainingState state) {
        int rank = ranks.rank();
        List<JsonObjectFields> proposals = ranks.exchange(what(), () -> {
            refuseTwins(state.parameters());
            refuseTwinSlices(state.slices());
            if (rank == 0) {
                folder.open();
                folder.refuseIfLost();
                new Retention(folder).refuseLatest(step);
            }
            return SavePlan.proposal(step, state, rank == 0, settings);
        });
        plan = SavePlan.of(proposals, state.parameters());
        if (settings.compareRanks() && ranks.worldSize() > 1) {
            new ReplicatedTensors(plan, state, ranks.worldSize()).compare(ranks, what());
        }
        hosts = proposals.stream().map(MessageExchange::hostOf).toList();
        parameters = state.parameters();
        ownParameters = plan.parametersOf(rank, parameters);
        ownSlices = plan.slicesOf(rank, state.slices());
    }

    /**
     * Makes this job the owner of the folder, and empties the folder of the step. Nothing is deleted before all ranks
     * have agreed on the plan.
     */
    private void begin() {
        ownFolder = ranks.exchange(what(), () -> {
                    if (ranks.rank() != 0) {
                        return Map.of();
                    }
                    Retention retention = new Retention(folder);
                    if (!folder.isTaken()) {
                        folder.take();
                        retention.deleteLeftovers();
                    }
                    retention.clear(folder.ofStep(step));
                    return Map.of(FOLDER_FIELD, folder.ofStep(step));
                })
                .get(0)
                .string(FOLDER_FIELD);
    }

    static void refuseTwins(List<NamedTensor> tensors) {
        Set<String> names = new HashSet<>();
        for (NamedTensor tensor : tensors) {
            if (!names.add(tensor.name())) {
                throw new CheckpointException(
                        "two of " + tensors.size() + " tensors are called \"" + tensor.name() + "\"");
            }
        }
    }

    /**
     * Throws an exception if two slices on this rank have the same range, because a file can store the values of only
     * one.
     */
    private static void refuseTwinSlices(List<StateSlice> slices) {
        Set<SliceRange> ranges = new HashSet<>();
        for (StateSlice slice : slices) {
            SliceRange range = SliceRange.of(slice);
            if (range.count() > 0 && !ranges.add(range)) {
                throw new CheckpointException("two of " + slices.size() + " slices have the same range: " + range.key()
                        + ", elements " + range.from() + " to " + (range.end() - 1));
            }
        }
    }

    /**
     * Copies the tensors that this rank writes, so that training can continue. If the copy fails, {@link #run} fails on
     * all ranks.
     */
    void copy() {
        try {
            ownParameters = ownParameters.stream().map(SaveRun::copy).toList();
            ownSlices = ownSlices.stream().map(SaveRun::copy).toList();
        } catch (RuntimeException | Error failure) {
            notCopied = failure;
            ownParameters = List.of();
        }
    }

    private static NamedTensor copy(NamedTensor tensor) {
        HostTensor values = tensor.values();
        int count = (int) values.elementCount();
        Object array = values.dataType().carrier().newArray(count);
        HostTensor copy = HostTensor.ofArray(values.dataType(), array, 0, count);
        copy.copyFrom(0, values, 0, count);
        return new NamedTensor(tensor.name(), tensor.shape(), copy);
    }

    /** Writes the files of this rank, publishes the step on rank 0, and returns the description of the checkpoint. */
    CheckpointInfo run() {
        List<ManifestEntry> parts = new ArrayList<>();
        try {
            List<JsonObjectFields> written = ranks.exchange(
                    what(),
                    () -> Map.of(
                            "parts", write().stream().map(ManifestEntry::fields).toList()));
            for (JsonObjectFields message : written) {
                message.objects("parts").forEach(part -> parts.add(ManifestEntry.of(part)));
            }
            ranks.exchange(what(), () -> {
                awaitSeen(parts);
                return Map.of();
            });
        } catch (CheckpointException failure) {
            // a rank could not write or does not see a part, so rank 0 does not publish and the files can be deleted.
            // The loss of a rank
            // causes another exception, and rank 0 may then have published
            new Retention(folder).deleteFailed(ownFolder, ownFiles());
            refuseIfLost(failure);
            throw failure;
        }
        CheckpointInfo info = new CheckpointInfo(step, ranks.worldSize(), metadata);
        ranks.exchange(what(), () -> {
            if (ranks.rank() == 0) {
                publish(info, parts);
            }
            return Map.of();
        });
        return info;
    }

    /**
     * Throws an exception on all ranks if another job has become the owner of the folder. The other job may have caused
     * the failure, because it may have deleted files of this save.
     */
    private void refuseIfLost(CheckpointException failure) {
        ranks.exchange(what(), () -> {
            if (ranks.rank() == 0) {
                folder.refuseIfLost(failure);
            }
            return Map.of();
        });
    }

    /** Returns the names of the files that this rank writes. */
    private List<String> ownFiles() {
        List<String> files = new ArrayList<>();
        if (!plan.parametersOf(ranks.rank(), parameters).isEmpty()) {
            files.add(plan.modelFile(ranks.rank()));
        }
        if (!ownSlices.isEmpty()) {
            files.add(plan.stateFile(ranks.rank()));
        }
        if (ranks.rank() == 0) {
            files.add(ObjectNames.INDEX);
        }
        return files;
    }

    private List<ManifestEntry> write() throws IOException {
        if (notCopied != null) {
            throw new CheckpointException(
                    ranks.origin() + " could not copy the tensors that it writes: " + MessageFormatter.of(notCopied)
                            + "; save() needs no copy",
                    notCopied);
        }
        int rank = ranks.rank();
        List<ManifestEntry> parts = new ArrayList<>();
        if (!ownParameters.isEmpty()) {
            parts.add(PartWriter.safetensors(storage, ownFolder, plan.modelFile(rank), rank, ownParameters));
        }
        if (!ownSlices.isEmpty()) {
            parts.add(PartWriter.safetensors(storage, ownFolder, plan.stateFile(rank), rank, ownSlices));
        }
        if (rank == 0) {
            parts.add(PartWriter.text(storage, ownFolder, ObjectNames.INDEX, rank, index().text()));
        }
        return parts;
    }

    private WeightIndex index() {
        Map<String, String> files = new LinkedHashMap<>();
        long bytes = 0;
        for (int index = 0; index < parameters.size(); index++) {
            NamedTensor tensor = parameters.get(index);
            files.put(tensor.name(), plan.modelFile(plan.parameterRanks()[index]));
            bytes += tensor.values().byteCount();
        }
        return new WeightIndex(files, bytes);
    }

    private void publish(CheckpointInfo info, List<ManifestEntry> parts) throws IOException {
        String manifest = new CheckpointManifest(ownFolder, info, parts).text();
        try {
            PartWriter.text(storage, ownFolder, ObjectNames.MANIFEST, 0, manifest);
        } catch (IOException | RuntimeException | Error failure) {
            deleteFailed(parts);
            folder.refuseIfLost(failure);
            throw failure;
        }
        long checksum = CheckpointManifest.checksum(ByteBuffer.wrap(manifest.getBytes(StandardCharsets.UTF_8)));
        SavedStep saved = new SavedStep(ownFolder, step, ranks.worldSize(), checksum);
        folder.publish(saved, () -> deleteFailed(parts));
        try (SystemContext process = SystemContext.ofProcess()) {
            CheckpointReport.of(process).published(step);
        }
        folder.copyForOthers();
        if (settings.keepLast() > 0) {
            new Retention(folder).deleteOlder(saved, settings.keepLast());
        }
    }

    /** Deletes the files of all ranks. The manifest is deleted first. */
    private void deleteFailed(List<ManifestEntry> parts) {
        List<String> files = new ArrayList<>(List.of(ObjectNames.MANIFEST));
        parts.forEach(part -> files.add(part.file()));
        new Retention(folder).deleteFailed(ownFolder, files);
    }

    /** Rank 0 reads all parts. The other ranks read one small part of rank 0, because they may have written no part. */
    private void awaitSeen(List<ManifestEntry> parts) throws IOException {
        ObjectReader reader = new ObjectReader(storage);
        for (ManifestEntry part : parts) {
            if (ranks.rank() == 0 || part.file().equals(ObjectNames.INDEX)) {
                String unseen =
                        folder.awaitSeen(ownFolder, settings.visibleWithin(), () -> reader.difference(ownFolder, part));
                if (!unseen.isEmpty()) {
                    throw new CheckpointException(ranks.origin() + " does not see the part of rank " + part.rank()
                            + " on host " + hosts.get(part.rank()) + ": is " + storage + " shared? (" + unseen + ")");
                }
            }
        }
    }
}
