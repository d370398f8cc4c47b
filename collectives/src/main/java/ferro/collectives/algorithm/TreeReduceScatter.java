package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Reduce-scatter that combines each part in the order of a {@link ReductionTree}, so that it has the same bits as the
 * all-reduce of that tree. A rank sends {@code n(p-1)/p} bytes, where n is the size of the full operand.
 *
 * <p>In OUT, the rank of a part combines its own operand with the data that other ranks send. The rank of a part
 * computes a sum without its own operand in SCRATCH and combines that sum into OUT. Up to five ranks therefore need one
 * step. SCRATCH has one chunk per part. If a sum needs more chunks, another rank computes the sum and sends it. More
 * than five ranks need about {@code log2 p - 1} steps. A sum of one host is computed only on that host, so that it
 * crosses between hosts once.
 *
 * <p>All ranks list the steps of all parts in the same order, and each rank does its own steps of that list. So both
 * ends of a link agree on its messages, and the first unfinished message can always proceed.
 */
final class TreeReduceScatter {
    private final int part;
    private final List<PartStep> steps = new ArrayList<>();

    private TreeReduceScatter(int part) {
        this.part = part;
    }

    /** A message between two ranks, or a step inside one rank, for one part. */
    private record PartStep(int part, int number, int from, Region source, int to, Region into, boolean combines) {}

    static Plan plan(String name, int rank, int size, IntFunction<ReductionTree> treeOfPart) {
        List<PartStep> own = new ArrayList<>();
        for (int part = 0; part < size; part++) {
            TreeReduceScatter maker = new TreeReduceScatter(part);
            maker.make(treeOfPart.apply(part), part, Region.OUT);
            maker.steps.stream()
                    .filter(step -> step.from == rank || step.to == rank)
                    .forEach(own::add);
        }
        own.sort(Comparator.comparingInt(PartStep::number).thenComparingInt(PartStep::part));
        PlanBuilder plan = new PlanBuilder(name, size)
                .in(Extent.all(size))
                .out(Extent.only(rank))
                .scratch(scratch(rank, own));
        own.forEach(step -> add(step, rank, plan));
        return plan.build();
    }

    private static Extent scratch(int rank, List<PartStep> own) {
        int[] parts = own.stream()
                .filter(step -> step.to == rank && step.into == Region.SCRATCH)
                .mapToInt(PartStep::part)
                .sorted()
                .toArray();
        return parts.length == 0 ? Extent.NONE : new Extent(parts[0], parts[parts.length - 1] - parts[0] + 1);
    }

    private static void add(PartStep step, int rank, PlanBuilder plan) {
        if (step.from == step.to) {
            if (step.combines) {
                plan.combine(step.source, step.into, step.part, 1);
            } else {
                plan.copy(step.source, step.into, step.part, 1);
            }
        } else if (step.from == rank) {
            plan.send(step.to, step.source, step.part, 1);
        } else if (step.combines) {
            plan.receiveCombine(step.from, step.into, step.part, 1);
        } else {
            plan.receive(step.from, step.into, step.part, 1);
        }
    }

    /** Adds the steps that compute a value in a region of a rank. */
    private void make(ReductionTree value, int rank, Region into) {
        if (value.isOperand() || value.isOfOneHost() && !value.has(rank)) {
            step(value, rank, into, false);
            return;
        }
        boolean isLeftFirst = value.left().has(rank) || !value.right().has(rank);
        make(isLeftFirst ? value.left() : value.right(), rank, into);
        combine(isLeftFirst ? value.right() : value.left(), rank, into);
    }

    /**
     * Adds the steps that combine a value into a region of a rank. The value does not include the operand of this rank.
     */
    private void combine(ReductionTree value, int rank, Region into) {
        boolean isMadeLocally = into == Region.OUT && !value.isOperand() && !value.isOfOneHost();
        if (isMadeLocally) {
            make(value, rank, Region.SCRATCH);
            add(rank, Region.SCRATCH, rank, into, true);
        } else {
            step(value, rank, into, true);
        }
    }

    /** Adds the step that copies or combines an operand, or a sum that another rank computes. */
    private void step(ReductionTree value, int rank, Region into, boolean combines) {
        int maker = value.maker(part);
        Region source = value.isOperand() ? Region.IN : Region.SCRATCH;
        if (!value.isOperand()) {
            make(value, maker, source);
        }
        add(maker, source, rank, into, combines);
    }

    private void add(int from, Region source, int to, Region into, boolean combines) {
        steps.add(new PartStep(part, steps.size(), from, source, to, into, combines));
    }
}
