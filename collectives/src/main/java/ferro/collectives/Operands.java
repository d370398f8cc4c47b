package ferro.collectives;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;

/**
 * What the engine needs of a call: which tensors are its regions, how many elements all chunks have together, op and root.
 *
 * @param in       operand, or null
 * @param out      result, or null
 * @param elements of the whole operation, all chunks together
 * @param op       how to combine, or null
 * @param root     root, or 0
 */
record Operands(HostTensor in, HostTensor out, long elements, ReduceOp op, int root) {
    static Operands of(Collective call, int rank, int worldSize) {
        boolean both = call.root() < 0 || call instanceof Collective.Broadcast;
        HostTensor in = host(both ? call.in() : call.reads(rank));
        HostTensor out = host(both ? call.out() : call.writes(rank));
        return new Operands(in, out, elements(call, worldSize), call.op(), Math.max(0, call.root()));
    }

    /** Of the whole operation: the longer tensor, which off the root of a gather or scatter is not there. */
    private static long elements(Collective call, int worldSize) {
        if (call instanceof Collective.Gather || call instanceof Collective.Scatter) {
            return worldSize * call.operand().elementCount();
        }
        if (call instanceof Collective.AllGather) {
            return call.out().elementCount();
        }
        return call.in() == null ? 0 : call.in().elementCount();
    }

    private static HostTensor host(Tensor tensor) {
        return (HostTensor) tensor;
    }
}
