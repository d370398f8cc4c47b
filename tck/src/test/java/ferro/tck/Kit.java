package ferro.tck;

import ferro.Backend;
import ferro.CollectiveBackend;
import ferro.dispatch.DeviceMemory;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/** The kit over queues, honest or not. */
abstract class Kit extends BackendContract {
    private final Subject subject;

    /** The back ends of a kit, the devices they take, and a refusal that a plain back end declares and this one does not. */
    record Subject(IntFunction<List<? extends Backend>> group, HeapDeviceMemory devices, String declaresNot) {
        static Subject of(IntFunction<List<? extends Backend>> group) {
            return new Subject(group, null, "");
        }

        static Subject decorated(UnaryOperator<CollectiveBackend> decorate) {
            return of(worldSize -> Decorator.group(worldSize, decorate));
        }

        static Subject onDevices(BiFunction<CollectiveBackend, HeapDeviceMemory, CollectiveBackend> make) {
            HeapDeviceMemory devices = new HeapDeviceMemory(8);
            return new Subject(size -> Decorator.group(size, honest -> make.apply(honest, devices)), devices, "");
        }
    }

    /** The kit over what a test has put here before. */
    static final class OfNext extends Kit {
        static Subject next;

        OfNext() {
            super(next);
        }
    }

    Kit(Subject subject) {
        this.subject = subject;
    }

    @Override
    protected List<? extends Backend> createGroup(int worldSize) {
        return subject.group.apply(worldSize);
    }

    @Override
    protected Optional<DeviceMemory> deviceMemory() {
        return Optional.ofNullable(subject.devices);
    }

    @Override
    protected Set<String> declaredRefusals() {
        Set<String> refusals =
                new HashSet<>(Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, ABORT_ACROSS_RANKS));
        refusals.remove(subject.declaresNot);
        return refusals;
    }
}
