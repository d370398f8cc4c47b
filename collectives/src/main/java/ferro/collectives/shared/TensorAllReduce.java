package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/**
 * All-reduce of tensors in memory that all ranks share: each rank reduces its part of the tensors of all ranks, and
 * writes it to all of them.
 *
 * <p>The order of the ranks is that of {@link HalfInPlaceAllReduce}, so that the bits of the result do not depend on where
 * the tensors lie.
 */
final class TensorAllReduce {
    /** Longest tensor in a buffer. */
    static final long BYTES_MOST = Integer.MAX_VALUE;

    private final SharedCall call;
    private final ProgramBuilder program;

    private TensorAllReduce(SharedCall call) {
        this.call = call;
        this.program = new ProgramBuilder(call, HalfInPlaceAllReduce.NAME, 0, 1);
    }

    /** Makes the program; {@code late} runs where not all tensors are shared. */
    static Program program(SharedCall call, Program late) {
        TensorAllReduce maker = new TensorAllReduce(call);
        maker.program.enter();
        maker.program.choose(late);
        maker.reduce(call.partStart(call.rank()), Math.toIntExact(call.partLength(call.rank())));
        maker.program.publish(1);
        maker.program.awaitAll(1);
        return maker.program.build();
    }

    /** Reduces a part in blocks that begin at lines, so that no vector crosses one. */
    private void reduce(long start, int length) {
        int head = Math.min(length, Math.floorMod(-start, SharedCall.ALIGNMENT / call.unit()));
        reduceBlock(start, head);
        int block = HalfInPlaceAllReduce.block(call, length);
        for (int done = head; done < length; done += block) {
            reduceBlock(start + done, Math.min(block, length - done));
        }
    }

    private void reduceBlock(long element, int count) {
        ChunkPart run = new ChunkPart(Program.TENSOR, Math.toIntExact(element * call.unit()), count);
        HalfInPlaceAllReduce.combine(program, call, run, element);
        for (int places = 1; places < call.worldSize() - 1; places++) {
            program.copyOver(call.behind(places), run, element);
        }
    }
}
