package ferro.examples.jlama;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The shape of a Llama model.
 *
 * @param hidden       length of the vector between layers ({@code hidden_size})
 * @param intermediate hidden units of a feed-forward block
 * @param layers       number of layers
 * @param heads        attention heads, and key-value heads
 * @param vocabulary   number of tokens
 */
record ModelShape(int hidden, int intermediate, int layers, HeadCounts heads, int vocabulary) {
    /** The longest text of a random model, in tokens. */
    static final int CONTEXT = 1024;

    /** Numbers of heads: of queries, and of keys and values. With fewer of the latter, heads are grouped. */
    record HeadCounts(int queries, int keyValues) {}

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException if the heads cannot be made from the hidden size
     */
    ModelShape {
        Arguments.require(
                hidden % heads.queries() == 0 && hidden / heads.queries() % 2 == 0,
                "hidden size " + hidden + " and " + heads.queries()
                        + " heads: each head needs the same even part of the hidden size");
        Arguments.require(
                heads.queries() % heads.keyValues() == 0,
                heads.queries() + " heads and " + heads.keyValues()
                        + " key-value heads: need the same number of heads for each key-value head");
    }

    /** Returns the shapes of all tensors by their names in a safetensors file. */
    Map<String, int[]> tensors() {
        int keyValues = hidden / heads.queries() * heads.keyValues();
        Map<String, int[]> tensors = new LinkedHashMap<>();
        tensors.put("model.embed_tokens.weight", new int[] {vocabulary, hidden});
        for (int layer = 0; layer < layers; layer++) {
            String prefix = "model.layers." + layer + ".";
            tensors.put(prefix + "input_layernorm.weight", new int[] {hidden});
            tensors.put(prefix + "self_attn.q_proj.weight", new int[] {hidden, hidden});
            tensors.put(prefix + "self_attn.k_proj.weight", new int[] {keyValues, hidden});
            tensors.put(prefix + "self_attn.v_proj.weight", new int[] {keyValues, hidden});
            tensors.put(prefix + "self_attn.o_proj.weight", new int[] {hidden, hidden});
            tensors.put(prefix + "post_attention_layernorm.weight", new int[] {hidden});
            tensors.put(prefix + "mlp.gate_proj.weight", new int[] {intermediate, hidden});
            tensors.put(prefix + "mlp.up_proj.weight", new int[] {intermediate, hidden});
            tensors.put(prefix + "mlp.down_proj.weight", new int[] {hidden, intermediate});
        }
        tensors.put("model.norm.weight", new int[] {hidden});
        tensors.put("lm_head.weight", new int[] {vocabulary, hidden});
        return tensors;
    }
}
