package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind.DataShare;
import java.util.List;
import org.junit.jupiter.api.Test;

class CollectiveKindTest {
    private static final int ROOT = 1;
    private static final Tensor LESS = HostTensor.of(new int[2]);
    private static final Tensor MORE = HostTensor.of(new int[4]);

    private static final List<Collective> CALLS = List.of(
            Collective.allReduce(MORE, ReduceOp.SUM),
            Collective.broadcast(MORE, ROOT),
            Collective.reduce(MORE, ReduceOp.SUM, ROOT),
            Collective.allGather(LESS, MORE),
            Collective.reduceScatter(MORE, LESS, ReduceOp.SUM),
            Collective.gather(LESS, MORE, ROOT),
            Collective.scatter(MORE, LESS, ROOT),
            Collective.allToAll(MORE, MORE),
            Collective.scan(MORE, ReduceOp.SUM),
            Collective.exclusiveScan(MORE, ReduceOp.SUM),
            Collective.barrier());

    @Test
    void everyCallHasTheArgumentsOfItsKind() {
        assertEquals(
                List.of(CollectiveKind.values()),
                CALLS.stream().map(Collective::kind).toList());
        for (Collective call : CALLS) {
            CollectiveKind kind = call.kind();
            assertEquals(call.root() >= 0, kind.isRooted(), kind.label());
            assertEquals(call.op() != null, kind.combines(), kind.label());
            for (int rank : new int[] {0, ROOT}) {
                assertSame(held(kind.in(), rank), call.reads(rank), kind + " reads on rank " + rank);
                assertSame(held(kind.out(), rank), call.writes(rank), kind + " writes on rank " + rank);
            }
        }
    }

    private static Tensor held(DataShare held, int rank) {
        if (held == DataShare.PART) {
            return LESS;
        }
        return held.isAll(rank == ROOT) ? MORE : null;
    }

    @Test
    void aKindIsFoundOnlyByItsLabel() {
        for (CollectiveKind kind : CollectiveKind.values()) {
            assertSame(kind, CollectiveKind.parse(kind.toString()));
        }
        String message = assertThrows(IllegalArgumentException.class, () -> CollectiveKind.parse("allreduce"))
                .getMessage();
        assertTrue(message.contains("\"allreduce\"") && message.contains("allReduce, broadcast"), message);
    }
}
