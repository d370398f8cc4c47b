package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/**
 * Reduce in which every rank reduces its share of each chunk: the root in its result, every other rank in its own slot.
 * The root then copies the shares out. The operands of the other ranks are not changed.
 */
public final class SharesReduce {
    private final SharedCall call;
    private final Chunks chunks;
    private final ProgramBuilder program;

    private SharesReduce(SharedCall call, int chunkBytes) {
        this.call = call;
        this.chunks = Chunks.of(call.elements(), call.unit(), 1, chunkBytes);
        this.program = new ProgramBuilder(call, "shares", chunks.slots(), 2 * chunks.count());
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     * @return program
     */
    public static Program program(SharedCall call, int chunkBytes) {
        return new SharesReduce(call, chunkBytes).program();
    }

    private Program program() {
        int last = chunks.count() - 1;
        copyIn(0);
        program.enter();
        for (int chunk = 0; chunk <= last; chunk++) {
            if (chunk == 0) {
                program.awaitAllEntered();
            } else {
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
        return program.build();
    }

    private void copyIn(int chunk) {
        for (int rank = 0; rank < call.worldSize(); rank++) {
            if (rank != call.root() || !call.isRoot()) {
                ChunkPart share = share(chunk, rank);
                program.copyIn(element(chunk, share), share);
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
            program.completeAreas(peer, share);
        } else {
            program.combineAreas(peer, share);
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
        return Shares.of(chunks.piece(chunk, 0), call, rank);
    }
}
