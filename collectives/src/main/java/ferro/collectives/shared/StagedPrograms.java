package ferro.collectives.shared;

import ferro.CollectiveKind;
import ferro.collectives.shared.Chunks.ChunkPart;

/**
 * Programs that move data from the root to all ranks, from all ranks to the root, or from every rank to every rank. A
 * rank with data for other ranks stages the data in its segment, and a rank that needs the data reads the data from
 * that segment.
 *
 * <p>In a program with a root, a reader publishes how many chunks the reader has read, if the writer needs the number
 * of read chunks before it uses a slot again. If every rank has data for every rank, each rank stages the next chunk
 * before the rank reads the current chunk. So a rank that has staged chunk i + 1 has read chunk i - 1.
 *
 * <p>A rank whose data is in shared memory stages nothing, and the readers read the data directly. A rank that stages
 * nothing ends the operation when the readers have read its data.
 */
public final class StagedPrograms {
    private static final String NAME = "staged";

    private final ProgramCall call;
    private final CollectiveKind kind;
    /** Whether each rank that stages data stages a separate piece for each rank. */
    private final boolean hasPieces;
    /** Whether the result of a rank has only the elements of one part or of a broadcast, not the parts of all ranks. */
    private final boolean isPartResult;

    private final Chunks chunks;
    private final SharedMemoryProgramBuilder program;

    private StagedPrograms(ProgramCall call, int chunkBytes) {
        this.call = call;
        this.kind = call.kind();
        boolean hasPartForEach = kind == CollectiveKind.SCATTER || kind == CollectiveKind.REDUCE_SCATTER;
        this.hasPieces = hasPartForEach || kind == CollectiveKind.ALL_TO_ALL;
        this.isPartResult = hasPartForEach || kind == CollectiveKind.BROADCAST;
        long elements = kind == CollectiveKind.BROADCAST ? call.elements() : call.part();
        this.chunks = Chunks.of(elements, call.unit(), hasPieces ? call.worldSize() : 1, chunkBytes);
        this.program = new SharedMemoryProgramBuilder(call, NAME, chunks.slots(), chunks.slots());
        program.readOperands(chunks.areInSlots() && call.fitsInBuffers());
    }

    /**
     * Makes the program of one rank. A reduce-scatter has the same bits as an all-reduce by {@link ReducePrograms},
     * because rank r combines its operand with the operands of ranks r + 1, r + 2 and so on.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes number of bytes that are staged at once
     */
    public static SharedMemoryProgram of(ProgramCall call, int chunkBytes) {
        StagedPrograms maker = new StagedPrograms(call, chunkBytes);
        boolean isFromRoot = call.kind() != CollectiveKind.GATHER;
        if (!call.kind().isRooted()) {
            maker.exchange();
        } else if (call.isRoot() == isFromRoot) {
            maker.write();
        } else {
            maker.readWritten();
        }
        return maker.program.build();
    }

    private void exchange() {
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
            program.awaitRead(-1, chunks.count());
        }
    }

    private void readWritten() {
        program.enter();
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            if (kind == CollectiveKind.GATHER) {
                copyOwn(chunk);
                for (int places = 1; places < call.worldSize(); places++) {
                    readWritten(places, chunk);
                }
            } else {
                readWritten(call.root() + call.worldSize() - call.rank(), chunk);
            }
            // only if the slot of this chunk is needed again
            if (chunk <= chunks.count() - SegmentLayout.SLOTS) {
                program.publish(chunk + 1);
            }
        }
        if (chunks.areInSlots()) {
            program.tellRead(chunks.count());
        }
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
            if (hasPieces) {
                copyOwn(chunk);
            }
        }
        awaitRead(chunks.count() - SegmentLayout.SLOTS);
        if (chunks.areInSlots()) {
            program.awaitRead(call.isRoot() ? -1 : call.root(), chunks.count());
        }
    }

    private void awaitRead(int chunk) {
        if (chunk >= 0 && call.isRoot()) {
            program.awaitAll(chunk + 1);
        } else if (chunk >= 0) {
            program.await(call.root(), chunk + 1);
        }
    }

    private void readWritten(int places, int chunk) {
        if (chunk == 0) {
            program.awaitEntered(call.behind(places));
        } else {
            program.awaitStaged(call.behind(places), chunk);
        }
        read(places, chunk);
    }

    private void stage(int chunk) {
        if (!hasPieces) {
            program.copyIn(chunks.start(chunk), chunks.piece(chunk, 0));
            return;
        }
        for (int places = 1; places < call.worldSize(); places++) {
            int peer = call.behind(places);
            program.copyIn(part(peer, chunk), chunks.piece(chunk, peer));
        }
    }

    private void copyOwn(int chunk) {
        program.copy(operand(chunk), result(call.rank(), chunk), chunks.length(chunk));
    }

    private void read(int places, int chunk) {
        int peer = call.behind(places);
        ChunkPart piece = chunks.piece(chunk, hasPieces ? call.rank() : 0);
        if (kind == CollectiveKind.REDUCE_SCATTER) {
            boolean isLast = places == call.worldSize() - 1;
            program.combine(SharedMemoryProgram.COMBINE, peer, piece, operand(chunk), result(peer, chunk), isLast);
        } else {
            program.copyOut(peer, piece, operand(chunk), result(peer, chunk));
        }
    }

    /** Returns the first element that this rank needs of each operand. */
    private long operand(int chunk) {
        return hasPieces ? part(call.rank(), chunk) : chunks.start(chunk);
    }

    /** Returns the first element in this rank's result of the data that comes from a peer. */
    private long result(int peer, int chunk) {
        return isPartResult ? chunks.start(chunk) : part(peer, chunk);
    }

    /** Returns the first element of a chunk in the part of a rank. */
    private long part(int rank, int chunk) {
        return rank * chunks.elements() + chunks.start(chunk);
    }
}
