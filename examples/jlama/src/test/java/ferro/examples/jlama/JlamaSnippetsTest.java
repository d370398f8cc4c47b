package ferro.examples.jlama;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.github.tjake.jlama.model.AbstractModel;
import com.github.tjake.jlama.model.AbstractModel.InferenceType;
import com.github.tjake.jlama.model.DistributedContext;
import com.github.tjake.jlama.model.ModelSupport;
import com.github.tjake.jlama.safetensors.DType;
import com.github.tjake.jlama.safetensors.SafeTensorSupport;
import com.github.tjake.jlama.tensor.AbstractTensor;
import com.github.tjake.jlama.tensor.KvBufferCache;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.segments.Segments;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JlamaSnippetsTest {
    @TempDir
    private Path folder;

    @Test
    void theCodeOnThePageSamplesTheTokenOfTheReference() throws IOException {
        RandomModel.write(folder, SmallModels.of(true), "F32", 7);

        List<Integer> next = Ranks.run(Medium.SHM, 2, Ranks.ON_DISK, this::next);

        double[] expected = new Reference(folder).logits(5);
        int best = IntStream.range(0, expected.length)
                .reduce((a, b) -> expected[a] >= expected[b] ? a : b)
                .orElseThrow();
        assertEquals(List.of(best, best), next);
    }

    @SuppressWarnings("rawtypes")
    private int next(ProcessGroup group) {
        int[] token = {5};
        int position = 0;
        // @start region="decode"
        AbstractModel model = ModelSupport.loadModel(
                InferenceType.FULL_GENERATION,
                folder.toFile(),
                null,
                DType.F32,
                DType.F32,
                Optional.empty(),
                Optional.empty(),
                Optional.of(config -> DistributedContext.builder(config)
                        .setModelShard(group.rank())
                        .setNumModelShards(group.worldSize())
                        .build()),
                SafeTensorSupport::loadWeights);
        KvBufferCache.KvBuffer context = new KvBufferCache(model).getEphemeralKvBuffer();
        AbstractTensor logits = model.makeDenseTensor(model.getConfig().vocabularySize);
        Consumer<List<AbstractTensor>> sum = partial -> partial.forEach(
                tensor -> group.allReduce(Segments.tensor(DataType.FLOAT32, tensor.getMemorySegment()), ReduceOp.SUM));

        // for each token
        AbstractTensor output = model.forward(token[0], position, context, Optional.of(sum));
        token[0] = model.sample(output, 0, 0, logits);
        group.broadcast(token, 0);
        // @end
        return token[0];
    }
}
