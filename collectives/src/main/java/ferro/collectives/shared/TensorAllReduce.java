package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/**
 * All-reduce of tensors in memory that all ranks share: each rank reduces its share of the tensors of all ranks, and
 * writes it to all of them.
 *
 * <p>The shares are those of the chunks that would be staged otherwise, so that the bits of the result do not depend on
 * where the tensors lie.
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
    static Program program(SharedCall call, Chunks chunks, Program late) {
        TensorAllReduce maker = new TensorAllReduce(call);
        maker.program.enter();
        maker.program.choose(late);
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            maker.reduce(Shares.of(chunks.piece(chunk, 0), call, call.rank()), chunks.start(chunk));
        }
        maker.program.publish(1);
        maker.program.awaitAll(1);
        return maker.program.build();
    }

    private void reduce(ChunkPart share, long chunkStart) {
        int block = HalfInPlaceAllReduce.block(call, share.count());
        for (int done = 0; done < share.count(); done += block) {
            int count = Math.min(block, share.count() - done);
            long element = chunkStart + share.at() / call.unit() + done;
            reduceBlock(new ChunkPart(Program.TENSOR, Math.toIntExact(element * call.unit()), count), element);
        }
    }

    private void reduceBlock(ChunkPart part, long element) {
        for (int places = 2; places < call.worldSize(); places++) {
            program.combine(call.behind(places), part, element);
        }
        if (call.worldSize() > 1) {
            program.completeBoth(call.behind(1), part, element);
        }
        for (int places = 2; places < call.worldSize(); places++) {
            program.copyOver(call.behind(places), part, element);
        }
    }
}
