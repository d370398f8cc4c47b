package ferro.collectives.shared;

/**
 * Where every rank has something for every rank: each stages what the others want, and reads from all. The next chunk is
 * staged before this one is read; that a rank has staged chunk i + 1 says that it has read chunk i - 1.
 */
public final class ExchangePrograms {
    private static final String NAME = "staged";

    private final SharedCall call;
    private final Chunks chunks;
    private final Form form;
    private final ProgramBuilder program;

    /** What is exchanged. */
    private enum Form {
        GATHER,
        SWAP,
        REDUCE
    }

    private ExchangePrograms(SharedCall call, Form form, int chunkBytes) {
        this.call = call;
        this.form = form;
        int pieces = form == Form.GATHER ? 1 : call.worldSize();
        this.chunks = Chunks.of(call.part(), call.unit(), pieces, chunkBytes);
        this.program = new ProgramBuilder(call, NAME, chunks.slots(), chunks.count() - 1);
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and whose program
     * @param chunkBytes what is staged at once
     * @return program
     */
    public static Program allGather(SharedCall call, int chunkBytes) {
        return new ExchangePrograms(call, Form.GATHER, chunkBytes).program();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and whose program
     * @param chunkBytes what is staged at once
     * @return program
     */
    public static Program allToAll(SharedCall call, int chunkBytes) {
        return new ExchangePrograms(call, Form.SWAP, chunkBytes).program();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and whose program
     * @param chunkBytes what is staged at once
     * @return program
     */
    public static Program reduceScatter(SharedCall call, int chunkBytes) {
        return new ExchangePrograms(call, Form.REDUCE, chunkBytes).program();
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and whose program
     * @param chunkBytes what is staged at once
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
                program.awaitAll(chunk);
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
                read(call.behind(places), chunk);
            }
        }
        return program.build();
    }

    private void stage(int chunk) {
        if (form == Form.GATHER) {
            program.copyIn(chunks.start(chunk), chunks.piece(chunk, 0));
            return;
        }
        for (int places = 1; places < call.worldSize(); places++) {
            int peer = call.behind(places);
            program.copyIn(part(peer, chunk), chunks.piece(chunk, peer));
        }
    }

    private void copyOwn(int chunk) {
        long from = form == Form.GATHER ? chunks.start(chunk) : part(call.rank(), chunk);
        long to = form == Form.REDUCE ? chunks.start(chunk) : part(call.rank(), chunk);
        program.copy(from, to, chunks.length(chunk));
    }

    private void read(int peer, int chunk) {
        switch (form) {
            case GATHER -> program.copyOut(peer, chunks.piece(chunk, 0), part(peer, chunk));
            case SWAP -> program.copyOut(peer, chunks.piece(chunk, call.rank()), part(peer, chunk));
            case REDUCE -> program.combine(peer, chunks.piece(chunk, call.rank()), chunks.start(chunk));
        }
    }

    /** Returns the first element of a chunk of a rank's part. */
    private long part(int rank, int chunk) {
        return rank * chunks.elements() + chunks.start(chunk);
    }
}
