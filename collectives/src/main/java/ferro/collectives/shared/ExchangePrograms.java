package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.ChunkPart;

/**
 * Programs of the collectives in which every rank has data for every rank. Each rank stages the data that the others
 * need, and reads from all. It stages the next chunk before it reads this one. A rank that has staged chunk i + 1 has
 * read chunk i - 1.
 *
 * <p>A rank whose operand lies in memory that all ranks share stages nothing: the others read the operand. It ends when
 * all of them have.
 */
public final class ExchangePrograms {
    private static final String NAME = "staged";

    private final SharedCall call;
    private final Chunks chunks;
    private final ExchangeKind form;
    private final ProgramBuilder program;

    private enum ExchangeKind {
        GATHER,
        SWAP,
        REDUCE
    }

    private ExchangePrograms(SharedCall call, ExchangeKind form, int chunkBytes) {
        this.call = call;
        this.form = form;
        int pieces = form == ExchangeKind.GATHER ? 1 : call.worldSize();
        this.chunks = Chunks.of(call.part(), call.unit(), pieces, chunkBytes);
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
    public static Program allGather(SharedCall call, int chunkBytes) {
        return new ExchangePrograms(call, ExchangeKind.GATHER, chunkBytes).program();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     * @return program
     */
    public static Program allToAll(SharedCall call, int chunkBytes) {
        return new ExchangePrograms(call, ExchangeKind.SWAP, chunkBytes).program();
    }

    /**
     * Makes the program of one rank, with the bits of {@link HalfInPlaceAllReduce}: rank r combines its operand with those
     * of ranks r + 1, r + 2 and so on.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     * @return program
     */
    public static Program reduceScatter(SharedCall call, int chunkBytes) {
        return new ExchangePrograms(call, ExchangeKind.REDUCE, chunkBytes).program();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes not used: a barrier stages nothing
     * @return program
     */
    public static Program barrier(SharedCall call, int chunkBytes) {
        ProgramBuilder program = new ProgramBuilder(call, "flat", 0, 0);
        program.enter();
        for (int places = 1; places < call.worldSize(); places++) {
            program.awaitEntered(call.behind(places));
        }
        return program.build();
    }

    private Program program() {
        int last = chunks.count() - 1;
        stage(0);
        program.enter();
        for (int chunk = 0; chunk <= last; chunk++) {
            copyOwn(chunk);
            if (chunk > 0) {
                program.awaitAllStaged(chunk);
            } else if (last > 0) {
                program.awaitAllEntered();
            }
            if (chunk < last) {
                stage(chunk + 1);
                program.publish(chunk + 1);
            }
            for (int places = 1; places < call.worldSize(); places++) {
                if (last == 0) {
                    program.awaitEntered(call.behind(places));
                }
                read(places, chunk);
            }
        }
        if (chunks.areInSlots()) {
            program.tellRead(chunks.count());
            program.awaitAllRead(chunks.count());
        }
        return program.build();
    }

    private void stage(int chunk) {
        if (form == ExchangeKind.GATHER) {
            program.copyIn(chunks.start(chunk), chunks.piece(chunk, 0));
            return;
        }
        for (int places = 1; places < call.worldSize(); places++) {
            int peer = call.behind(places);
            program.copyIn(part(peer, chunk), chunks.piece(chunk, peer));
        }
    }

    private void copyOwn(int chunk) {
        long from = form == ExchangeKind.GATHER ? chunks.start(chunk) : part(call.rank(), chunk);
        long to = form == ExchangeKind.REDUCE ? chunks.start(chunk) : part(call.rank(), chunk);
        program.copy(from, to, chunks.length(chunk));
    }

    private void read(int places, int chunk) {
        int peer = call.behind(places);
        ChunkPart piece = chunks.piece(chunk, form == ExchangeKind.GATHER ? 0 : call.rank());
        switch (form) {
            case GATHER -> program.copyOut(peer, piece, chunks.start(chunk), part(peer, chunk));
            case SWAP -> program.copyOut(peer, piece, part(call.rank(), chunk), part(peer, chunk));
            case REDUCE -> combine(places, piece, chunk);
        }
    }

    private void combine(int places, ChunkPart from, int chunk) {
        long operand = part(call.rank(), chunk);
        if (places == call.worldSize() - 1) {
            program.complete(call.behind(places), from, operand, chunks.start(chunk));
        } else {
            program.combine(call.behind(places), from, operand, chunks.start(chunk));
        }
    }

    /** Returns the first element of a chunk in the part of a rank. */
    private long part(int rank, int chunk) {
        return rank * chunks.elements() + chunks.start(chunk);
    }
}
