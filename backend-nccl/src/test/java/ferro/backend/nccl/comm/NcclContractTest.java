package ferro.backend.nccl.comm;

import org.junit.jupiter.api.Tag;

/** The shared contract on tensors of the host. */
@Tag("long")
class NcclContractTest extends NcclContract {}
