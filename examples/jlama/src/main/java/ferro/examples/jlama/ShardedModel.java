package ferro.examples.jlama;

import com.github.tjake.jlama.model.AbstractModel;
import com.github.tjake.jlama.model.AbstractModel.InferenceType;
import com.github.tjake.jlama.model.DistributedContext;
import com.github.tjake.jlama.model.ModelSupport;
import com.github.tjake.jlama.safetensors.DType;
import com.github.tjake.jlama.safetensors.SafeTensorSupport;
import com.github.tjake.jlama.safetensors.prompt.PromptContext;
import com.github.tjake.jlama.tensor.AbstractTensor;
import com.github.tjake.jlama.tensor.KvBufferCache;
import ferro.group.ProcessGroup;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;

/**
 * This rank's part of a model, and the text that was read so far. All ranks make the same calls, each on one thread.
 *
 * <p>Only rank 0 loads the output layer and samples; the other ranks receive the token.
 */
@SuppressWarnings("rawtypes") // bounds of AbstractTensor are types of the vector module, which --release hides
final class ShardedModel implements AutoCloseable {
    private final boolean samples;
    private final AbstractModel model;
    private final ModelCollectives calls;
    private final Optional<Consumer<List<AbstractTensor>>> sum;
    private final KvBufferCache.KvBuffer context;
    private final AbstractTensor logits;
    private final SamplingOptions sampling;
    private final int[] token = new int[1];
    private int position;

    /**
     * How a token is chosen.
     *
     * @param temperature 0 for the most probable token
     * @param random      source of chance for other temperatures
     */
    record SamplingOptions(float temperature, Random random) {
        static SamplingOptions greedy() {
            return new SamplingOptions(0, new Random(0));
        }
    }

    private ShardedModel(ProcessGroup group, AbstractModel model, SamplingOptions sampling) {
        this.samples = group.rank() == 0;
        this.model = model;
        this.sampling = sampling;
        calls = new ModelCollectives(group, model.getConfig().numberOfLayers);
        sum = Optional.of(calls::sum);
        context = new KvBufferCache(model).getEphemeralKvBuffer();
        logits = model.makeDenseTensor(model.getConfig().vocabularySize);
    }

    /**
     * Loads this rank's part of a model.
     *
     * @param folder  a model that {@link ModelMetadata#refusal} has not refused
     * @param threads number of threads that compute; empty for the number that Jlama finds. A process can set it once
     */
    static ShardedModel load(ProcessGroup group, Path folder, SamplingOptions sampling, Optional<Integer> threads) {
        AbstractModel model = ModelSupport.loadModel(
                group.rank() == 0 ? InferenceType.FULL_GENERATION : InferenceType.FORWARD_PASS,
                folder.toFile(),
                null,
                DType.F32,
                DType.F32,
                Optional.empty(),
                threads,
                Optional.of(config -> DistributedContext.builder(config)
                        .setModelShard(group.rank())
                        .setNumModelShards(group.worldSize())
                        .build()),
                SafeTensorSupport::loadWeights);
        return new ShardedModel(group, model, sampling);
    }

    /** Returns the tokens of a text, behind the token that begins each text. */
    int[] encode(String text) {
        return model.encodePrompt(PromptContext.of(text));
    }

    String decode(int next) {
        return model.getTokenizer().decode(next);
    }

    boolean isEnd(int next) {
        return model.getConfig().eosTokens.contains(next);
    }

    /** Reads tokens, and returns the token that follows them. It is the same on all ranks. */
    int next(int... read) {
        try (AbstractTensor output = read.length == 1
                ? model.forward(read[0], position, context, sum)
                : model.batchForward(read, position, context, sum)) {
            position += read.length;
            if (samples) {
                AbstractTensor last = output.slice(output.shape().first() - 1);
                token[0] = model.sample(
                        last, sampling.temperature(), sampling.random().nextFloat(), logits);
            }
        }
        calls.broadcast(token);
        return token[0];
    }

    /** Returns a copy of the values from which rank 0 chose the last token: logits if the temperature is 0. */
    float[] logits() {
        float[] copy = new float[model.getConfig().vocabularySize];
        logits.getMemorySegment()
                .asByteBuffer()
                .order(ByteOrder.nativeOrder())
                .asFloatBuffer()
                .get(copy);
        return copy;
    }

    @Override
    public void close() {
        context.close();
        model.close();
    }
}
