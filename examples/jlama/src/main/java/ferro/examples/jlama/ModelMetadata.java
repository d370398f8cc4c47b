package ferro.examples.jlama;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What the files of a model say, without the weights. Jlama does not check whether a model can be split over the ranks,
 * and computes wrong answers if it cannot.
 *
 * @param folder      where the model is
 * @param config      content of {@code config.json}
 * @param types       names of element types by names of tensors
 * @param fingerprint hash of the configuration, the tokenizer, and the header and first weights of each file
 */
record ModelMetadata(Path folder, JsonNode config, Map<String, String> types, String fingerprint) {
    /** Jlama's vector kernels read up to 16 floats at once, also behind the end of a part. */
    private static final int VECTOR_FLOATS = 16;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LARGEST_HEADER = 100_000_000;
    private static final int FIRST_WEIGHTS = 65_536;

    /**
     * Reads the configuration, and the header and first weights of each file.
     *
     * @throws IOException if a file is missing or is not in the format of its kind; the message names the file
     */
    static ModelMetadata read(Path folder) throws IOException {
        MessageDigest digest = sha256();
        JsonNode config = JSON.readTree(content(folder.resolve("config.json"), digest));
        content(folder.resolve("tokenizer.json"), digest);
        Path index = folder.resolve("model.safetensors.index.json");
        TreeSet<String> files = new TreeSet<>();
        if (Files.exists(index)) {
            JSON.readTree(content(index, digest)).path("weight_map").forEach(file -> files.add(file.asText()));
        } else {
            files.add("model.safetensors");
        }
        Map<String, String> types = new TreeMap<>();
        for (String file : files) {
            JsonNode header = JSON.readTree(header(folder.resolve(file), digest));
            header.properties().stream()
                    .filter(tensor -> !tensor.getKey().equals("__metadata__"))
                    .forEach(tensor -> types.put(
                            tensor.getKey(), tensor.getValue().path("dtype").asText()));
        }
        return new ModelMetadata(folder, config, types, HexFormat.of().formatHex(digest.digest()));
    }

    private static byte[] content(Path file, MessageDigest digest) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException("no file " + file + ": need the folder of a model");
        }
        byte[] content = Files.readAllBytes(file);
        digest.update(content);
        return content;
    }

    private static byte[] header(Path file, MessageDigest digest) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException("no file " + file + ": need weights in the safetensors format");
        }
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            long length = Long.reverseBytes(in.readLong());
            if (length <= 0 || length > LARGEST_HEADER) {
                throw new IOException(file + " has a header of " + length + " bytes: it is no safetensors file");
            }
            byte[] header = in.readNBytes((int) length);
            digest.update(header);
            digest.update(in.readNBytes(FIRST_WEIGHTS));
            return header;
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException("this JDK has no SHA-256", everyJdkHasIt);
        }
    }

    /** Returns why Jlama would compute wrong answers with this model on so many ranks; empty if it would not. */
    Optional<String> refusal(int ranks) {
        return Stream.of(wrongKind(), wrongType(), wrongHeads(), undivided(ranks))
                .flatMap(Optional::stream)
                .findFirst()
                .map(reason -> "cannot run the model in " + folder + ": " + reason);
    }

    private Optional<String> wrongKind() {
        String kind = config.path("model_type").asText("none");
        return when(!kind.equals("llama"), "its model_type is " + kind + ", and this program runs llama only");
    }

    private Optional<String> wrongType() {
        return types.entrySet().stream()
                .filter(tensor -> !tensor.getValue().equals("F32"))
                .findFirst()
                .map(tensor -> "the weights " + tensor.getKey() + " have type " + tensor.getValue()
                        + ", need F32. Jlama 0.8.4 loads wrong parts of BF16 weights, and other types are not tested");
    }

    private Optional<String> wrongHeads() {
        int heads = number("num_attention_heads");
        int size = number("hidden_size") / Math.max(heads, 1);
        int given = config.path("head_dim").asInt(size);
        String found = heads + " heads, " + number("num_key_value_heads") + " key-value heads, hidden size "
                + number("hidden_size") + " and head size " + given;
        return when(
                heads == 0
                        || number("num_key_value_heads") == 0
                        || heads % number("num_key_value_heads") != 0
                        || size * heads != number("hidden_size")
                        || given != size
                        || size % VECTOR_FLOATS != 0,
                "it has " + found
                        + ". Jlama finds the heads of a rank by hidden size / heads, which must be the head size"
                        + " and a multiple of " + VECTOR_FLOATS + "; heads must be a multiple of key-value heads");
    }

    /** The hidden size is the number of heads times a size, and has no rule of its own. */
    private Optional<String> undivided(int ranks) {
        String possible = IntStream.rangeClosed(1, number("num_key_value_heads"))
                .filter(this::isDividedBy)
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(", "));
        return when(
                !isDividedBy(ranks),
                "its " + number("num_attention_heads") + " heads, " + number("num_key_value_heads")
                        + " key-value heads, hidden size " + number("hidden_size") + " and intermediate size "
                        + number("intermediate_size") + " cannot be split evenly over " + ranks
                        + " ranks; possible numbers of ranks: " + possible);
    }

    private boolean isDividedBy(int ranks) {
        return number("num_attention_heads") % ranks == 0
                && number("num_key_value_heads") % ranks == 0
                && number("hidden_size") % ranks == 0
                && number("intermediate_size") % (ranks * VECTOR_FLOATS) == 0;
    }

    /**
     * Returns the longest text in tokens. Jlama looks up the rotation of head h at position p in the row p + 2h of a
     * table that has a row for each position of the context.
     */
    int longestText() {
        return number("max_position_embeddings") - 2 * (number("num_key_value_heads") - 1);
    }

    private int number(String name) {
        return config.path(name).asInt(0);
    }

    private static Optional<String> when(boolean wrong, String reason) {
        return wrong ? Optional.of(reason) : Optional.empty();
    }
}
