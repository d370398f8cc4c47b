package ferro.collectives.shared;

/**
 * Programs that move data from the root to all ranks, or from all ranks to the root. A rank with data stages it, and a
 * rank that needs data copies it out. A reader publishes how much it has read, as far as the writer needs it to use a
 * slot again.
 *
 * <p>A rank whose data lies in memory that all ranks share stages nothing: the readers read it there. It ends when they
 * have.
 */
public final class RootedPrograms {
    private static final String NAME = "staged";

    private final SharedCall call;
    private final Chunks chunks;
    private final boolean hasPieces;
    private final ProgramBuilder program;

    private RootedPrograms(SharedCall call, Chunks chunks, boolean hasPieces) {
        this.call = call;
        this.chunks = chunks;
        this.hasPieces = hasPieces;
        this.program = new ProgramBuilder(call, NAME, chunks.slots(), chunks.slots());
        program.readOperands(chunks.areInSlots() && call.fitsInBuffers());
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     * @return program
     */
    public static Program broadcast(SharedCall call, int chunkBytes) {
        Chunks chunks = Chunks.of(call.elements(), call.unit(), 1, chunkBytes);
        return new RootedPrograms(call, chunks, false).fromRoot();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     * @return program
     */
    public static Program scatter(SharedCall call, int chunkBytes) {
        Chunks chunks = Chunks.of(call.part(), call.unit(), call.worldSize(), chunkBytes);
        return new RootedPrograms(call, chunks, true).fromRoot();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     * @return program
     */
    public static Program gather(SharedCall call, int chunkBytes) {
        Chunks chunks = Chunks.of(call.part(), call.unit(), 1, chunkBytes);
        return new RootedPrograms(call, chunks, true).toRoot();
    }

    private Program fromRoot() {
        if (call.isRoot()) {
            write();
            return program.build();
        }
        program.enter();
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            awaitWritten(call.root(), chunk);
            int piece = hasPieces ? call.rank() : 0;
            long operand = (hasPieces ? call.rank() * chunks.elements() : 0) + chunks.start(chunk);
            program.copyOut(call.root(), chunks.piece(chunk, piece), operand, chunks.start(chunk));
            tellRead(chunk);
        }
        tellAllRead();
        return program.build();
    }

    private Program toRoot() {
        if (!call.isRoot()) {
            write();
            return program.build();
        }
        program.enter();
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            long own = call.rank() * chunks.elements() + chunks.start(chunk);
            program.copy(chunks.start(chunk), own, chunks.length(chunk));
            for (int places = 1; places < call.worldSize(); places++) {
                int peer = call.behind(places);
                awaitWritten(peer, chunk);
                long to = peer * chunks.elements() + chunks.start(chunk);
                program.copyOut(peer, chunks.piece(chunk, 0), chunks.start(chunk), to);
            }
            tellRead(chunk);
        }
        tellAllRead();
        return program.build();
    }

    private void write() {
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            if (chunk == 1) {
                program.awaitAllEntered();
            }
            awaitRead(chunk - SegmentLayout.SLOTS);
            stage(chunk);
            if (chunk == 0) {
                program.enter();
            } else {
                program.publish(chunk);
            }
            if (scatters()) {
                long from = call.rank() * chunks.elements() + chunks.start(chunk);
                program.copy(from, chunks.start(chunk), chunks.length(chunk));
            }
        }
        awaitRead(chunks.count() - SegmentLayout.SLOTS);
        if (chunks.areInSlots()) {
            program.awaitRead(call.isRoot() ? -1 : call.root(), chunks.count());
        }
    }

    private void stage(int chunk) {
        if (!scatters()) {
            program.copyIn(chunks.start(chunk), chunks.piece(chunk, 0));
            return;
        }
        for (int places = 1; places < call.worldSize(); places++) {
            int rank = call.behind(places);
            program.copyIn(rank * chunks.elements() + chunks.start(chunk), chunks.piece(chunk, rank));
        }
    }

    private boolean scatters() {
        return hasPieces && call.isRoot();
    }

    private void awaitWritten(int peer, int chunk) {
        if (chunk == 0) {
            program.awaitEntered(peer);
        } else {
            program.awaitStaged(peer, chunk);
        }
    }

    private void tellAllRead() {
        if (chunks.areInSlots()) {
            program.tellRead(chunks.count());
        }
    }

    /** Tells that a chunk is read, if its slot is needed again. */
    private void tellRead(int chunk) {
        if (chunk <= chunks.count() - SegmentLayout.SLOTS) {
            program.publish(chunk + 1);
        }
    }

    private void awaitRead(int chunk) {
        if (chunk < 0) {
            return;
        }
        boolean toRoot = !call.isRoot();
        if (toRoot) {
            program.await(call.root(), chunk + 1);
        } else {
            program.awaitAll(chunk + 1);
        }
    }
}
