package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.training.agreement.TensorComparer;
import ferro.training.agreement.TensorHasher;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The tensors that several ranks have and one rank writes, which are all parameters and some ranges of state. The ranks
 * compare hashes of the replicated tensors. Without the comparison a checkpoint could contain tensors of ranks that
 * have diverged.
 */
final class ReplicatedTensors {
    private static final String HASHES = "hashes";

    private final Map<String, List<Integer>> holders = new LinkedHashMap<>();
    private final Map<String, HostTensor> own = new LinkedHashMap<>();

    ReplicatedTensors(SavePlan plan, TrainingState state, int worldSize) {
        List<Integer> all = IntStream.range(0, worldSize).boxed().toList();
        for (NamedTensor parameter : state.parameters()) {
            holders.put(parameter.name(), all);
            own.put(parameter.name(), parameter.values());
        }
        plan.holders().forEach((range, ranks) -> {
            if (ranks.size() > 1) {
                holders.put(name(range), ranks);
            }
        });
        for (StateSlice slice : state.slices()) {
            String name = name(SliceRange.of(slice));
            if (slice.values().elementCount() > 0 && holders.containsKey(name)) {
                own.put(name, slice.values());
            }
        }
    }

    private static String name(SliceRange range) {
        return "state " + range.tensorName(); // the prefix is needed: a parameter may have the name of a range's tensor
    }

    /** Compares the hashes of all ranks. If a tensor differs, the save fails on all ranks. */
    void compare(MessageExchange ranks, String what) {
        List<JsonObjectFields> messages = ranks.exchange(what, () -> Map.of(HASHES, hashes(ranks)));
        Map<String, Map<Integer, String>> all = new LinkedHashMap<>();
        holders.forEach((name, holding) -> all.put(name, new TreeMap<>()));
        for (int rank = 0; rank < messages.size(); rank++) {
            List<String> hashes = messages.get(rank).texts(HASHES);
            List<String> names = heldBy(rank);
            for (int index = 0; index < names.size(); index++) {
                all.get(names.get(index)).put(rank, "hash " + hashes.get(index));
            }
        }
        String differences = TensorComparer.of(all);
        if (!differences.isEmpty()) {
            throw new CheckpointException(what + " failed: ranks hold different values in " + differences
                    + "; make them equal with Replicas.broadcast, or save values that differ on purpose as state"
                    + " with a different name on each rank");
        }
    }

    private List<String> hashes(MessageExchange ranks) {
        List<String> hashes = new ArrayList<>();
        for (String name : heldBy(ranks.rank())) {
            hashes.add(Long.toHexString(TensorHasher.of(own.get(name))));
            ranks.progress();
        }
        return hashes;
    }

    private List<String> heldBy(int rank) {
        List<String> names = new ArrayList<>();
        holders.forEach((name, ranks) -> {
            if (ranks.contains(rank)) {
                names.add(name);
            }
        });
        return names;
    }
}
