package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls as the static methods of {@link Collective} make them. */
class CollectiveTest {
    private static final int ROOT = 1;
    private static final int RANKS = 2;
    private static final long[] NONE = {};
    private static final long[] HALVES = {3, 3};
    private static final Tensor PART = HostTensor.of(new int[3]);
    private static final Tensor ALL = HostTensor.of(new int[6]);
    private static final Tensor OTHERS = HostTensor.of(new int[6]);

    @Test
    void emptyCountsMeanEqualParts() {
        List<Collective> calls = List.of(
                Collective.allGather(PART, ALL, NONE),
                Collective.reduceScatter(ALL, PART, ReduceOp.SUM, NONE),
                Collective.gather(PART, ALL, ROOT, NONE),
                Collective.scatter(ALL, PART, ROOT, NONE),
                Collective.allToAll(ALL, OTHERS, NONE, NONE));
        for (Collective call : calls) {
            call.check(ROOT, RANKS);
            assertFalse(call.hasCounts(), call::toString);
            assertEquals(0, call.inCounts().length + call.outCounts().length, call::toString);
            String three = assertThrows(IllegalArgumentException.class, () -> call.check(ROOT, 4))
                    .getMessage();
            assertTrue(three.startsWith(call.kind() + ": "), three);
        }
    }

    @Test
    void oneSideOfAnAllToAllMayHaveEqualParts() {
        Collective call = Collective.allToAll(ALL, OTHERS, NONE, HALVES);
        call.check(ROOT, RANKS);
        assertTrue(call.hasCounts());
        String text = assertThrows(IllegalArgumentException.class, () -> call.check(0, 3))
                .getMessage();
        assertEquals("allToAll: 2 counts for world size 3: need one per rank", text);
    }

    @Test
    void onlyTheRootNeedsTheTensorOfAllRanks() {
        for (Collective call : List.of(
                Collective.gather(PART, ROOT),
                Collective.gather(PART, ROOT, HALVES),
                Collective.scatter(PART, ROOT),
                Collective.scatter(PART, ROOT, HALVES))) {
            call.check(0, RANKS);
            assertSame(PART, call.operand());
            assertNull(call.kind() == CollectiveKind.GATHER ? call.out() : call.in(), call::toString);
            String text = assertThrows(IllegalArgumentException.class, () -> call.check(ROOT, RANKS))
                    .getMessage();
            assertTrue(text.contains("is null on the root, rank " + ROOT), text);
        }
    }

    @Test
    void nullIsRefusedByName() {
        refused("reduce: data", () -> Collective.reduce(null, ReduceOp.SUM, ROOT));
        refused("reduce: output", () -> Collective.reduce(ALL, null, ReduceOp.SUM, ROOT));
        refused("gather: output", () -> Collective.gather(PART, null, ROOT));
        refused("scatter: input", () -> Collective.scatter(null, PART, ROOT));
        refused("allGather: counts", () -> Collective.allGather(PART, ALL, null));
        refused("allToAll: recvCounts", () -> Collective.allToAll(ALL, OTHERS, NONE, null));
    }

    private static void refused(String what, Runnable call) {
        String text = assertThrows(NullPointerException.class, call::run).getMessage();
        assertEquals(what + " is null: every rank must have one", text);
    }

    @Test
    void callsOnTheSameArgumentsAreEqual() {
        assertEquals(Collective.allReduce(ALL, ALL, ReduceOp.SUM), Collective.allReduce(ALL, ReduceOp.SUM));
        assertEquals(Collective.reduce(ALL, ALL, ReduceOp.SUM, ROOT), Collective.reduce(ALL, ReduceOp.SUM, ROOT));
        assertEquals(Collective.allGather(PART, ALL), Collective.allGather(PART, ALL));
        assertNotEquals(Collective.gather(PART, ALL, ROOT), Collective.gather(PART, ROOT));
        assertSame(Collective.barrier(), Collective.barrier(), "a barrier allocates nothing");
    }
}
