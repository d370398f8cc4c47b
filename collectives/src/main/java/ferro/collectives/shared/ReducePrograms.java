package ferro.collectives.shared;

import ferro.CollectiveKind;
import ferro.collectives.shared.Chunks.ChunkPart;

/**
 * Programs of all-reduce and reduce in which every rank reduces its piece of each chunk. A rank copies the pieces of
 * other ranks into its slot. The rank then combines its own piece with the pieces in the slots of the ranks after it,
 * and publishes the result. The next chunk is copied in before the results of the current chunk are copied out.
 *
 * <p>In an all-reduce, a chunk has a piece of each part of the data that a reduce-scatter would leave on a rank. Rank r
 * combines its own piece, in its result, with the pieces in the slots of ranks r + 1, r + 2 and so on. Rank r writes
 * the result into the slot of rank r - 1, which rank r has read last. So no rank writes a cache line that another rank
 * has read last. All other ranks copy the result from the slot of rank r - 1. With two ranks, each rank copies half a
 * message in and half a message out, and combines half. If processors are far from each other, a prototype with
 * separate slots for results took four times as long (1 MiB: 182 us instead of 41).
 *
 * <p>In a reduce, the pieces are shares of a run of elements. The root reduces its share in its result. Every other
 * rank reduces its share in its own slot, so that its operand is not changed. The root copies the reduced shares out.
 */
public final class ReducePrograms {
    /** Number of bytes that are combined from a rank at a time, so that the sum stays in the first-level cache. */
    private static final int BLOCK_BYTES = 16 << 10;

    /** Largest block in shared tensors, limited so that a rank soon stops writing into tensors of failed ranks. */
    private static final int TENSOR_BLOCK_BYTES_MOST = 1 << 20;

    private final ProgramCall call;
    private final boolean isReduce;
    private final Chunks chunks;
    private final SharedMemoryProgramBuilder program;

    private ReducePrograms(ProgramCall call, Chunks chunks, boolean inTensors) {
        this.call = call;
        this.isReduce = call.kind() == CollectiveKind.REDUCE;
        this.chunks = chunks;
        this.program = new SharedMemoryProgramBuilder(
                call,
                isReduce ? "shares" : "halfInPlace",
                inTensors ? 0 : chunks.slots(),
                inTensors ? 1 : reduced(chunks.count() - 1));
    }

    /**
     * Makes the program of one rank.
     *
     * @param call       operation, and the rank that the program is for
     * @param chunkBytes bytes staged at once
     */
    public static SharedMemoryProgram of(ProgramCall call, int chunkBytes) {
        boolean isReduce = call.kind() == CollectiveKind.REDUCE;
        // in an all-reduce, the data beside the header is the locations of tensors
        Chunks chunks = isReduce
                ? Chunks.of(call.elements(), call.unit(), 1, chunkBytes)
                : Chunks.of(call.partLength(0), call.unit(), call.worldSize(), chunkBytes)
                        .inSlots();
        ReducePrograms staged = new ReducePrograms(call, chunks, false);
        boolean readsOperands = chunks.areInSlots() && call.fitsInBuffers();
        staged.program.readOperands(readsOperands);
        if (readsOperands && (!isReduce || call.worldSize() == 2)) {
            staged.program.insteadInTensors(new ReducePrograms(call, chunks, true).inTensors(), !isReduce);
        }
        return staged.staged();
    }

    private SharedMemoryProgram staged() {
        int last = chunks.count() - 1;
        copyIn(0);
        program.enter();
        program.choose();
        for (int chunk = 0; chunk <= last; chunk++) {
            if (chunk > 0) {
                program.awaitAll(copiedIn(chunk));
            }
            reduce(chunk);
            program.publish(reduced(chunk));
            if (chunk < last) {
                copyIn(chunk + 1);
                program.publish(copiedIn(chunk + 1));
            }
            if (!isReduce || call.isRoot()) {
                copyOut(chunk);
            }
        }
        if (isReduce) {
            program.awaitRead(-1, reduced(last));
        }
        return program.build();
    }

    /**
     * Returns the flag value of a chunk that is copied in. The values of a reduce are one lower than the values of an
     * all-reduce, and all ranks of a segment must use the same values.
     */
    private int copiedIn(int chunk) {
        return 2 * chunk + (isReduce ? 0 : 1);
    }

    private int reduced(int chunk) {
        return copiedIn(chunk) + 1;
    }

    private void copyIn(int chunk) {
        for (int rank = 0; rank < call.worldSize(); rank++) {
            ChunkPart piece = piece(chunk, rank);
            if (rank != call.rank()) {
                program.copyIn(element(chunk, rank), piece);
            } else if (isReduce && !call.isRoot()) {
                program.copyOwnIn(element(chunk, rank), piece);
            }
        }
    }

    private void reduce(int chunk) {
        ChunkPart piece = piece(chunk, call.rank());
        long from = element(chunk, call.rank());
        if (!isReduce || call.isRoot()) {
            program.copy(from, from, piece.count());
        }
        if (isReduce) {
            byte kind = call.isRoot() ? SharedMemoryProgram.COMBINE : SharedMemoryProgram.COMBINE_AREAS;
            for (int places = 1; places < call.worldSize(); places++) {
                boolean isLast = places == call.worldSize() - 1;
                program.combine(kind, call.behind(places), piece, from, call.isRoot() ? from : 0, isLast);
            }
            return;
        }
        int block = block(piece.count());
        for (int done = 0; done < piece.count(); done += block) {
            int count = Math.min(block, piece.count() - done);
            combineForAll(new ChunkPart(piece.chunk(), piece.at() + done * call.unit(), count), from + done);
        }
    }

