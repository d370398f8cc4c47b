package ferro.tck;

/** An honest round trip keeps the contract on device tensors. */
class DevicesContractTest extends WrongDevices.OnDevices {
    DevicesContractTest() {
        super(NaiveRoundTrip::new);
    }
}
