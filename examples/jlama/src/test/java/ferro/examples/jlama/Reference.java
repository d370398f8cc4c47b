package ferro.examples.jlama;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A forward pass of a Llama model in double, without Jlama, ferro and parallel code. Each call computes all positions anew.
 *
 * <p>Source: the model {@code LlamaForCausalLM} of Hugging Face's transformers.
 */
final class Reference {
    private final JsonNode config;
    private final JsonNode header;
    private final ByteBuffer data;
    private final int hidden;
    private final int headSize;
    private final int heads;
    private final int keyValueHeads;

    Reference(Path folder) throws IOException {
        ObjectMapper json = new ObjectMapper();
        config = json.readTree(folder.resolve("config.json").toFile());
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("model.safetensors")))
                .order(ByteOrder.LITTLE_ENDIAN);
        byte[] text = new byte[(int) file.getLong()];
        file.get(text);
        header = json.readTree(text);
        data = file.slice().order(ByteOrder.LITTLE_ENDIAN);
        hidden = config.get("hidden_size").asInt();
        heads = config.get("num_attention_heads").asInt();
        keyValueHeads = config.get("num_key_value_heads").asInt();
        headSize = hidden / heads;
    }

    double[] logits(int... tokens) {
        float[] embeddings = weights("model.embed_tokens.weight");
        double[][] rows = new double[tokens.length][hidden];
        for (int position = 0; position < tokens.length; position++) {
            for (int i = 0; i < hidden; i++) {
                rows[position][i] = embeddings[tokens[position] * hidden + i];
            }
        }
        for (int layer = 0; layer < config.get("num_hidden_layers").asInt(); layer++) {
            String prefix = "model.layers." + layer + ".";
            add(rows, attention(normalized(rows, prefix + "input_layernorm.weight"), prefix + "self_attn."));
            add(rows, feedForward(normalized(rows, prefix + "post_attention_layernorm.weight"), prefix + "mlp."));
        }
        double[][] last = {rows[tokens.length - 1]};
        return product(normalized(last, "model.norm.weight"), "lm_head.weight")[0];
    }

    private double[][] attention(double[][] input, String prefix) {
        double[][] queries = product(input, prefix + "q_proj.weight");
        double[][] keys = product(input, prefix + "k_proj.weight");
        double[][] values = product(input, prefix + "v_proj.weight");
        rotate(queries);
        rotate(keys);
        double[][] output = new double[input.length][hidden];
        for (int position = 0; position < input.length; position++) {
            for (int head = 0; head < heads; head++) {
                int keyValueAt = head / (heads / keyValueHeads) * headSize;
                double[] shares = shares(queries[position], head * headSize, keys, keyValueAt, position);
                for (int other = 0; other <= position; other++) {
                    for (int i = 0; i < headSize; i++) {
                        output[position][head * headSize + i] += shares[other] * values[other][keyValueAt + i];
                    }
                }
            }
        }
        return product(output, prefix + "o_proj.weight");
    }

    /** The softmax of the scaled products of a query with the keys up to its position. */
    private double[] shares(double[] query, int queryAt, double[][] keys, int keyAt, int position) {
        double[] shares = new double[position + 1];
        double sum = 0;
        for (int other = 0; other <= position; other++) {
            double score = 0;
            for (int i = 0; i < headSize; i++) {
                score += query[queryAt + i] * keys[other][keyAt + i];
            }
            shares[other] = Math.exp(score / Math.sqrt(headSize));
            sum += shares[other];
        }
        for (int other = 0; other <= position; other++) {
            shares[other] /= sum;
        }
        return shares;
    }

    /** Rotates the two halves of each head by angles that grow with the position. */
    private void rotate(double[][] rows) {
        int half = headSize / 2;
        double theta = config.get("rope_theta").asDouble();
        for (int position = 0; position < rows.length; position++) {
            double[] row = rows[position];
            for (int head = 0; head < row.length; head += headSize) {
                for (int i = 0; i < half; i++) {
                    double angle = position * Math.pow(theta, -2.0 * i / headSize);
                    double first = row[head + i];
                    double second = row[head + half + i];
                    row[head + i] = first * Math.cos(angle) - second * Math.sin(angle);
                    row[head + half + i] = second * Math.cos(angle) + first * Math.sin(angle);
                }
            }
        }
    }

    private double[][] feedForward(double[][] input, String prefix) {
        double[][] gates = product(input, prefix + "gate_proj.weight");
        double[][] ups = product(input, prefix + "up_proj.weight");
        for (int position = 0; position < input.length; position++) {
            for (int i = 0; i < gates[position].length; i++) {
                double gate = gates[position][i];
                gates[position][i] = gate / (1 + Math.exp(-gate)) * ups[position][i];
            }
        }
        return product(gates, prefix + "down_proj.weight");
    }

    private double[][] normalized(double[][] rows, String name) {
        float[] weights = weights(name);
        double[][] normalized = new double[rows.length][hidden];
        for (int position = 0; position < rows.length; position++) {
            double squares = 0;
            for (double value : rows[position]) {
                squares += value * value;
            }
            double scale =
                    1 / Math.sqrt(squares / hidden + config.get("rms_norm_eps").asDouble());
            for (int i = 0; i < hidden; i++) {
                normalized[position][i] = rows[position][i] * scale * weights[i];
            }
        }
        return normalized;
    }

    private double[][] product(double[][] rows, String name) {
        float[] weights = weights(name);
        int columns = rows[0].length;
        double[][] product = new double[rows.length][weights.length / columns];
        for (int position = 0; position < rows.length; position++) {
            for (int output = 0; output < product[position].length; output++) {
                double sum = 0;
                for (int i = 0; i < columns; i++) {
                    sum += rows[position][i] * weights[output * columns + i];
                }
                product[position][output] = sum;
            }
        }
        return product;
    }

    private static void add(double[][] rows, double[][] more) {
        for (int position = 0; position < rows.length; position++) {
            for (int i = 0; i < rows[position].length; i++) {
                rows[position][i] += more[position][i];
            }
        }
    }

    private float[] weights(String name) {
        JsonNode offsets = header.get(name).get("data_offsets");
        int begin = offsets.get(0).asInt();
        float[] weights = new float[(offsets.get(1).asInt() - begin) / Float.BYTES];
        data.slice(begin, weights.length * Float.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer()
                .get(weights);
        return weights;
    }
}
