package ferro.training.checkpoint;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checkpoints that cannot be saved or loaded, on all ranks alike, by messages that name rank, file or tensor. */
class RefusedCheckpointTest {
    private static final String MODEL = "step-1/model-00001-of-00002.safetensors";
    private static final String STATE = "step-1/optimizer-00002-of-00002.safetensors";
    private static final String MANIFEST = "step-1/checkpoint.json";
    private static final String INDEX = "step-1/model.safetensors.index.json";

    @TempDir
    private Path folder;

    private final MemoryStorage storage = saved();

    /** Two hosts that have a folder of this name each. */
    @Test
    void rankZeroNamesTheRankAndHostWhosePartIsMissing() {
        List<Path> folders = List.of(folder.resolve("a"), folder.resolve("b"));
        List<String> messages = messages(3, (group, model) -> {
            String host = group.rank() == 2 ? "b" : "a";
            CheckpointStorage storage = LocalStorage.at(folders.get(group.rank() == 2 ? 1 : 0));
            CheckpointSettings settings = CheckpointSettings.DEFAULT.withVisibleWithin(Duration.ofMillis(1));
            try (Checkpoints checkpoints = Checkpoints.open(group, storage, settings, host)) {
                checkpoints.save(1, model.state());
            }
        });
        String expected = "saving step 1 failed: rank 0 on host a does not see the part of rank 2 on host b: is "
                + folders.get(0) + " shared? (step-1/model-00003-of-00003.safetensors is missing); " + unseenIndex(2);
        assertEquals(List.of(expected, expected, expected), messages);
        assertEquals(List.of(), filesOfSteps());
    }

    /** A small model has no part for the rank on the other host, so rank 0 misses no file. */
    @Test
    void aRankWithoutAPartNamesTheFolderThatIsNotShared() {
        List<String> messages = messages(2, (group, model) -> {
            NamedTensor one = ToyModel.tensor("w", DataType.FLOAT32, 4);
            CheckpointSettings settings = CheckpointSettings.DEFAULT.withVisibleWithin(Duration.ofMillis(1));
            CheckpointStorage storage = LocalStorage.at(folder.resolve(group.rank() == 0 ? "a" : "b"));
            try (Checkpoints checkpoints = Checkpoints.open(group, storage, settings, group.rank() == 0 ? "a" : "b")) {
                checkpoints.save(1, TrainingState.of(List.of(one)));
            }
        });
        String expected = "saving step 1 failed: " + unseenIndex(1);
        assertEquals(List.of(expected, expected), messages);
        assertEquals(List.of(), filesOfSteps());
    }

    private String unseenIndex(int rank) {
        return "rank " + rank + " on host b does not see the part of rank 0 on host a: is " + folder.resolve("b")
                + " shared? (" + INDEX + " is missing)";
    }

