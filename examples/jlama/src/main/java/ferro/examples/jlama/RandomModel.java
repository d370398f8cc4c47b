package ferro.examples.jlama;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A program that writes a random Llama model: {@code config.json}, {@code model.safetensors}, {@code tokenizer.json}
 * and {@code tokenizer_config.json}. The same options write the same bytes. The text of such a model has no meaning.
 */
public final class RandomModel {
    private static final String USAGE = """
        usage: RandomModel --model FOLDER [--hidden N] [--intermediate N] [--layers N] [--heads N] [--kv-heads N]
                           [--vocabulary N] [--seed N] [--type F32|BF16]

          --model FOLDER    folder to write to; it is created if it does not exist
          --hidden N        length of the vector between layers (default 1024)
          --intermediate N  hidden units of a feed-forward block (default 2816)
          --layers N        number of layers (default 12)
          --heads N         attention heads (default 16)
          --kv-heads N      key-value heads; fewer than --heads for grouped heads (default 8)
          --vocabulary N    number of tokens, at least 128 (default 4096)
          --seed N          seed of the weights (default 42)
          --type TYPE       type of the weights: F32, or BF16, which Generate refuses (default F32)
        """;

    private static final Map<String, String> DEFAULTS = Map.of(
            "--model",
            "",
            "--hidden",
            "1024",
            "--intermediate",
            "2816",
            "--layers",
            "12",
            "--heads",
            "16",
            "--kv-heads",
            "8",
            "--vocabulary",
            "4096",
            "--seed",
            "42",
            "--type",
            "F32");

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> SPECIAL = List.of("<unk>", "<s>", "</s>");
    private static final int FIRST_CHARACTER = ' ';
    private static final int LAST_CHARACTER = '~';

    private final ModelShape shape;
    private final boolean isBfloat16;
    private final Random random;

    private RandomModel(ModelShape shape, String type, long seed) {
        Arguments.require(List.of("F32", "BF16").contains(type), "--type " + type + ": need F32 or BF16");
        Arguments.require(
                shape.vocabulary() >= 128, "vocabulary of " + shape.vocabulary() + " tokens: need at least 128 tokens");
        this.shape = shape;
        this.isBfloat16 = type.equals("BF16");
        this.random = new Random(seed);
    }

    /**
     * Writes a model.
     *
     * @param arguments options, as {@code --help} lists them
     * @throws IOException if a file cannot be written
     */
    public static void main(String[] arguments) throws IOException {
        if (List.of(arguments).contains("--help")) {
            System.out.print(USAGE);
            return;
        }
        try {
            Arguments options = Arguments.parse(DEFAULTS, arguments);
            Arguments.require(!options.text("--model").isEmpty(), "--model is missing: name a folder; see --help");
            Path folder = Path.of(options.text("--model"));
            ModelShape shape = new ModelShape(
                    options.integer("--hidden", 1),
                    options.integer("--intermediate", 1),
                    options.integer("--layers", 1),
                    new ModelShape.HeadCounts(options.integer("--heads", 1), options.integer("--kv-heads", 1)),
                    options.integer("--vocabulary", 1));
            long bytes = write(folder, shape, options.text("--type"), options.integer("--seed", 0));
            System.out.printf("%s: %,d bytes of weights%n", folder, bytes);
        } catch (IllegalArgumentException misuse) {
            System.err.println("RandomModel: " + misuse.getMessage());
            System.exit(2);
        }
    }

