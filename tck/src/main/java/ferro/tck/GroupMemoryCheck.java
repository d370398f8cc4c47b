package ferro.tck;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.Cell;

/**
 * Calls of one rank on arrays and on memory of the group. Each call runs once with arrays on all ranks. The call is
 * then repeated with memory of the group on all ranks or on some ranks.
 */
final class GroupMemoryCheck {
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
     * @param first  memory that the group has allocated, with one part for each rank
     * @param second other memory of the group, of the same length as {@code first}
     * @param part   number of elements of a part of {@code first}
     */
    GroupMemoryCheck(ProcessGroup group, HostTensor first, HostTensor second, int part) {
        this.group = group;
        this.first = first;
        this.second = second;
        this.part = part;
        this.given = random(1);
        this.before = random(2);
        this.overwritten = new float[group.worldSize() * part];
    }

    /**
     * Compares the results of every form of a call. In the first round no rank uses an array. In each of the next
     * rounds one rank uses an array. In each of the last rounds all ranks but one use arrays.
     */
    void compare() {
        for (CollectiveKind kind : CallFactory.kinds(each -> Cell.KINDS.contains(each) && !each.isScan())) {
            compare(kind, ReduceOp.SUM, false);
            if (kind.combines()) {
                compare(kind, ReduceOp.preMultipliedSum(1 / 3d), false);
            }
            if (Cell.worksInPlace(kind)) {
                compare(kind, ReduceOp.SUM, true);
            }
        }
    }

    private Collective call(CollectiveKind kind, ReduceOp op, boolean inPlace, HostTensor in, HostTensor out) {
        HostTensor all = inPlace || CallFactory.isOneTensor(kind) ? out : in;
        HostTensor operand = kind.in() != DataShare.PART ? all : inPlace ? own(out) : in.slice(0, part);
        HostTensor result = kind.out() == DataShare.PART ? own(out) : out;
        // gather and scatter have root 0; other kinds with a root have the last rank
        return CallFactory.of(kind, operand, result, op, kind.hasParts() ? 0 : group.worldSize() - 1);
    }

    private HostTensor own(HostTensor all) {
        return all.slice((long) group.rank() * part, part);
    }

    private void compare(CollectiveKind kind, ReduceOp op, boolean inPlace) {
        int length = overwritten.length;
        HostTensor in = HostTensor.of(given.clone());
        HostTensor out = HostTensor.of(before.clone());
        Collective onArrays = call(kind, op, inPlace, in, out);
        if (CallFactory.unsupported(group, onArrays).isPresent()) {
            return;
        }
        group.submit(onArrays).await();
        float[] wanted = elements(out);
        for (int round = 0; round <= 2 * group.worldSize(); round++) {
            boolean isMeant = (round + group.worldSize() - 1) % group.worldSize() == group.rank();
            boolean usesArrays = round > 0 && isMeant == round <= group.worldSize();
            HostTensor operand = filled(usesArrays ? HostTensor.of(new float[length]) : first, given);
            // the result may be in an array while the operand is in memory of the group
            boolean apart = round % 2 == 1 && !usesArrays;
            HostTensor result = filled(usesArrays || apart ? HostTensor.of(new float[length]) : second, before);
            run(call(kind, op, inPlace, operand, result), round);
            // the memory of a call that has ended may be written again
            filled(operand, overwritten);
            float[] found = elements(result);
            filled(result, overwritten);
            String what = kind + (inPlace ? " in place" : "") + " by " + op + " of " + length + ", round " + round;
            RuleChecks.same(wanted, found, () -> what + ", rank " + group.rank());
        }
    }

    private void run(Collective call, int round) {
        if (round % 3 == 2) {
            group.submit(call).await();
        } else {
            CallFactory.run(group, call);
        }
    }

    private float[] random(int seed) {
        return RuleChecks.magnitudes(group.worldSize() * part, 31L * group.rank() + seed);
    }

    static HostTensor filled(HostTensor tensor, float[] elements) {
        tensor.copyFrom(0, elements, 0, elements.length);
        return tensor;
    }

    static float[] elements(HostTensor tensor) {
        float[] elements = new float[(int) tensor.elementCount()];
        tensor.copyTo(0, elements, 0, elements.length);
        return elements;
    }
}