    private List<String> filesOfSteps() {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.map(path -> folder.relativize(path).toString())
                    .filter(path -> path.contains("/step-"))
                    .toList();
        } catch (IOException failure) {
            throw new AssertionError("cannot list " + folder, failure);
        }
    }

    /** As where the disk of another host changes a bit. */
    @Test
    void aPartWithChangedBytesIsNotPublished() {
        MemoryStorage memory = new MemoryStorage();
        ForwardingStorage changing = new ForwardingStorage(memory) {
            @Override
            public void write(String name, ObjectContent content) throws IOException {
                super.write(name, content);
                memory.objects.get(name)[9] ^= 1;
            }
        };
        List<String> messages = messages(2, (group, model) -> {
            CheckpointSettings settings = CheckpointSettings.DEFAULT.withVisibleWithin(Duration.ZERO);
            CheckpointStorage own = group.rank() == 0 ? memory : changing;
            try (Checkpoints checkpoints = Checkpoints.open(group, own, settings, "a")) {
                checkpoints.save(1, model.state());
            }
        });
        assertSays(messages.get(0), "does not see the part of rank 1 on host a", " has checksum ");
        assertEquals(messages.get(0), messages.get(1));
    }

    @Test
    void aRankThatCannotWriteFailsAllRanksAndIsNamed() {
        MemoryStorage empty = new MemoryStorage();
        List<String> messages = messages(3, (group, model) -> {
            DyingStorage full = new DyingStorage(empty);
            if (group.rank() == 1) {
                full.dieAtCall(0, false);
            }
            try (Checkpoints checkpoints =
                    Checkpoints.open(group, full, CheckpointSettings.DEFAULT, "h" + group.rank())) {
                checkpoints.save(1, model.state());
            }
        });
        String expected = "saving step 1 failed: rank 1 on host h1: IOException: the machine dies";
        assertEquals(List.of(expected, expected, expected), messages);
        assertTrue(!empty.objects.containsKey("latest.json"));
    }

    @Test
    void parametersThatDifferBetweenRanksAreNamed() {
        List<String> messages = messages(2, (group, model) -> {
            NamedTensor differing = ToyModel.tensor("w", DataType.FLOAT32, 4 + group.rank());
            try (Checkpoints checkpoints = Checkpoints.open(group, new MemoryStorage())) {
                checkpoints.save(1, TrainingState.of(List.of(model.parameters.get(0), differing)));
            }
        });
        assertEquals(
                "ranks save different parameters: the parameters of rank 1 differ from those of rank 0",
                messages.get(0));
        assertEquals(
                messages.get(0) + "; parameters[1] is w f32[4] on rank 0, but w f32[5] on this rank", messages.get(1));
    }

    @Test
    void stateWithGapsAndOverlapsIsNotSaved() {
        List<String> messages = messages(2, (group, model) -> {
            HostTensor four = HostTensor.of(new float[4]);
            List<StateSlice> slices = List.of(
                    StateSlice.of("gap", "dense.weight", 4L * group.rank(), four.slice(0, 3)),
                    StateSlice.of("overlap", "dense.weight", 3L * group.rank(), four),
                    StateSlice.of("mean", "nothing", 0, four),
                    StateSlice.of("types", "mask", 0, group.rank() == 0 ? four : HostTensor.of(new double[5])));
            try (Checkpoints checkpoints = Checkpoints.open(group, new MemoryStorage())) {
                checkpoints.save(1, model.state().withSlices(slices));
            }
        });
        String message = messages.get(0);
        assertSays(
                message,
                "state gap of \"dense.weight\": elements 3 to 3 are missing",
                "state overlap of \"dense.weight\": elements 3 to 3 are in two different ranges",
                "state mean of \"nothing\": there is no such parameter",
                "state types of \"mask\": has ranges of type f32 and of type f64");
        assertEquals(message, messages.get(1));
    }

    @Test
    void missingExtraAndDifferentTensorsAreNamedAndNothingIsWritten() {
        List<String> messages = messages(2, (group, model) -> {
            List<NamedTensor> wanted = new ArrayList<>(model.parameters);
            wanted.set(0, ToyModel.tensor("embed/table@0", DataType.FLOAT32, 5, 3));
            wanted.set(1, ToyModel.tensor("dense.weight", DataType.FLOAT32, 7));
            wanted.set(2, ToyModel.tensor("other", DataType.BFLOAT16, 3));
            try (Checkpoints checkpoints = Checkpoints.open(group, storage)) {
                model.fill(50);
                String failed = message(() -> checkpoints.load(TrainingState.of(wanted)));
                model.assertOf(50);
                throw new CheckpointException(failed);
            }
        });
        String problems = "the tensors do not match the checkpoint: missing: other bf16[3]; "
                + "differs: \"embed/table@0\" expected f32[5, 3], found f32[3, 5]; "
                + "differs: \"dense.weight\" expected f32[7], found f64[7]; not expected: half bf16[3]";
        assertTrue(messages.get(0).startsWith("loading step 1 failed: rank 0 on host "), messages.get(0));
        assertTrue(messages.get(0).contains(problems), messages.get(0));
        assertEquals(messages.get(0), messages.get(1));
    }

    @Test
    void missingExtraAndDifferentStateIsNamed() {
        String loadsMore = message(2, (rank, model) -> {
            HostTensor values = HostTensor.of(new float[7]);
            return List.of(
                    StateSlice.of("momentum", "dense.weight", 2, values.slice(0, 3)),
                    StateSlice.of("exp_avg", "dense.weight", 5, values.slice(0, 4)),
                    StateSlice.of("exp_avg_sq", "dense.weight", 0, HostTensor.of(new double[2])));
        });
        assertSays(
                loadsMore,
                "missing: state momentum of \"dense.weight\" f32 from element 2 to 4",
                "missing: state exp_avg of \"dense.weight\" f32 from element 7 to 8",
                "differs: state exp_avg_sq of \"dense.weight\" expected f64, found f32");
        String loadsLess = message(2, (rank, model) -> model.slices.subList(0, 2 * rank));
        assertEquals(
                "loading step 1 failed: the checkpoint has state that no rank expects: state exp_avg of \"dense.weight\"; "
                        + "state exp_avg_sq of \"dense.weight\"",
                loadsLess);
    }

    @ParameterizedTest
    @ValueSource(strings = {MODEL, STATE, INDEX, "step-1/checkpoint.json"})
    void aFileWithOneChangedBitIsNamed(String file) {
        byte[] bytes = storage.objects.get(OwnNames.of(storage, file)).clone();
        // in the last element, or in the closing brace
        bytes[bytes.length - 1] ^= 1;
        storage.objects.put(OwnNames.of(storage, file), bytes);
        String message = message(2, (rank, model) -> model.slices);
        assertTrue(message.contains(file + " has checksum "), message);
        assertTrue(message.endsWith(": the file is damaged"), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {MODEL, STATE, INDEX})
    void aFileThatIsMissingOrShortIsNamed(String file) {
        String name = OwnNames.of(storage, file);
        byte[] bytes = storage.objects.remove(name);
        assertSays(message(2, (rank, model) -> model.slices), file + ", the part of rank ", "is missing in memory");
        storage.objects.put(name, java.util.Arrays.copyOf(bytes, bytes.length - 1));
        assertSays(
                message(2, (rank, model) -> model.slices),
                file + " has " + (bytes.length - 1) + " bytes, need " + bytes.length);
    }

    /** Somebody who writes all checksums as well. */
    @ParameterizedTest
    @CsvSource({
        "../secret, need the name of a file in the same folder",
        "/etc/passwd, need the name of a file in the same folder",
        "a/b, need the name of a file in the same folder",
        ".hidden, need the name of a file in the same folder",
        "'', need the name of a file in the same folder",
        "latest.json, which is not listed in step-1/checkpoint.json",
        "optimizer-00001-of-00002.safetensors, but the index names optimizer-00001-of-00002.safetensors for it"
    })
    void namesInTheIndexMustStayInTheFolder(String name, String said) {
        forge(INDEX, text -> text.replaceFirst("model-00001-of-00002.safetensors", name));
        assertSays(message(1, (rank, model) -> model.slices), INDEX, said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"../model.safetensors", "/etc/passwd", "a\\\\b", "..", ""})
    void namesInTheManifestMustStayInTheFolder(String name) {
        forge(MANIFEST, text -> text.replaceFirst("model-00001-of-00002.safetensors", name));
        assertSays(
                message(1, (rank, model) -> model.slices),
                "step-1/checkpoint.json: need the name of a file in the same folder");
    }

    @ParameterizedTest
    @CsvSource({
        "'\"step\":1', '\"step\":2', step-1/checkpoint.json: need step 1, found 2",
        "'\"version\":1', '\"version\":2', need format ferro-checkpoint version 1",
        "'ferro-checkpoint', 'other', need format ferro-checkpoint version 1",
        "'\"worldSize\":2', '\"worldSize\":-2', need an integer of 0 or more",
        "'\"worldSize\":2', '\"worldSize\":4294967298', need an integer of at most 2147483647",
        "'\"parts\":', '\"ports\":', '\"parts\": need an array, found nothing'"
    })
    void anInvalidManifestIsNamed(String text, String other, String said) {
        forge(MANIFEST, json -> json.replace(text, other));
        assertSays(message(1, (rank, model) -> model.slices), "step-1/checkpoint.json", said);
    }

    @Test
    void aHostileHeaderIsRefusedByLoadWithItsFile() {
        byte[] bytes = storage.objects.get(OwnNames.of(storage, MODEL)).clone();
        bytes[7] = 0x7f;
        storage.objects.put(OwnNames.of(storage, MODEL), bytes);
        assertSays(message(2, (rank, model) -> model.slices), MODEL + ": the header has 9151");
    }

    @Test
    void anInvalidLatestFileIsNamed() {
        storage.objects.put(
                OwnNames.of(storage, "latest.json"), "{\"step\":\"../1\"}".getBytes(StandardCharsets.UTF_8));
        assertSays(message(2, (rank, model) -> model.slices), "latest.json: \"format\": need a string, found nothing");
    }

    /** Changes a text, and what others say of its length and checksum. */
    private void forge(String file, UnaryOperator<String> change) {
        byte[] before = storage.objects.get(OwnNames.of(storage, file));
        byte[] after = change.apply(new String(before, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
        storage.objects.put(OwnNames.of(storage, file), after);
        String old = "\"crc32c\":" + crc(before);
        String said = "\"crc32c\":" + crc(after);
        if (file.equals(MANIFEST)) {
            String latest =
                    new String(storage.objects.get(OwnNames.of(storage, "latest.json")), StandardCharsets.UTF_8);
            assertTrue(latest.contains(old), latest);
            storage.objects.put(
                    OwnNames.of(storage, "latest.json"),
                    latest.replace(old, said).getBytes(StandardCharsets.UTF_8));
        } else {
            forge(
                    MANIFEST,
                    text -> text.replace(old, said).replace("\"bytes\":" + before.length, "\"bytes\":" + after.length));
        }
    }

    private static long crc(byte[] bytes) {
        java.util.zip.CRC32C checksum = new java.util.zip.CRC32C();
        checksum.update(bytes);
        return checksum.getValue();
    }

    /** A checkpoint of two ranks. */
    private static MemoryStorage saved() {
        MemoryStorage storage = new MemoryStorage();
        SavingJob.each(2, storage, (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
        });
        return storage;
    }

    /** Loads, and returns what all ranks say alike. */
    private String message(int worldSize, BiFunction<Integer, ToyModel, List<StateSlice>> slices) {
        List<String> messages = messages(worldSize, (group, model) -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, storage)) {
                checkpoints.load(new TrainingState(model.parameters, slices.apply(group.rank(), model), Map.of()));
            }
        });
        assertEquals(1, Stream.of(messages.toArray()).distinct().count(), messages::toString);
        return messages.get(0);
    }

    private static List<String> messages(int worldSize, BiConsumer<ProcessGroup, ToyModel> refused) {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, worldSize)) {
            List<Throwable> thrown = ranks.failures(group -> {
                refused.accept(group, ToyModel.on(group.rank(), worldSize).fill(1));
            });
            return thrown.stream()
                    .map(each -> OwnNames.shortened(
                            assertInstanceOf(CheckpointException.class, each).getMessage()))
                    .toList();
        }
    }

    private static String message(Runnable refused) {
        return assertThrows(CheckpointException.class, refused::run).getMessage();
    }
}
