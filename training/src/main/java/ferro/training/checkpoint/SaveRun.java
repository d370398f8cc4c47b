package ferro.training.checkpoint;

import ferro.HostTensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * One save: all ranks agree on who writes what, each writes its files, and rank 0 publishes when it has read all of them. What one
 * rank throws all throw.
 */
final class SaveRun {
    private static final long LOOK_AGAIN_NANOS = Duration.ofMillis(50).toNanos();

    private final RankMessages ranks;
    private final CheckpointStorage storage;
    private final CheckpointSettings settings;
    private final long step;
    private final Map<String, String> metadata;
    private SavePlan plan;
    private List<String> hosts;
    private List<NamedTensor> parameters;
    private List<NamedTensor> ownParameters;
    private List<NamedTensor> ownSlices;
    private Throwable notCopied;

    private SaveRun(
            RankMessages ranks,
            CheckpointStorage storage,
            CheckpointSettings settings,
            long step,
            Map<String, String> metadata) {
        this.ranks = ranks;
        this.storage = storage;
        this.settings = settings;
        this.step = step;
        this.metadata = metadata;
    }

    /** Agrees with the other ranks on who writes what; nothing is written yet. */
    static SaveRun planned(
            RankMessages ranks,
            CheckpointStorage storage,
            CheckpointSettings settings,
            long step,
            TrainingState state) {
        SaveRun run = new SaveRun(ranks, storage, settings, step, state.metadata());
        run.agree(state);
        return run;
    }

    long step() {
        return step;
    }

    /** Says what this is in messages. */
    String what() {
        return "saving step " + step;
    }

    private void agree(TrainingState state) {
        int rank = ranks.rank();
        List<JsonValues> proposals = ranks.exchange(what(), () -> {
            refuseTwins(state.parameters());
            if (rank == 0) {
                new Retention(storage).clear(step);
            }
            return SavePlan.proposal(step, state, rank == 0);
        });
        plan = SavePlan.of(proposals, state.parameters());
        if (settings.compareRanks() && ranks.worldSize() > 1) {
            new HeldTwice(plan, state, ranks.worldSize()).compare(ranks, what());
        }
        hosts = proposals.stream().map(RankMessages::hostOf).toList();
        parameters = state.parameters();
        ownParameters = plan.parametersOf(rank, parameters);
        ownSlices = plan.slicesOf(rank, state.slices());
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

    /** Copies what this rank writes, so that training may go on. If it cannot, {@link #run} fails on all ranks. */
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

    /** Writes and publishes; returns what the checkpoint says of itself. */
    CheckpointInfo run() {
        List<JsonValues> written;
        try {
            written = ranks.exchange(
                    what(),
                    () -> Map.of(
                            "parts", write().stream().map(StoredPart::fields).toList()));
        } catch (CheckpointException failure) {
            // a rank said that it cannot write, so that rank 0 does not publish; after a lost rank it may have done so
            new Retention(storage).deleteFailed(step, ownFiles());
            throw failure;
        }
        CheckpointInfo info = new CheckpointInfo(step, ranks.worldSize(), metadata);
        ranks.exchange(what(), () -> {
            if (ranks.rank() == 0) {
                publish(info, written);
            }
            return Map.of();
        });
        return info;
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

    private List<StoredPart> write() throws IOException {
        if (notCopied != null) {
            throw new CheckpointException(
                    ranks.place() + " has no copy of what it writes: " + Text.of(notCopied) + "; save() needs none",
                    notCopied);
        }
        int rank = ranks.rank();
        List<StoredPart> parts = new ArrayList<>();
        if (!ownParameters.isEmpty()) {
            parts.add(PartWriter.safetensors(storage, step, plan.modelFile(rank), rank, ownParameters));
        }
        if (!ownSlices.isEmpty()) {
            parts.add(PartWriter.safetensors(storage, step, plan.stateFile(rank), rank, ownSlices));
        }
        if (rank == 0) {
            parts.add(PartWriter.text(storage, step, ObjectNames.INDEX, rank, index().text()));
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

    private void publish(CheckpointInfo info, List<JsonValues> written) throws IOException {
        List<StoredPart> parts = new ArrayList<>();
        for (JsonValues message : written) {
            message.objects("parts").forEach(part -> parts.add(StoredPart.of(part)));
        }
        String manifest = new CheckpointManifest(info, parts).text();
        try {
            for (StoredPart part : parts) {
                awaitSeen(part);
            }
            PartWriter.text(storage, step, ObjectNames.MANIFEST, 0, manifest);
        } catch (IOException | RuntimeException | Error failure) {
            List<String> files = new ArrayList<>(List.of(ObjectNames.MANIFEST));
            parts.forEach(part -> files.add(part.file()));
            new Retention(storage).deleteFailed(step, files);
            throw failure;
        }
        long checksum = CheckpointManifest.checksum(ByteBuffer.wrap(manifest.getBytes(StandardCharsets.UTF_8)));
        storage.publish(ObjectNames.LATEST, new CheckpointManifest.LatestStep(step, checksum).bytes());
        if (settings.keepLast() > 0) {
            new Retention(storage).deleteOlder(step, settings.keepLast());
        }
    }

    private void awaitSeen(StoredPart part) throws IOException {
        ObjectReader reader = new ObjectReader(storage);
        long begun = System.nanoTime();
        String difference = reader.difference(step, part);
        while (!difference.isEmpty()) {
            if (System.nanoTime() - begun >= settings.visibleWithin().toNanos()) {
                throw new CheckpointException(ranks.place() + " does not see the part of rank " + part.rank()
                        + " on host " + hosts.get(part.rank()) + ": is " + storage + " shared? (" + difference + ")");
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
            // a client of NFS asks its server for the entries of a folder again when it is opened
            storage.list(ObjectNames.folder(step) + "/");
            difference = reader.difference(step, part);
        }
    }
}
