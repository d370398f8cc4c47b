package ferro.tck;

import ferro.Backend;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.DeviceTensor;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.tck.cells.Operand;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/** Back ends that are wrong with device tensors only; {@link WrongBackEndsTest} says which rule catches which. */
final class WrongDevices {
    private WrongDevices() {}

    /** The kit on devices, over queues and a round trip. */
    abstract static class OnDevices extends BackendContract {
        private final HeapDeviceMemory devices = new HeapDeviceMemory(8);
        private final BiFunction<CollectiveBackend, HeapDeviceMemory, CollectiveBackend> make;

        OnDevices(BiFunction<CollectiveBackend, HeapDeviceMemory, CollectiveBackend> make) {
            this.make = make;
        }

        @Override
        protected List<? extends Backend> createGroup(int worldSize) {
            return Decorator.group(worldSize, honest -> make.apply(honest, devices));
        }

        @Override
        protected Optional<DeviceMemory> deviceMemory() {
            return Optional.of(devices);
        }

        @Override
        protected Set<String> declaredRefusals() {
            return Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, ABORT_ACROSS_RANKS);
        }
    }

    static final class ForgetsTheCopyBack extends OnDevices {
        ForgetsTheCopyBack() {
            super((honest, devices) -> new NaiveRoundTrip(honest, devices) {
                @Override
                DeviceTensor written(Collective call) {
                    return null;
                }
            });
        }
    }

    /** Trap T5: what is not the root's result lands in the other ranks' memory. */
    static final class CopiesBackOnEveryRank extends OnDevices {
        CopiesBackOnEveryRank() {
            super((honest, devices) -> new NaiveRoundTrip(honest, devices) {
                @Override
                DeviceTensor written(Collective call) {
                    boolean other = call.kind() == CollectiveKind.REDUCE && call.writes(rank()) == null;
                    if (other && call.in().elementCount() > 0) {
                        devices.write(zeros(call), (DeviceTensor) call.in());
                    }
                    return super.written(call);
                }
            });
        }
    }

    static final class OverwritesItsInput extends OnDevices {
        OverwritesItsInput() {
            super((honest, devices) -> new NaiveRoundTrip(honest, devices) {
                @Override
                DeviceTensor written(Collective call) {
                    if (call.kind() == CollectiveKind.ALL_REDUCE && call.in() != call.out()) {
                        devices.write(zeros(call), (DeviceTensor) call.in());
                    }
                    return super.written(call);
                }
            });
        }
    }

    static final class DoesNotWaitForTheCopyOut extends OnDevices {
        DoesNotWaitForTheCopyOut() {
            super((honest, devices) -> new NaiveRoundTrip(honest, devices) {
                @Override
                void awaitOut(Copy copy) {
                    // what comes next reads memory that nothing has been copied to
                }
            });
        }
    }

    static final class DoesNotWaitForTheCopyBack extends OnDevices {
        DoesNotWaitForTheCopyBack() {
            super((honest, devices) -> new NaiveRoundTrip(honest, devices) {
                @Override
                void awaitBack(Copy copy) {
                    // the call ends, its result is still on its way
                }
            });
        }
    }

    private static ferro.HostTensor zeros(Collective call) {
        return Operand.unwritten(
                        call.in().dataType(), (int) call.in().elementCount(), Operand.OperandMemory.DIRECT_BUFFER)
                .fill(index -> 0)
                .tensor();
    }
}
