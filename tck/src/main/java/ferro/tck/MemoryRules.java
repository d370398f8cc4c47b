package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.Allocation;
import ferro.Collective;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.ElementAccess;
import ferro.tck.cells.InPlaceCalls;
import ferro.tck.cells.Operand;
import ferro.tck.cells.OverlappingCalls;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 115, 120 and 121, about memory that a group allocates, and operands and results in one memory. */
interface MemoryRules extends TestedBackend {
    /**
     * Checks that memory that a group allocates gives the same results as arrays, even after some or all ranks have
     * closed the memory. Memory of the group and arrays may differ only in the duration of calls.
     */
    @Rule(
            value = 115,
            ranks = {1, 2, 3, 4})
    default void allocatedMemoryIsUsedAsArraysAre(ProcessGroup group) {
        for (int length : new int[] {0, 1, 61, 5_000, aboveASegment()}) {
            Allocation first = zeros(group, length);
            Allocation second = zeros(group, length);
            sumsAreThoseOfArrays(group, first.tensor());
            broadcastIsThatOfAnArray(group, second.tensor(), length);
            if (group.rank() % 2 == 0) {
                first.close();
            }
            sumsAreThoseOfArrays(group, first.tensor());
            first.close();
            sumsAreThoseOfArrays(group, first.tensor());
            sumsAreThoseOfArrays(group, second.tensor());
        }
        for (int part : new int[] {61, 5_000, aboveASegment() / 3}) {
            long elements = (long) part * group.worldSize();
            try (Allocation first = group.allocate(DataType.FLOAT32, elements);
                    Allocation second = group.allocate(DataType.FLOAT32, elements)) {
                new GroupMemoryCheck(group, first.tensor(), second.tensor(), part).compare();
            }
        }
    }

    private static Allocation zeros(ProcessGroup group, int length) {
        Allocation made = group.allocate(DataType.FLOAT32, length);
        HostTensor tensor = made.tensor();
        assertEquals(DataType.FLOAT32, tensor.dataType());
        assertEquals(length, tensor.elementCount());
        RuleChecks.same(
                new float[length], GroupMemoryCheck.elements(tensor), () -> "new memory of rank " + group.rank());
        assertEquals(made.whyNotShared().isEmpty(), made.isShared(), made.whyNotShared());
        return made;
    }

    /**
     * Compares sums in memory of {@code group.allocate} with sums in arrays. In each of the first rounds one rank uses
     * an array. In the last round all ranks use memory of {@code group.allocate}. After the rounds, all ranks use a
     * slice of memory of {@code group.allocate}.
     */
    private static void sumsAreThoseOfArrays(ProcessGroup group, HostTensor given) {
        int length = (int) given.elementCount();
        float[] input = RuleChecks.magnitudes(length, 17L * group.rank() + length);
        float[] sum = input.clone();
        group.allReduce(sum, ReduceOp.SUM);
        for (int round = 0; round <= group.worldSize(); round++) {
            HostTensor operand = group.rank() == round ? HostTensor.of(input.clone()) : given;
            GroupMemoryCheck.filled(given, input);
            group.allReduce(operand, ReduceOp.SUM);
            String what = "sum of " + length + " on rank " + group.rank() + ", with an array on rank " + round;
            RuleChecks.same(sum, GroupMemoryCheck.elements(operand), () -> what);
        }
        if (length > 2) {
            GroupMemoryCheck.filled(given, input);
            group.allReduce(given.slice(1, length - 2L), ReduceOp.MAX);
            assertEquals(input[0], GroupMemoryCheck.elements(given)[0], "element before the slice");
            assertEquals(input[length - 1], GroupMemoryCheck.elements(given)[length - 1], "element after the slice");
        }
    }

    /**
     * Broadcasts in a second allocation, which has the same length as the first allocation. No byte of the first
     * allocation may be visible in the second allocation.
     */
    private static void broadcastIsThatOfAnArray(ProcessGroup group, HostTensor given, int length) {
        RuleChecks.same(
                new float[length],
                GroupMemoryCheck.elements(given),
                () -> "memory that no call has written, rank " + group.rank());
        float[] wanted = new float[length];
        for (int i = 0; i < length; i++) {
            wanted[i] = 3 + i % 127;
        }
        int root = group.worldSize() - 1;
        if (group.rank() == root) {
            GroupMemoryCheck.filled(given, wanted);
        }
        group.broadcast(given, root);
        RuleChecks.same(
                wanted, GroupMemoryCheck.elements(given), () -> "broadcast of " + length + " to rank " + group.rank());
    }

