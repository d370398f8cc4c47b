package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.training.optimizer.UpdateRule;
import org.junit.jupiter.api.Test;

class SamplerTest {
    private static final String TEXT = "abcdef".repeat(40);

    @Test
    void trainedModelGoesOnAsTheTextDoes() {
        Vocabulary vocabulary = Vocabulary.of(TEXT);
        Shape shape = new Shape(vocabulary.size(), 4, 5, 16);
        Batches batches = new Batches(vocabulary.encode(TEXT), shape.context(), 24, 6);
        CharModel model = new CharModel(shape, 24);
        float[] parameters = new float[shape.parameterCount()];
        try (OneRank one = new OneRank(shape, batches, 6, UpdateRule.adam().withRate(0.02))) {
            one.train(150, () -> false);
            one.replica.read(parameters);
        }
        model.load(parameters);

        String text = new Sampler(model, vocabulary).generate(vocabulary.encode("cdef"), 12, 3);

        assertEquals("abcdefabcdef", text);
    }
}
