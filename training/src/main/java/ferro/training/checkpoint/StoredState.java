package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.training.checkpoint.PartFile.LoadPlan;
import ferro.training.checkpoint.PartFile.LoadTarget;
import ferro.training.checkpoint.SliceRange.StateKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The state of the optimizer in a checkpoint: the ranges of elements that the saving ranks held. */
final class StoredState {
    private static final String PREFIX = "optimizer-";

    private final Map<StateKey, List<StoredRange>> ranges = new LinkedHashMap<>();

    /** A range, and the tensor and the file that contain the range. */
    private record StoredRange(SliceRange range, SafetensorsEntry entry, PartFile file) {}

    static StoredState open(StoredFiles stored) {
        StoredState state = new StoredState();
        for (String name : stored.names()) {
            if (name.startsWith(PREFIX)) {
                PartFile file = stored.open(stored.name(ObjectNames.MANIFEST), name);
                for (SafetensorsEntry entry : file.header().entries()) {
                    SliceRange range = SliceRange.of(file.name(), entry);
                    state.ranges
                            .computeIfAbsent(range.key(), key -> new ArrayList<>())
                            .add(new StoredRange(range, entry, file));
                }
            }
        }
        state.ranges.values().forEach(some -> some.sort(Comparator.comparingLong(one -> one.range.from())));
        return state;
    }

    Set<StateKey> keys() {
        return ranges.keySet();
    }

    /**
     * Adds the files with the elements of a slice to the plan. Adds a message to {@code problems} if elements are
     * missing or have another data type.
     */
    void match(StateSlice slice, LoadPlan plan, List<String> problems) {
        SliceRange wanted = SliceRange.of(slice);
        long at = wanted.from();
        for (StoredRange stored : ranges.getOrDefault(wanted.key(), List.of())) {
            if (stored.range.dataType() != wanted.dataType()) {
                problems.add("differs: " + wanted.key() + " expected "
                        + wanted.dataType().label() + ", found "
                        + stored.range.dataType().label());
                return;
            }
            long end = Math.min(stored.range.end(), wanted.end());
            if (stored.range.from() <= at && at < end) {
                HostTensor into = slice.values().slice(at - wanted.from(), end - at);
                plan.add(stored.file, new LoadTarget(stored.entry, at - stored.range.from(), into));
                at = end;
            }
        }
        if (at < wanted.end()) {
            problems.add("missing: " + wanted.key() + " " + wanted.dataType().label() + " from element " + at + " to "
                    + (wanted.end() - 1));
        }
    }
}