    /** Checks that each rank refuses a call whose operand and result overlap in an unsupported form. */
    @Rule(120)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"PART_OF_ARRAY", "DIRECT_BUFFER", "SEVERAL_BUFFERS", "OF_THE_GROUP", "FOREIGN"})
    default void overlappingOperandsAndResultsAreRefused(String kind) {
        Operand.OperandMemory memory = kind(kind);
        for (int worldSize : new int[] {1, 3}) {
            eachRank(worldSize, group -> {
                for (int part : new int[] {2, 64, 30_000}) {
                    overlappingCallsAreRefused(memory, group, part);
                }
                RuleChecks.works(group);
            });
        }
    }

    private void overlappingCallsAreRefused(Operand.OperandMemory kind, ProcessGroup group, int part) {
        int size = group.worldSize();
        Operand memory = Operand.unwritten(DataType.INT32, OverlappingCalls.length(size, part), kind, group);
        boolean onHost = devices().isEmpty();
        // a buffer that begins inside an element is compared by its address; the kit cannot get an address of FOREIGN
        boolean cutsElements =
                onHost && kind != Operand.OperandMemory.PART_OF_ARRAY && kind != Operand.OperandMemory.FOREIGN;
        try (DeviceOperands device = DeviceOperands.of(this, group.rank())) {
            for (OverlappingCalls.NamedCall named : OverlappingCalls.of(memory, group, part, cutsElements)) {
                Collective call = device.call(named.call());
                if (CallFactory.unsupported(group, call).isEmpty()) {
                    refused(named, () -> CallFactory.run(group, call));
                    refused(named, () -> group.submit(call));
                    if (onHost) {
                        refused(named, () -> group.coalesced(() -> group.submit(call)));
                    }
                }
            }
            device.readBack();
        }
        assertTrue(
                memory.isUnwritten() && memory.guardsHold(),
                "refused calls wrote to memory, parts of " + part + " on rank " + group.rank());
    }

    private static void refused(OverlappingCalls.NamedCall named, Runnable call) {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, call::run, named.name() + " was not refused");
        RuleChecks.says(refusal, "overlap", named.call().kind().label());
    }

    /** Checks the results of calls in a supported in-place form, and of calls that only seem to overlap. */
    @Rule(121)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"PART_OF_ARRAY", "DIRECT_BUFFER", "SEVERAL_BUFFERS", "OF_THE_GROUP", "FOREIGN"})
    default void supportedCallsInPlaceAreRight(String kind) {
        Operand.OperandMemory memory = kind(kind);
        for (int worldSize : new int[] {1, 3}) {
            eachRank(worldSize, group -> {
                for (int part : new int[] {2, 64, 30_000}) {
                    callsInPlaceAreRight(memory, group, part);
                    queuedCallsMayShareMemory(memory, group, part);
                }
                oneTensorMayBeSentSeveralTimes(memory, group);
            });
        }
    }

    private void callsInPlaceAreRight(Operand.OperandMemory kind, ProcessGroup group, int part) {
        Operand memory = Operand.unwritten(DataType.INT32, InPlaceCalls.length(group.worldSize(), part), kind, group);
        new InPlaceCalls(memory, group, part, each -> {
                    try (DeviceOperands device = DeviceOperands.of(this, group.rank())) {
                        Collective call = device.call(each.call());
                        if (CallFactory.refusal(group, call).isPresent()) {
                            return;
                        }
                        CallFactory.run(group, call);
                        device.readBack();
                    }
                    assertNull(each.wrong().get(), each.name());
                })
                .run();
    }

    /** Checks that a queued call may use the memory of an earlier queued call. */
    private void queuedCallsMayShareMemory(Operand.OperandMemory kind, ProcessGroup group, int part) {
        Operand memory = Operand.unwritten(DataType.INT32, 3 * part, kind, group);
        HostTensor all = ElementAccess.fill(memory.cut(0, 3L * part), index -> 1);
        int size = group.worldSize();
        try (DeviceOperands device = DeviceOperands.of(this, group.rank())) {
            List<Work> queued = new ArrayList<>();
            queued.add(group.allReduceAsync(device.tensor(memory.cut(0, 2L * part)), ReduceOp.SUM));
            queued.add(group.allReduceAsync(device.tensor(memory.cut(part, 2L * part)), ReduceOp.SUM));
            queued.add(group.allReduceAsync(device.tensor(memory.cut(part, 2L * part)), ReduceOp.SUM));
            queued.add(group.broadcastAsync(device.tensor(memory.cut(0, 3L * part)), 0));
            queued.forEach(Work::await);
            device.readBack();
        }
        int[] right = {size, size * size * size, size * size};
        long[] need = new long[3 * part];
        Arrays.setAll(need, index -> right[index / part]);
        assertArrayEquals(need, ElementAccess.of(all), "queued calls on one memory, parts of " + part);
    }

    private void oneTensorMayBeSentSeveralTimes(Operand.OperandMemory kind, ProcessGroup group) {
        int length = 50;
        try (DeviceOperands device = DeviceOperands.of(this, group.rank())) {
            HostTensor data =
                    Operand.unwritten(DataType.INT32, length, kind, group).cut(0, length);
            if (group.rank() == 0) {
                Tensor sent = device.tensor(ElementAccess.fill(data, index -> index + 5));
                for (int to = 1; to < group.worldSize(); to++) {
                    group.send(sent, to, 0);
                    group.send(sent, to, 0);
                }
                return;
            }
            for (int number = 0; number < 2; number++) {
                group.recv(device.tensor(ElementAccess.fill(data, index -> -1)), 0, 0);
                device.readBack();
                long[] need = LongStream.range(5, 5 + length).toArray();
                assertArrayEquals(need, ElementAccess.of(data), "message " + number);
            }
        }
    }

    /**
     * Returns the kind of memory with a name. On a device, the kind of host memory does not matter. The test is then
     * skipped for all kinds except one kind.
     */
    private Operand.OperandMemory kind(String name) {
        Operand.OperandMemory kind = Operand.OperandMemory.valueOf(name);
        assumeTrue(
                devices().isEmpty() || kind == Operand.OperandMemory.PART_OF_ARRAY,
                "operands are on devices, so one kind of host memory is enough");
        return kind;
    }
}
