package ferro.tck;

import org.junit.jupiter.api.Tag;

/** An honest round trip keeps the contract on device tensors. */
@Tag("long")
class DevicesContractTest extends Kit {
    DevicesContractTest() {
        super(Subject.onDevices(NaiveRoundTrip::new));
    }

    /** All other rules have host tensors, and {@link QueueContractTest} runs them. */
    @Override
    protected boolean runs(int rule) {
        return ON_DEVICES.contains(rule);
    }
}
