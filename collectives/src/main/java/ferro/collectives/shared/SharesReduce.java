package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/**
 * Reduce in which every rank reduces its share of each chunk: the root in its result, every other rank in its own slot.
 * The root then copies the shares out. The operands of the other ranks are not changed.
 */
public final class SharesReduce {
    private static final String NAME = "shares";

    private final SharedCall call;
    private final Chunks chunks;
    /** Whether others may read operands where they lie. */
    private final boolean mayRead;

    private final ProgramBuilder program;

    private SharesReduce(SharedCall call, int chunkBytes) {
        this.call = call;
        this.chunks = Chunks.of(call.elements(), call.unit(), 1, chunkBytes);
        this.mayRead = chunks.areInSlots() && call.fitsInBuffers();
        this.program = new ProgramBuilder(call, NAME, chunks.slots(), 2 * chunks.count());
        program.readOperands(mayRead);
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     * @return program
     */
    public static Program program(SharedCall call, int chunkBytes) {
        SharesReduce staged = new SharesReduce(call, chunkBytes);
        if (call.worldSize() == 2 && staged.mayRead) {
            staged.program.insteadInOperands(inOperands(call, staged.chunks));
        }
        return staged.program();
    }

    /**
     * Makes the program that goes on when both of two ranks have their operands in shared memory: the root reads that of
     * the other. Two operands give the same bits in either order.
     */
    private static Program inOperands(SharedCall call, Chunks chunks) {
        ProgramBuilder program = new ProgramBuilder(call, NAME, 0, 1);
        program.goesOnInTensors();
        if (!call.isRoot()) {
            program.await(call.root(), 1);
            return program.build();
        }
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            long from = chunks.start(chunk);
            int length = chunks.length(chunk);
            program.copy(from, from, length);
            int at = Math.toIntExact(from * call.unit());
            program.complete(call.behind(1), new ChunkPart(Program.OPERAND, at, length), from);
        }
        program.publish(1);
        return program.build();
    }

    private Program program() {
        int last = chunks.count() - 1;
        copyIn(0);
        program.enter();
        program.choose();
        for (int chunk = 0; chunk <= last; chunk++) {
            if (chunk > 0) {
                program.awaitAll(2 * chunk);
            }
            reduce(chunk);
            program.publish(2 * chunk + 1);
            if (chunk < last) {
                copyIn(chunk + 1);
                program.publish(2 * chunk + 2);
            }
            if (call.isRoot()) {
                copyOut(chunk);
            }
        }
        program.awaitAllRead(2 * last + 1);
        return program.build();
    }

    private void copyIn(int chunk) {
        for (int rank = 0; rank < call.worldSize(); rank++) {
            ChunkPart share = share(chunk, rank);
            if (rank != call.rank()) {
                program.copyIn(element(chunk, share), share);
            } else if (!call.isRoot()) {
                program.copyOwnIn(element(chunk, share), share);
            }
        }
    }

    private void reduce(int chunk) {
        ChunkPart share = share(chunk, call.rank());
        long from = element(chunk, share);
        if (call.isRoot()) {
            program.copy(from, from, share.count());
        }
        for (int places = 1; places < call.worldSize(); places++) {
            combine(places, share, from);
        }
    }

    private void combine(int places, ChunkPart share, long from) {
        int peer = call.behind(places);
        boolean completes = places == call.worldSize() - 1;
        if (call.isRoot() && completes) {
            program.complete(peer, share, from);
        } else if (call.isRoot()) {
            program.combine(peer, share, from);
        } else if (completes) {
            program.completeAreas(peer, share, from);
        } else {
            program.combineAreas(peer, share, from);
        }
    }

    private void copyOut(int chunk) {
        for (int places = 1; places < call.worldSize(); places++) {
            int peer = call.behind(places);
            ChunkPart share = share(chunk, peer);
            program.await(peer, 2 * chunk + 1);
            program.copyOut(peer, share, element(chunk, share));
        }
    }

    private long element(int chunk, ChunkPart share) {
        return chunks.start(chunk) + share.at() / call.unit();
    }

    private ChunkPart share(int chunk, int rank) {
        return share(chunks.piece(chunk, 0), call, rank);
    }

    /**
     * Returns the share of a rank. If the size of an element divides a line of memory, each share begins at a line, and
     * no two ranks write one line. Shares of records with another size begin at a record, and two ranks may write one
     * line. This makes the call slower, and changes no result.
     */
    private static ChunkPart share(ChunkPart whole, SharedCall call, int rank) {
        int from = cut(whole.count(), call, rank);
        return new ChunkPart(whole.chunk(), whole.at() + from * call.unit(), cut(whole.count(), call, rank + 1) - from);
    }

    private static int cut(int count, SharedCall call, int rank) {
        if (rank == call.worldSize()) {
            return count;
        }
        int line = call.elementsOfLine();
        return (int) ((long) count * rank / call.worldSize()) / line * line;
    }
}