    /**
     * Combines a run of this rank's part with the same run of all other ranks, from the next rank on. The last rank in
     * this order gets the result too.
     */
    private void combineForAll(ChunkPart run, long element) {
        int last = call.worldSize() - 1;
        for (int places = 1; places <= last; places++) {
            byte kind = places == last ? SharedMemoryProgram.COMBINE_BOTH : SharedMemoryProgram.COMBINE;
            program.combine(kind, call.behind(places), run, element, element, places == last);
        }
    }

    /**
     * Returns the number of elements that are combined with all ranks before the next block. Two ranks need no blocks,
     * because two ranks combine an element only once.
     */
    private int block(int count) {
        return call.worldSize() <= 2 ? Math.max(1, count) : Math.max(1, BLOCK_BYTES / call.unit());
    }

    private void copyOut(int chunk) {
        for (int places = 1; places < call.worldSize(); places++) {
            int peer = call.behind(places);
            program.await(peer, reduced(chunk));
            int holder = isReduce ? peer : call.behind(places - 1);
            program.copyOut(holder, piece(chunk, peer), SharedMemoryProgram.NO_OPERAND, element(chunk, peer));
        }
    }

    private long element(int chunk, int rank) {
        return isReduce
                ? chunks.start(chunk) + cut(chunks.length(chunk), rank)
                : call.partStart(rank) + chunks.start(chunk);
    }

    /**
     * Returns the piece of a rank. Parts may be one element shorter than the first part. If the size of an element
     * divides a cache line, each share begins at a line, and no two ranks write one line. Shares of records of any
     * other size begin at a record, and two ranks may then write one cache line. A cache line that two ranks write
     * makes the call slower, but changes no result.
     */
    private ChunkPart piece(int chunk, int rank) {
        ChunkPart longest = chunks.piece(chunk, isReduce ? 0 : rank);
        if (isReduce) {
            int from = cut(longest.count(), rank);
            int count = cut(longest.count(), rank + 1) - from;
            return new ChunkPart(longest.chunk(), longest.at() + from * call.unit(), count);
        }
        long left = call.partLength(rank) - chunks.start(chunk);
        return new ChunkPart(longest.chunk(), longest.at(), (int) Math.min(longest.count(), left));
    }

    /** Returns where the share of a rank begins in a run of elements. */
    private int cut(int count, int rank) {
        if (rank == call.worldSize()) {
            return count;
        }
        int line = call.elementsOfLine();
        return (int) ((long) count * rank / call.worldSize()) / line * line;
    }

    /**
     * Makes the program that continues in shared tensors after all ranks have entered. The order of the ranks is the
     * order of {@link #staged}, so that the bits of the result do not depend on where the tensors are.
     *
     * <p>In an all-reduce, each rank reduces its part of the operands of all ranks, and writes the reduced part to the
     * results of all ranks. No other rank reads or writes the part of a rank, so each rank may work in place or not. In
     * a reduce of two ranks, the root reads the operand of the other rank. Two operands give the same bits in either
     * order.
     */
    private SharedMemoryProgram inTensors() {
        program.goesOnInTensors();
        if (!isReduce) {
            reducePartInTensors(call.partStart(call.rank()), Math.toIntExact(call.partLength(call.rank())));
            program.publish(1);
            program.awaitAll(1);
            return program.build();
        }
        if (!call.isRoot()) {
            program.await(call.root(), 1);
            return program.build();
        }
        for (int chunk = 0; chunk < chunks.count(); chunk++) {
            long from = chunks.start(chunk);
            program.copy(from, from, chunks.length(chunk));
            program.combine(
                    SharedMemoryProgram.COMBINE, call.behind(1), operand(from, chunks.length(chunk)), from, from, true);
        }
        program.publish(1);
        return program.build();
    }

    /** Reduces a part in blocks that begin at cache lines, so that no vector crosses a line. */
    private void reducePartInTensors(long start, int length) {
        int head = Math.min(length, Math.floorMod(-start, call.elementsOfLine()));
        reduceInTensors(start, head);
        int block = Math.min(block(length), TENSOR_BLOCK_BYTES_MOST / call.unit());
        for (int done = head; done < length; done += block) {
            reduceInTensors(start + done, Math.min(block, length - done));
        }
    }

    private void reduceInTensors(long element, int count) {
        ChunkPart operand = operand(element, count);
        program.copy(element, element, count);
        combineForAll(operand, element);
        ChunkPart result = new ChunkPart(SharedMemoryProgram.RESULT, operand.at(), count);
        for (int places = 1; places < call.worldSize() - 1; places++) {
            program.copyOver(call.behind(places), result, element);
        }
    }

    private ChunkPart operand(long element, int count) {
        return new ChunkPart(SharedMemoryProgram.OPERAND, Math.toIntExact(element * call.unit()), count);
    }
}
