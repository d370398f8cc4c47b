package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.checkpoint.PlainSafetensors.PlainTensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that a second reader opens, which knows the description of the format and nothing of ferro; and Python, where it is. */
class SafetensorsFilesTest {
    private static final long TIMEOUT_SECONDS = 60;

    /** Reads the index, each file that it names, and the tensors; prints name, type, shape and values. */
    private static final String PYTHON = """
            import json, struct, sys
            folder = sys.argv[1]
            formats = {'F32': 'f', 'F64': 'd', 'BF16': 'h', 'I64': 'q', 'U8': 'B'}
            index = json.load(open(folder + '/model.safetensors.index.json', encoding='utf-8'))
            total = 0
            for name, file in sorted(index['weight_map'].items()):
                data = open(folder + '/' + file, 'rb').read()
                length, = struct.unpack('<Q', data[:8])
                header = json.loads(data[8:8 + length])
                assert header['__metadata__'] == {'format': 'pt'}
                tensor = header[name]
                begin, end = tensor['data_offsets']
                total += end - begin
                kind = formats[tensor['dtype']]
                raw = data[8 + length + begin:8 + length + end]
                values = struct.unpack('<%d%s' % (len(raw) // struct.calcsize(kind), kind), raw)
                line = [name, tensor['dtype'], str(tensor['shape']), ' '.join(str(int(v)) for v in values)]
                sys.stdout.buffer.write(('|'.join(line) + '\\n').encode('utf-8'))
            assert total == index['metadata']['total_size']
            """;

    @TempDir
    private Path folder;

    @Test
    void anIndependentReaderFindsEveryTensorInItsShape() throws IOException {
        save(3);
        Map<String, Object> index = PlainSafetensors.object(text("model.safetensors.index.json"));
        Map<?, ?> files = (Map<?, ?>) index.get("weight_map");
        ToyModel model = ToyModel.on(0, 1).fill(9);
        long bytes = 0;
        for (NamedTensor parameter : model.parameters) {
            byte[] file = Files.readAllBytes(step().resolve((String) files.get(parameter.name())));
            PlainTensor found = PlainSafetensors.read(file).get(parameter.name());
            assertEquals(parameter.shape(), found.shape(), parameter.name());
            assertEquals(parameter.values().dataType().label().toUpperCase(java.util.Locale.ROOT), found.dtype());
            HostTensor stored = HostTensor.allocate(
                    parameter.values().dataType(), parameter.values().elementCount());
            assertEquals(stored.byteCount(), found.data().remaining());
            stored.buffer().put(found.data());
            parameter.values().copyFrom(0, stored, 0, stored.elementCount());
            bytes += stored.byteCount();
        }
        model.assertOf(9);
        assertEquals(model.parameters.size(), files.size());
        assertEquals(bytes, ((Map<?, ?>) index.get("metadata")).get("total_size"));
        assertEquals(
                List.of(
                        "model-00001-of-00003.safetensors",
                        "model-00002-of-00003.safetensors",
                        "model-00003-of-00003.safetensors"),
                List.copyOf(new TreeSet<>(files.values())));
    }

    @Test
    void anIndependentReaderFindsStateByParameterAndOffset() throws IOException {
        save(2);
        Map<String, Integer> lengths = new TreeMap<>();
        for (String file : List.of("optimizer-00001-of-00002.safetensors", "optimizer-00002-of-00002.safetensors")) {
            PlainSafetensors.read(Files.readAllBytes(step().resolve(file))).forEach((name, tensor) -> {
                long from = Long.parseLong(name.substring(name.lastIndexOf('@') + 1));
                String key = name.substring(0, name.lastIndexOf('@')).replaceFirst("/", "");
                for (int at = 0; at < tensor.data().remaining() / 4; at++) {
                    assertEquals(
                            ToyModel.value(9, key, from + at), tensor.data().getFloat(4 * at), name);
                }
                lengths.put(name, tensor.data().remaining() / 4);
            });
        }
        assertEquals(
                new TreeMap<>(Map.of(
                        "exp_avg/dense.weight@0", 3,
                        "exp_avg/dense.weight@3", 4,
                        "exp_avg/embed/table@0@0", 7,
                        "exp_avg/embed/table@0@7", 8,
                        "exp_avg_sq/dense.weight@0", 3,
                        "exp_avg_sq/dense.weight@3", 4,
                        "exp_avg_sq/embed/table@0@0", 7,
                        "exp_avg_sq/embed/table@0@7", 8)),
                lengths);
    }

    @Test
    void pythonReadsTheFilesByItsStandardLibrary() throws Exception {
        Path script = Files.writeString(folder.resolve("read.py"), PYTHON);
        assumeTrue(runs("python3", "--version"), "python3 is not on this machine");
        save(3);
        Path printed = folder.resolve("printed");
        Process python = new ProcessBuilder("python3", script.toString(), step().toString())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        assertTrue(python.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS), "python3 does not end");
        assertEquals(0, python.exitValue(), () -> text("../printed"));
        List<String> expected = new ArrayList<>();
        for (NamedTensor parameter : ToyModel.on(0, 1).fill(9).parameters) {
            StringBuilder values = new StringBuilder();
            for (int index = 0; index < parameter.values().elementCount(); index++) {
                int value = ToyModel.value(9, parameter.name(), index);
                DataType type = parameter.values().dataType();
                values.append(index == 0 ? "" : " ").append(type == DataType.UINT8 ? value & 255 : value);
            }
            expected.add(String.join(
                    "|",
                    parameter.name(),
                    parameter.values().dataType().label().toUpperCase(java.util.Locale.ROOT),
                    parameter.shape().toString(),
                    values));
        }
        expected.sort(null);
        assertEquals(expected, Files.readAllLines(printed).stream().sorted().toList());
    }

    /** By the library of the ecosystem itself, where Python has it. */
    @Test
    void theSafetensorsLibraryOpensTheFiles() throws Exception {
        assumeTrue(runs("python3", "-c", "import safetensors"), "python3 with safetensors is not on this machine");
        Ranks.each(Medium.SIMULATED, 1, group -> {
            NamedTensor tensor = ToyModel.tensor("w", DataType.FLOAT32, 2, 3);
            for (int index = 0; index < 6; index++) {
                tensor.values().setFloat(index, index + 0.5f);
            }
            try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                checkpoints.save(9, TrainingState.of(List.of(tensor)));
            }
        });
        String file = step().resolve("model-00001-of-00001.safetensors").toString();
        String check =
                "import struct, sys, safetensors as s; w = dict(s.deserialize(open(sys.argv[1], 'rb').read()))['w'];"
                        + "assert (w['dtype'], w['shape']) == ('F32', [2, 3]), w;"
                        + "assert struct.unpack('<6f', bytes(w['data'])) == (0.5, 1.5, 2.5, 3.5, 4.5, 5.5), w";
        assertTrue(runs("python3", "-c", check, file), "the library reads something else");
    }

    private static boolean runs(String... command) throws Exception {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException missing) {
            return false;
        }
    }

    private void save(int worldSize) {
        SavingJob.each(worldSize, LocalStorage.at(folder), (group, model, checkpoints) -> {
            checkpoints.save(9, model.fill(9).state());
        });
    }

    private Path step() {
        return OwnNames.folder(folder, 9);
    }

    private String text(String file) {
        try {
            return Files.readString(step().resolve(file), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new AssertionError("cannot read " + file, failure);
        }
    }
}
