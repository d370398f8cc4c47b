package ferro.backend.nccl.comm;

import ferro.DeviceTensor;
import java.util.AbstractList;
import java.util.List;

/** A caller's list that has changed when another thread reads it, as one does that the caller goes on filling. */
final class ChangedMeanwhile extends AbstractList<DeviceTensor> {
    private final Thread caller = Thread.currentThread();
    private final List<DeviceTensor> first;
    private final List<DeviceTensor> later;

    ChangedMeanwhile(List<DeviceTensor> first, List<DeviceTensor> later) {
        this.first = first;
        this.later = later;
    }

    @Override
    public DeviceTensor get(int index) {
        return (Thread.currentThread() == caller ? first : later).get(index);
    }

    @Override
    public int size() {
        return first.size();
    }
}
