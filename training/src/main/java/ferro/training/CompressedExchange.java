package ferro.training;

import ferro.DataType;
import ferro.HalfFloats;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;

/** Averages a bucket of f32 in a type of half the size. The converted elements are stored in separate memory. */
final class CompressedExchange implements GradientHook.Exchange {
    private final ProcessGroup group;
    private final HostTensor gradients;
    private final HostTensor result;
    private final HostTensor halves;
    private final HostTensor halfResult;
    private final AverageExchange.ElementDivider quotients;

    CompressedExchange(GradientHook.SentBucket bucket, DataType type) {
        group = bucket.group();
        gradients = bucket.gradients();
        halves = group.allocate(type, gradients.elementCount()).tensor();
        result = bucket.sharded() ? bucket.ownPart(gradients) : gradients;
        halfResult = bucket.sharded() ? bucket.ownPart(halves) : halves;
        quotients = AverageExchange.ElementDivider.of(result);
    }

    @Override
    public Work start(int contributors) {
        HalfFloats.convert(gradients, halves);
        return AverageExchange.start(group, halves, halfResult, contributors);
    }

    @Override
    public void finish(int contributors) {
        HalfFloats.convert(halfResult, result);
        if (contributors < group.worldSize()) {
            quotients.divideBy(contributors);
        }
    }
}
