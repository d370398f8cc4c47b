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
        if (call instanceof Collective.AllReduce c) {
            return new Operands(host(c.in()), host(c.out()), c.in().elementCount(), c.op(), 0);
        }
        if (call instanceof Collective.Broadcast c) {
            return new Operands(host(c.data()), host(c.data()), c.data().elementCount(), null, c.root());
        }
        if (call instanceof Collective.Reduce c) {
            return new Operands(
                    host(c.in()), rank == c.root() ? host(c.out()) : null, c.in().elementCount(), c.op(), c.root());
        }
        if (call instanceof Collective.AllGather c) {
            return new Operands(host(c.in()), host(c.out()), c.out().elementCount(), null, 0);
        }
        if (call instanceof Collective.ReduceScatter c) {
            return new Operands(host(c.in()), host(c.out()), c.in().elementCount(), c.op(), 0);
        }
        if (call instanceof Collective.AllToAll c) {
            return new Operands(host(c.in()), host(c.out()), c.in().elementCount(), null, 0);
        }
        return rooted(call, rank, worldSize);
    }

    private static Operands rooted(Collective call, int rank, int worldSize) {
        if (call instanceof Collective.Gather c) {
            HostTensor out = rank == c.root() ? host(c.out()) : null;
            return new Operands(host(c.in()), out, worldSize * c.in().elementCount(), null, c.root());
        }
        if (call instanceof Collective.Scatter c) {
            HostTensor in = rank == c.root() ? host(c.in()) : null;
            return new Operands(in, host(c.out()), worldSize * c.out().elementCount(), null, c.root());
        }
        return new Operands(null, null, 0, null, 0);
    }

    private static HostTensor host(Tensor tensor) {
        return (HostTensor) tensor;
    }
}
