package ferro.tck;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;

/** A view for one rank of devices that several ranks share. A close of the view does not affect the other ranks. */
record HeapDeviceMemoryView(HeapDeviceMemory memory) implements DeviceMemory {
    @Override
    public DeviceTensor allocate(DataType dataType, long[] shape, int device) {
        return memory.allocate(dataType, shape, device);
    }

    @Override
    public Staging stage(int bytes) {
        return memory.stage(bytes);
    }

    @Override
    public Copy toHost(DeviceTensor from, ByteBuffer to) {
        return memory.toHost(from, to);
    }

    @Override
    public Copy toDevice(ByteBuffer from, DeviceTensor to) {
        return memory.toDevice(from, to);
    }

    @Override
    public Copy onDevice(DeviceTensor from, DeviceTensor to) {
        return memory.onDevice(from, to);
    }

    @Override
    public void close() {
        // the devices belong to the test
    }
}
