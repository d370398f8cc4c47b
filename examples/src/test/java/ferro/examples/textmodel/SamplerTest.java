package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SamplerTest {
    private static final String TEXT = "abcdef".repeat(40);

    @Test
    void trainedModelGoesOnAsTheTextDoes() {
        Vocabulary vocabulary = Vocabulary.of(TEXT);
        Shape shape = new Shape(vocabulary.size(), 4, 5, 16);
        Batches batches = new Batches(vocabulary.encode(TEXT), shape.context(), 24, 6);
        CharModel model = new CharModel(shape, 24);
        float[] parameters = shape.initialParameters(6);
        Adam adam = new Adam(parameters.length, 0.02, 150);
        new Trainer(new ShareGradient(model, batches, 1), adam, GradientExchange.ALONE)
                .train(0, parameters, 150, () -> false, step -> {});
        model.load(parameters);

        String text = new Sampler(model, vocabulary).generate(vocabulary.encode("cdef"), 12, 3);

        assertEquals("abcdefabcdef", text);
    }
}
