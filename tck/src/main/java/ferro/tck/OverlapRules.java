package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Bits;
import ferro.tck.cells.Calls;
import ferro.tck.cells.InPlaceCalls;
import ferro.tck.cells.OneMemory;
import ferro.tck.cells.OverlappingCalls;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 120 and 121, about operands and results in one memory. */
public interface OverlapRules extends Subject {
    /**
     * Checks that each rank refuses a call whose operand and result overlap in an unsupported form. The group still
     * works afterwards.
     *
     * @param kind kind of the memory
     */
    @Rule(120)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"ARRAY", "BUFFER", "SEVERAL_BUFFERS", "OF_THE_GROUP", "FOREIGN"})
    default void overlappingOperandsAndResultsAreRefused(String kind) {
        OneMemory.MemoryKind memory = kind(kind);
        for (int worldSize : new int[] {1, 3}) {
            eachRank(worldSize, group -> {
                for (int part : new int[] {2, 64, 30_000}) {
                    overlappingCallsAreRefused(memory, group, part);
                }
                Expect.works(group);
            });
        }
    }

    private void overlappingCallsAreRefused(OneMemory.MemoryKind kind, ProcessGroup group, int part) {
        int size = group.worldSize();
        OneMemory memory = OneMemory.of(kind, group, OverlappingCalls.length(size, part));
        boolean onHost = devices().isEmpty();
        // a buffer that begins inside an element is compared by its address, which the kit does not know of FOREIGN
        boolean cutsElements = onHost && kind != OneMemory.MemoryKind.ARRAY && kind != OneMemory.MemoryKind.FOREIGN;
        try (OnDevice device = OnDevice.of(this, group.rank())) {
            for (OverlappingCalls.Named named : OverlappingCalls.of(memory, group, part, cutsElements)) {
                Collective call = device.call(named.call());
                if (Calls.unsupported(group, call).isEmpty()) {
                    refused(named, () -> Calls.run(group, call));
                    refused(named, () -> group.submit(call));
                    if (onHost) {
                        refused(named, () -> group.coalesced(() -> group.submit(call)));
                    }
                }
            }
            device.readBack();
        }
        assertTrue(
                memory.isUnwritten(), "refused calls wrote to memory, parts of " + part + " on rank " + group.rank());
    }

    private static void refused(OverlappingCalls.Named named, Runnable call) {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, call::run, named.name() + " was not refused");
        Expect.says(refusal, "overlap", named.call().kind().label());
    }

    /**
     * Checks that calls in a supported in-place form give the right results. Calls whose tensors only seem to overlap
     * also give the right results.
     *
     * @param kind kind of the memory
     */
    @Rule(121)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"ARRAY", "BUFFER", "SEVERAL_BUFFERS", "OF_THE_GROUP", "FOREIGN"})
    default void supportedCallsInPlaceAreRight(String kind) {
        OneMemory.MemoryKind memory = kind(kind);
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

    private void callsInPlaceAreRight(OneMemory.MemoryKind kind, ProcessGroup group, int part) {
        OneMemory memory = OneMemory.of(kind, group, InPlaceCalls.length(group.worldSize(), part));
        new InPlaceCalls(memory, group, part, each -> {
                    try (OnDevice device = OnDevice.of(this, group.rank())) {
                        Collective call = device.call(each.call());
                        if (Calls.refusal(group, call).isPresent()) {
                            return;
                        }
                        Calls.run(group, call);
                        device.readBack();
                    }
                    assertNull(each.wrong().get(), each.name());
                })
                .run();
    }

    /** Checks that a queued call may use the memory of an earlier queued call. */
    private void queuedCallsMayShareMemory(OneMemory.MemoryKind kind, ProcessGroup group, int part) {
        OneMemory memory = OneMemory.of(kind, group, 3 * part);
        HostTensor all = Bits.fill(memory.cut(0, 3L * part), index -> 1);
        int size = group.worldSize();
        try (OnDevice device = OnDevice.of(this, group.rank())) {
            List<Work> queued = new ArrayList<>();
            queued.add(group.allReduceAsync(device.tensor(memory.cut(0, 2L * part)), ReduceOp.SUM));
            queued.add(group.allReduceAsync(device.tensor(memory.cut(part, 2L * part)), ReduceOp.SUM));
            queued.add(group.allReduceAsync(device.tensor(memory.cut(part, 2L * part)), ReduceOp.SUM));
            queued.add(group.broadcastAsync(device.tensor(memory.cut(0, 3L * part)), 0));
            queued.forEach(Work::await);
            device.readBack();
        }
        int[] right = {size, size * size * size, size * size};
        assertNull(OneMemory.wrong(all, index -> right[index / part]), "queued calls on one memory, parts of " + part);
    }

    private void oneTensorMayBeSentSeveralTimes(OneMemory.MemoryKind kind, ProcessGroup group) {
        int length = 50;
        try (OnDevice device = OnDevice.of(this, group.rank())) {
            HostTensor data = OneMemory.of(kind, group, length).cut(0, length);
            if (group.rank() == 0) {
                Tensor sent = device.tensor(Bits.fill(data, index -> index + 5));
                for (int to = 1; to < group.worldSize(); to++) {
                    group.send(sent, to, 0);
                    group.send(sent, to, 0);
                }
                return;
            }
            for (int number = 0; number < 2; number++) {
                group.recv(device.tensor(Bits.fill(data, index -> -1)), 0, 0);
                device.readBack();
                assertEquals(null, OneMemory.wrong(data, index -> index + 5), "message " + number);
            }
        }
    }

    /**
     * Returns the kind of memory with a name. On a device the kind of host memory does not matter, so the test is
     * skipped for all kinds but one.
     */
    private OneMemory.MemoryKind kind(String name) {
        OneMemory.MemoryKind kind = OneMemory.MemoryKind.valueOf(name);
        assumeTrue(
                devices().isEmpty() || kind == OneMemory.MemoryKind.ARRAY,
                "operands are on devices, so one kind of host memory is enough");
        return kind;
    }
}