    /** Writes a model with weights of type F32 or BF16, and returns the number of bytes of all weights. */
    static long write(Path folder, ModelShape shape, String type, long seed) throws IOException {
        RandomModel model = new RandomModel(shape, type, seed);
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("config.json"), model.config().toPrettyString());
        Files.writeString(folder.resolve("tokenizer.json"), model.tokenizer().toString());
        Files.writeString(folder.resolve("tokenizer_config.json"), "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}");
        return model.writeWeights(folder.resolve("model.safetensors"));
    }

    private ObjectNode config() {
        ObjectNode config = JSON.createObjectNode();
        config.putArray("architectures").add("LlamaForCausalLM");
        return config.put("model_type", "llama")
                .put("hidden_size", shape.hidden())
                .put("intermediate_size", shape.intermediate())
                .put("num_hidden_layers", shape.layers())
                .put("num_attention_heads", shape.heads().queries())
                .put("num_key_value_heads", shape.heads().keyValues())
                .put("vocab_size", shape.vocabulary())
                .put("max_position_embeddings", ModelShape.CONTEXT)
                .put("rms_norm_eps", 1e-5)
                .put("rope_theta", 10000.0)
                .put("hidden_act", "silu")
                .put("bos_token_id", SPECIAL.indexOf("<s>"))
                .put("eos_token_id", SPECIAL.indexOf("</s>"));
    }

    /** Characters are tokens, and the rest of the vocabulary is made of words; no two tokens are merged. */
    private ObjectNode tokenizer() {
        ObjectNode tokenizer = JSON.createObjectNode();
        ArrayNode added = tokenizer.putArray("added_tokens");
        ObjectNode model = tokenizer.putObject("model").put("type", "BPE").put("unk_token", SPECIAL.get(0));
        model.put("fuse_unk", false).put("byte_fallback", false).putArray("merges");
        ObjectNode vocabulary = model.putObject("vocab");
        for (String special : SPECIAL) {
            added.addObject()
                    .put("id", vocabulary.size())
                    .put("content", special)
                    .put("special", true);
            vocabulary.put(special, vocabulary.size());
        }
        for (int character = FIRST_CHARACTER; character <= LAST_CHARACTER; character++) {
            vocabulary.put(Character.toString(character), vocabulary.size());
        }
        while (vocabulary.size() < shape.vocabulary()) {
            vocabulary.put(" w" + vocabulary.size(), vocabulary.size());
        }
        return tokenizer;
    }

    private long writeWeights(Path file) throws IOException {
        Map<String, int[]> tensors = shape.tensors();
        ObjectNode header = JSON.createObjectNode();
        long end = 0;
        for (Map.Entry<String, int[]> tensor : tensors.entrySet()) {
            long begin = end;
            end += Arrays.stream(tensor.getValue()).asLongStream().reduce(elementBytes(), (a, b) -> a * b);
            ObjectNode entry = header.putObject(tensor.getKey()).put("dtype", isBfloat16 ? "BF16" : "F32");
            ArrayNode lengths = entry.putArray("shape");
            Arrays.stream(tensor.getValue()).forEach(lengths::add);
            entry.putArray("data_offsets").add(begin).add(end);
        }
        String text = header.toString();
        // the format pads headers with blanks, so that the data is aligned
        byte[] padded = (text + " ".repeat(-text.length() & 63)).getBytes(StandardCharsets.UTF_8);
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 20)) {
            out.write(littleEndian(Long.BYTES).putLong(padded.length).array());
            out.write(padded);
            for (Map.Entry<String, int[]> tensor : tensors.entrySet()) {
                writeRows(out, tensor.getKey(), tensor.getValue());
            }
        }
        return end;
    }

    /** Weights of a matrix are scaled by its number of columns, so that activations neither vanish nor explode. */
    private void writeRows(OutputStream out, String name, int[] lengths) throws IOException {
        int columns = lengths[lengths.length - 1];
        boolean isNorm = lengths.length == 1;
        boolean isEmbedding = name.startsWith("model.embed");
        float center = isNorm ? 1 : 0;
        float scale = isNorm ? 0.1f : isEmbedding ? 1 : (float) (1.7 / Math.sqrt(columns));
        ByteBuffer row = littleEndian(columns * elementBytes());
        for (int at = 0; at < (isNorm ? 1 : lengths[0]); at++) {
            row.clear();
            for (int column = 0; column < columns; column++) {
                float value = center + scale * (2 * random.nextFloat() - 1);
                if (isBfloat16) {
                    row.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
                } else {
                    row.putFloat(value);
                }
            }
            out.write(row.array());
        }
    }

    private int elementBytes() {
        return isBfloat16 ? Short.BYTES : Float.BYTES;
    }

    private static ByteBuffer littleEndian(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
