package ferro.tck;

import ferro.Backend;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/** An honest back end of five methods keeps the contract, with the refusals that a plain one declares. */
@Tag("long")
class QueueContractTest extends BackendContract {
    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return QueueHub.group(worldSize);
    }

    @Override
    protected Set<String> declaredRefusals() {
        return Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, ABORT_ACROSS_RANKS);
    }
}
