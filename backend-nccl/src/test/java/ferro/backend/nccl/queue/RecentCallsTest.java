package ferro.backend.nccl.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallOptions;
import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecentCallsTest {
    @Test
    void callsThatDifferInTheirLabelAreEqual() {
        RecentCalls one = calls(call("loss of rank 0", 64));
        RecentCalls other = calls(call("loss\nof rank 1", 64));

        assertEquals(
                Optional.empty(), RecentCalls.firstDifference(Map.of(0, one.encoded(), 1, other.encoded()), world(2)));
    }

    @Test
    void theFirstCallThatDiffersIsNamedWithTheRanksThatAreFew() {
        RecentCalls right = calls(call("a", 64), call("", 8));
        RecentCalls wrong = calls(call("b", 64), call("", 9));

        Failure found = RecentCalls.firstDifference(
                        Map.of(0, right.encoded(), 1, wrong.encoded(), 2, right.encoded()), world(3))
                .orElseThrow();

        assertEquals(Code.MISMATCH, found.code());
        assertEquals(Set.of(1), found.culprits());
        assertTrue(found.text().contains("seq 2: rank 0 calls allReduce of f32[8], rank 1 calls allReduce of f32[9];"));
    }

    @Test
    void withoutAMajorityOfAllRanksEachSideIsNamed() {
        RecentCalls wrong = calls(call("", 9));
        RecentCalls right = calls(call("", 8));

        Failure found = RecentCalls.firstDifference(
                        Map.of(0, right.encoded(), 3, wrong.encoded(), 4, wrong.encoded()), world(5))
                .orElseThrow();

        assertEquals(3, found.culprits().size(), found::toString);
    }

    private static CommIdentity world(int size) {
        return new CommIdentity("calls", 0, size, 0);
    }

    private static RecentCalls calls(NcclWork.Title... made) {
        RecentCalls calls = new RecentCalls();
        for (NcclWork.Title one : made) {
            calls.add(one);
        }
        return calls;
    }

    private static NcclWork.Title call(String label, int elements) {
        return new NcclWork.Title(
                NcclOperation.ALL_REDUCE,
                label,
                () -> CallOptions.named("allReduce", label) + " of f32[" + elements + "]",
                -1,
                NcclWork.DataBytes.of(4L * elements));
    }
}
