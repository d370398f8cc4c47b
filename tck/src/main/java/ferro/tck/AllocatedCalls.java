package ferro.tck;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Calls;
import java.nio.FloatBuffer;

/**
 * Calls of one rank on arrays and on memory of the group. Each call runs once with arrays on all ranks. The call is
 * then repeated with memory of the group on all ranks or on some ranks.
 */
final class AllocatedCalls {
    private final ProcessGroup group;
    private final HostTensor first;
    private final HostTensor second;
    private final int part;
    private final float[] given;
    private final float[] before;
    private final float[] overwritten;

    /**
     * Creates calls that use the given memory of the group.
     *
     * @param first  memory of the group, with one part for each rank
     * @param second other memory of the same length
     * @param part   number of elements of a part
     */
    AllocatedCalls(ProcessGroup group, HostTensor first, HostTensor second, int part) {
        this.group = group;
        this.first = first;
        this.second = second;
        this.part = part;
        this.given = random(1);
        this.before = random(2);
        this.overwritten = new float[group.worldSize() * part];
    }

    /** A form of a call, which builds the call from an operand tensor and a result tensor. */
    private interface Form {
        Collective call(HostTensor in, HostTensor out);
    }

    /**
     * Compares the results of every form of a call. In the first round no rank uses an array. In each of the next
     * rounds one rank uses an array. In each of the last rounds all ranks but one use arrays.
     */
    void compare() {
        int last = group.worldSize() - 1;
        ReduceOp third = ReduceOp.preMultipliedSum(1 / 3d);
        compare("allReduce", (in, out) -> Collective.allReduce(in, out, ReduceOp.SUM));
        compare("allReduce in place", (in, out) -> Collective.allReduce(out, ReduceOp.SUM));
        compare("allReduce of multiplied inputs", (in, out) -> Collective.allReduce(in, out, third));
        compare("reduce", (in, out) -> Collective.reduce(in, out, ReduceOp.SUM, last));
        compare("reduce in place", (in, out) -> Collective.reduce(out, ReduceOp.SUM, last));
        compare("broadcast", (in, out) -> Collective.broadcast(out, last));
        compare("allGather", (in, out) -> Collective.allGather(in.slice(0, part), out));
        compare("allGather in place", (in, out) -> Collective.allGather(own(out), out));
        compare("reduceScatter", (in, out) -> Collective.reduceScatter(in, own(out), ReduceOp.SUM));
        compare("reduceScatter in place", (in, out) -> Collective.reduceScatter(out, own(out), ReduceOp.SUM));
        compare("reduceScatter of multiplied inputs", (in, out) -> Collective.reduceScatter(in, own(out), third));
        compare("gather", (in, out) -> Collective.gather(in.slice(0, part), out, 0));
        compare("gather in place", (in, out) -> Collective.gather(own(out), out, 0));
        compare("scatter", (in, out) -> Collective.scatter(in, own(out), 0));
        compare("scatter in place", (in, out) -> Collective.scatter(out, own(out), 0));
        compare("allToAll", (in, out) -> Collective.allToAll(in, out));
    }

    private HostTensor own(HostTensor all) {
        return all.slice((long) group.rank() * part, part);
    }

    private void compare(String name, Form form) {
        int length = overwritten.length;
        HostTensor in = HostTensor.of(given.clone());
        HostTensor out = HostTensor.of(before.clone());
        if (Calls.unsupported(group, form.call(in, out)).isPresent()) {
            return;
        }
        group.submit(form.call(in, out)).await();
        float[] wanted = elements(out);
        for (int round = 0; round <= 2 * group.worldSize(); round++) {
            boolean isMeant = (round + group.worldSize() - 1) % group.worldSize() == group.rank();
            boolean onArrays = round > 0 && isMeant == round <= group.worldSize();
            HostTensor operand = filled(onArrays ? HostTensor.of(new float[length]) : first, given);
            // the result may be in an array while the operand is in memory of the group
            boolean apart = round % 2 == 1 && !onArrays;
            HostTensor result = filled(onArrays || apart ? HostTensor.of(new float[length]) : second, before);
            run(form.call(operand, result), round);
            // the memory of a call that has ended may be written again
            filled(operand, overwritten);
            float[] found = elements(result);
            filled(result, overwritten);
            int number = round;
            Expect.same(wanted, found, () -> name + " of " + length + ", round " + number + ", rank " + group.rank());
        }
    }

    private void run(Collective call, int round) {
        if (round % 3 == 2) {
            group.submit(call).await();
        } else {
            Calls.run(group, call);
        }
    }

    private float[] random(int seed) {
        return Expect.magnitudes(group.worldSize() * part, 31L * group.rank() + seed);
    }

    static HostTensor filled(HostTensor tensor, float[] elements) {
        if (tensor.memory() instanceof float[] array) {
            System.arraycopy(elements, 0, array, 0, elements.length);
        } else {
            tensor.buffer().asFloatBuffer().put(elements);
        }
        return tensor;
    }

    static float[] elements(HostTensor tensor) {
        if (tensor.memory() instanceof float[] array) {
            return array.clone();
        }
        FloatBuffer buffer = tensor.buffer().asFloatBuffer();
        float[] elements = new float[buffer.remaining()];
        buffer.get(elements);
        return elements;
    }
}
