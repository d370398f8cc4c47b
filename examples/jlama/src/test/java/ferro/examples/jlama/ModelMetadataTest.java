package ferro.examples.jlama;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.tjake.jlama.tensor.operations.NaiveTensorOperations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models that Jlama would compute wrongly are refused. */
class ModelMetadataTest {
    @TempDir
    private Path folder;

    @Test
    void threeRanksAreRefusedWithThePossibleNumbers() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);
        ModelMetadata model = ModelMetadata.read(folder);

        assertEquals(
                Optional.of(
                        "cannot run the model in " + folder + ": its 8 heads, 4 key-value heads, hidden size 128 and"
                                + " intermediate size 256 cannot be split evenly over 3 ranks; possible numbers of ranks: 1, 2,"
                                + " 4"),
                model.refusal(3));
        assertEquals(
                List.of(1, 2, 4),
                IntStream.rangeClosed(1, 9)
                        .filter(ranks -> model.refusal(ranks).isEmpty())
                        .boxed()
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({
        "hidden_size,136,hidden size 136",
        "num_attention_heads,16,head size 8",
        "num_attention_heads,6,6 heads",
        "num_key_value_heads,3,3 key-value heads",
        "num_key_value_heads,0,0 key-value heads",
        "intermediate_size,264,intermediate size 264",
        "head_dim,32,head size 32",
        "model_type,gemma,model_type is gemma",
    })
    void aConfigurationThatCannotBeSplitIsRefused(String name, String value, String expected) throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);
        Path file = folder.resolve("config.json");
        String json = name + "\" : " + (value.matches("\\d+") ? value : '"' + value + '"');
        String config = Files.readString(file).replaceFirst(name + "\" : \"?\\w+\"?", json);
        Files.writeString(file, name.equals("head_dim") ? config.replaceFirst("\\{", "{\"" + json + ",") : config);

        String refusal = ModelMetadata.read(folder).refusal(2).orElseThrow();

        assertTrue(refusal.contains(expected), refusal);
    }

    @Test
    void weightsOfTypeBfloat16AreRefused() throws IOException {
        RandomModel.write(folder, SmallModels.of(false), "BF16", 7);

        String refusal = ModelMetadata.read(folder).refusal(1).orElseThrow();

        assertTrue(refusal.contains("lm_head.weight have type BF16, need F32"), refusal);
    }

    @Test
    void kernelsThatAreNotOfJavaAreRefused() {
        assertEquals(Optional.empty(), Kernels.refusal());
        String refusal = Kernels.refusal(new NaiveTensorOperations() {
                    @Override
                    public String name() {
                        return "Stand-in Operations";
                    }
                })
                .orElseThrow();
        assertTrue(refusal.contains("Stand-in Operations, which compute wrong answers: remove jlama-native"), refusal);
    }

    @Test
    void aMissingFileIsNamed() throws IOException {
        IOException noFolder = assertThrows(IOException.class, () -> ModelMetadata.read(folder.resolve("none")));
        assertTrue(noFolder.getMessage().contains("none/config.json"), noFolder.getMessage());

        RandomModel.write(folder, SmallModels.of(true), "F32", 7);
        Files.writeString(folder.resolve("model.safetensors"), "no weights at all");
        IOException noWeights = assertThrows(IOException.class, () -> ModelMetadata.read(folder));
        assertTrue(noWeights.getMessage().contains("no safetensors file"), noWeights.getMessage());
    }

    @Test
    void aRandomModelDependsOnlyOnItsSeed(@TempDir Path same, @TempDir Path other) throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);
        RandomModel.write(same, SmallModels.of(true), "F32", 7);
        RandomModel.write(other, SmallModels.of(true), "F32", 8);

        for (String file : List.of("config.json", "tokenizer.json", "model.safetensors")) {
            assertEquals(-1, Files.mismatch(folder.resolve(file), same.resolve(file)), file);
        }
        String fingerprint = ModelMetadata.read(folder).fingerprint();
        assertEquals(fingerprint, ModelMetadata.read(same).fingerprint());
        assertNotEquals(fingerprint, ModelMetadata.read(other).fingerprint());
    }
}
