package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/**
 * All-reduce of tensors in memory that all ranks share: each rank reduces its part of the operands of all ranks, and
 * writes it to the results of all ranks. No other rank reads or writes its part, so each rank may work in place or not.
 *
 * <p>The order of the ranks is that of {@link HalfInPlaceAllReduce}, so that the bits of the result do not depend on where
 * the tensors lie.
 */
final class TensorAllReduce {
    /** So that a rank soon stops to write into the tensors of others when their call has failed. */
    private static final int BLOCK_BYTES_MOST = 1 << 20;

    private final SharedCall call;
    private final ProgramBuilder program;

    private TensorAllReduce(SharedCall call) {
        this.call = call;
        this.program = new ProgramBuilder(call, HalfInPlaceAllReduce.NAME, 0, 1);
    }

    /** Makes the program that goes on when all have entered, in place of the one that stages. */
    static Program program(SharedCall call) {
        TensorAllReduce maker = new TensorAllReduce(call);
        maker.reduce(call.partStart(call.rank()), Math.toIntExact(call.partLength(call.rank())));
        maker.program.goesOnInTensors();
        maker.program.publish(1);
        maker.program.awaitAll(1);
        return maker.program.build();
    }

    /** Reduces a part in blocks that begin at lines, so that no vector crosses one. */
    private void reduce(long start, int length) {
        int head = Math.min(length, Math.floorMod(-start, call.elementsOfLine()));
        reduceBlock(start, head);
        int block = Math.min(HalfInPlaceAllReduce.block(call, length), BLOCK_BYTES_MOST / call.unit());
        for (int done = head; done < length; done += block) {
            reduceBlock(start + done, Math.min(block, length - done));
        }
    }

    private void reduceBlock(long element, int count) {
        int at = Math.toIntExact(element * call.unit());
        program.copy(element, element, count);
        HalfInPlaceAllReduce.combine(program, call, new ChunkPart(Program.OPERAND, at, count), element);
        ChunkPart result = new ChunkPart(Program.RESULT, at, count);
        for (int places = 1; places < call.worldSize() - 1; places++) {
            program.copyOver(call.behind(places), result, element);
        }
    }
}
