package ferro.training;

import ferro.DataType;
import java.util.Optional;

/**
 * A hook that sends gradients as elements of 16 bits, which halves the bytes.
 *
 * @param type f16 or bf16
 */
record CompressedHook(DataType type) implements GradientHook {
    @Override
    public Exchange open(SentBucket bucket) {
        return new CompressedExchange(bucket, type);
    }

    @Override
    public Optional<String> unsupportedBecause(DataType gradients) {
        return gradients == DataType.FLOAT32
                ? Optional.empty()
                : Optional.of("only gradients of f32 can be sent as " + type.label() + ": use GradientHook.average()");
    }
}
