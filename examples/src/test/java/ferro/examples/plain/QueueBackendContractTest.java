package ferro.examples.plain;

import ferro.Backend;
import ferro.tck.BackendContract;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/** The full contract on a back end of five methods, without the rules that it declares as refused. */
@Tag("long")
// @start region="contract"
class QueueBackendContractTest extends BackendContract {
    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return QueueBackend.createGroup(worldSize);
    }

    @Override
    protected Set<String> declaredRefusals() {
        return Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, ABORT_ACROSS_RANKS);
    }
}
// @end
