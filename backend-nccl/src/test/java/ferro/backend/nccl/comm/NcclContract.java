package ferro.backend.nccl.comm;

import ferro.Backend;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.tck.BackendContract;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;

/** The shared contract, on the stand-in libraries; ranks meet in a store, as processes do. */
@ExtendWith(StandIn.class)
abstract class NcclContract extends BackendContract {
    static final int MOST_RANKS = 8;

    /** As NCCL does: a rank returns when its data is handed on, and the others still read the memory of that rank. */
    @BeforeEach
    void returnEarlyWhereRanksLeaveEarly(TestInfo test) {
        if (test.getTestMethod().orElseThrow().getName().equals("ranksMayLeaveWhenTheirOwnCallsHaveReturned")) {
            StandInHooks.standInEarlyReturns(1);
            StandInHooks.standInTail(2_000);
        }
    }

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        StandInHooks.standInDevices(MOST_RANKS);
        // as NCCL does: ranks that make different calls wait for ever
        StandInHooks.standInMismatchHangs(1);
        return NcclRanks.of(worldSize).ends();
    }

    @Override
    protected Set<String> declaredRefusals() {
        return Set.of(
                ASYNCHRONOUS_MESSAGES,
                OPEN_RECEIVES,
                MESSAGE_TAGS,
                CANONICAL_NANS,
                EXACT_SCALING,
                ONE_ORDER,
                LABELS,
                INTEGER_AVERAGES,
                "i16",
                "u16",
                "scan",
                "exclusiveScan");
    }
}
