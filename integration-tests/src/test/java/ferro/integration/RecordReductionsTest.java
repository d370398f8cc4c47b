package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.Allocation;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.harness.Ranks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Reductions of records over real links, in memory that the contract kit does not use: allocated shared memory, and
 * memory in several buffers. Rule 125 of the kit checks records in all other memory.
 */
@Timeout(120)
class RecordReductionsTest {
    private static final int BYTES_LEAST = 10 << 20;

    /** Adds records of which the first four bytes are a number, and the others must have their offsets in the record. */
    private static ReduceOp sum(int recordBytes) {
        return ReduceOp.ofBytes("sum", recordBytes, (into, received) -> {
            for (int at = 0; at < into.limit(); at += recordBytes) {
                checkFilling(into, at, recordBytes);
                checkFilling(received, at, recordBytes);
                into.putInt(at, into.getInt(at) + received.getInt(at));
            }
        });
    }

    private static void checkFilling(ByteBuffer records, int begin, int recordBytes) {
        for (int offset = Integer.BYTES; offset < recordBytes; offset += 7) {
            if (records.get(begin + offset) != (byte) offset) {
                throw new IllegalStateException("byte " + offset + " is " + records.get(begin + offset));
            }
        }
    }

    private static void fill(HostTensor tensor, int recordBytes, int rank) {
        byte[] bytes = new byte[(int) tensor.elementCount()];
        ByteBuffer records = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        for (int begin = 0; begin < bytes.length; begin += recordBytes) {
            for (int offset = Integer.BYTES; offset < recordBytes; offset++) {
                records.put(begin + offset, (byte) offset);
            }
            records.putInt(begin, (rank + 1) * (begin / recordBytes));
        }
        tensor.copyFrom(0, HostTensor.of(DataType.UINT8, bytes, 0, bytes.length), 0, bytes.length);
    }

    private static void checkSums(HostTensor tensor, int recordBytes, int ranks) {
        byte[] bytes = new byte[(int) tensor.elementCount()];
        HostTensor.of(DataType.UINT8, bytes, 0, bytes.length).copyFrom(0, tensor, 0, bytes.length);
        ByteBuffer records = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
        for (int begin = 0; begin < bytes.length; begin += recordBytes) {
            checkFilling(records, begin, recordBytes);
            int expected = ranks * (ranks + 1) / 2 * (begin / recordBytes);
            assertEquals(expected, records.getInt(begin), "record " + begin / recordBytes);
        }
    }

    @ParameterizedTest
    @CsvSource({"2, 24", "3, 100", "4, 5000"})
    void recordsInAllocatedMemoryAreNotSplit(int worldSize, int recordBytes) {
        Ranks.each("shm", worldSize, group -> {
            int bytes = BYTES_LEAST / 8 / recordBytes * recordBytes;
            Allocation memory = group.allocate(DataType.UINT8, bytes);
            assertEquals("", memory.whyNotShared());
            fill(memory.tensor(), recordBytes, group.rank());
            group.allReduce(memory.tensor(), sum(recordBytes));
            checkSums(memory.tensor(), recordBytes, worldSize);
            fill(memory.tensor(), recordBytes, group.rank());
            group.reduce(memory.tensor(), sum(recordBytes), 1);
            if (group.rank() == 1) {
                checkSums(memory.tensor(), recordBytes, worldSize);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"tcp, 24", "shm, 24", "tcp, 50000"})
    void recordsInMemoryOfSeveralBuffersAreNotSplit(String medium, int recordBytes) {
        Ranks.each(medium, 2, group -> {
            int bytes = (BYTES_LEAST / recordBytes + 1) * recordBytes;
            HostTensor data = PartedMemory.tensor(DataType.UINT8, bytes);
            fill(data, recordBytes, group.rank());
            group.allReduce(data, sum(recordBytes));
            checkSums(data, recordBytes, 2);
        });
    }
}
