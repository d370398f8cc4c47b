package ferro.lightgbm;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.lightgbm.ffi.LightGbmLibrary;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Sends each rank its block of bytes, and receives this rank's block of all ranks.
 *
 * <p>Blocks of nearly equal length, such as those of histograms, are packed at equal distances and sent as an all-to-all of
 * equal parts. This costs a copy. The copy pays: in shared memory, parts of equal length need less code than parts of
 * unequal length, which go through links, and less code is compiled sooner.
 */
final class BlockExchange {
    /** Blocks are packed if this adds at most one part in so many to the bytes that are sent. */
    private static final int PACKED_FOR_ONE_IN = 4;

    private final ProcessGroup group;
    private final int rank;
    private HostTensor packed = memory(0);
    private HostTensor received = memory(0);
    private ByteBuffer packedBytes = packed.buffer();
    private ByteBuffer receivedBytes = received.buffer();
    private long receivedAddress;
    /** The distance between the beginnings of two received blocks. */
    private long stride;

    BlockExchange(ProcessGroup group) {
        this.group = group;
        this.rank = group.rank();
    }

    /** Exchanges blocks that follow each other in the order of the ranks. All ranks pass the same lengths. */
    void run(HostTensor blocks, long[] lengths) {
        long largest = 0;
        for (long length : lengths) {
            largest = Math.max(largest, length);
        }
        long equal = largest * lengths.length;
        if (equal - blocks.elementCount() <= blocks.elementCount() / PACKED_FOR_ONE_IN) {
            receive(largest, lengths.length);
            group.allToAll(pack(blocks, lengths, largest), received.slice(0, equal));
        } else {
            receive(lengths[rank], lengths.length);
            long[] own = new long[lengths.length];
            Arrays.fill(own, lengths[rank]);
            group.allToAll(blocks, received.slice(0, lengths[rank] * lengths.length), lengths, own);
        }
    }

    /** Returns the received blocks as a buffer from position 0, of which rank 0 has the first block. */
    ByteBuffer received() {
        return receivedBytes;
    }

    /** Returns the address of the received block of a rank. */
    long address(int from) {
        return receivedAddress + from * stride;
    }

    private void receive(long distance, int ranks) {
        stride = distance;
        if (received.elementCount() < distance * ranks) {
            received = memory(distance * ranks);
            receivedBytes = received.buffer();
            receivedAddress = LightGbmLibrary.address(receivedBytes);
        }
    }

    private HostTensor pack(HostTensor blocks, long[] lengths, long distance) {
        long bytes = distance * lengths.length;
        if (bytes == blocks.elementCount()) {
            return blocks;
        }
        if (packed.elementCount() < bytes) {
            packed = memory(bytes);
            packedBytes = packed.buffer();
        }
        ByteBuffer from = blocks.buffer();
        int begin = 0;
        for (int block = 0; block < lengths.length; block++) {
            packedBytes.put((int) (block * distance), from, begin, (int) lengths[block]);
            begin += (int) lengths[block];
        }
        return packed.slice(0, bytes);
    }

    private static HostTensor memory(long bytes) {
        return HostTensor.allocate(DataType.UINT8, bytes);
    }
}
