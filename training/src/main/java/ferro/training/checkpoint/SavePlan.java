package ferro.training.checkpoint;

import ferro.training.checkpoint.SliceRange.StateKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32C;

/**
 * The plan of a save, which defines the rank that writes each parameter and each range of state. Each rank computes the
 * plan from the proposals of all ranks, so all ranks have the same plan.
 *
 * @param parameterRanks the rank that writes each parameter, in the order of the parameters
 * @param sliceRanks     the rank that writes each range of state
 * @param holders        the ranks that have each range of state; the ranges are in the order of the proposals
 */
record SavePlan(int[] parameterRanks, Map<SliceRange, Integer> sliceRanks, Map<SliceRange, List<Integer>> holders) {

    /** Returns what a rank proposes to save, and the settings that must be equal on all ranks. */
    static Map<String, Object> proposal(
            long step, TrainingState state, boolean withNames, CheckpointSettings settings) {
        List<String> names =
                state.parameters().stream().map(NamedTensor::toString).toList();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("step", step);
        fields.put("settings", "keepLast " + settings.keepLast() + " and compareRanks " + settings.compareRanks());
        fields.put("parameters", withNames ? names : List.of());
        fields.put("checksum", checksum(names));
        fields.put(
                "slices",
                state.slices().stream()
                        .map(SliceRange::of)
                        .filter(range -> range.count() > 0)
                        .map(SliceRange::fields)
                        .toList());
        return fields;
    }

    private static long checksum(List<String> names) {
        CRC32C checksum = new CRC32C();
        checksum.update(String.join("\n", names).getBytes(StandardCharsets.UTF_8));
        return checksum.getValue();
    }

    /**
     * Computes the plan from the proposals of all ranks. Throws an exception if steps, settings, parameters or slices
     * of the ranks do not fit together.
     */
    static SavePlan of(List<JsonObjectFields> proposals, List<NamedTensor> parameters) {
        refuseDifferent(proposals, parameters);
        Map<SliceRange, List<Integer>> holders = new LinkedHashMap<>();
        for (int rank = 0; rank < proposals.size(); rank++) {
            for (JsonObjectFields slice : proposals.get(rank).objects("slices")) {
                holders.computeIfAbsent(SliceRange.of(slice), range -> new ArrayList<>())
                        .add(rank);
            }
        }
        refuseGaps(holders.keySet(), parameters);
        long[] bytes = parameters.stream()
                .mapToLong(tensor -> tensor.values().byteCount())
                .toArray();
        return new SavePlan(RankAssignment.byBytes(bytes, proposals.size()), dealt(holders, proposals.size()), holders);
    }

    private static Map<SliceRange, Integer> dealt(Map<SliceRange, List<Integer>> holders, int worldSize) {
        List<SliceRange> ranges = List.copyOf(holders.keySet());
        RankAssignment assignment = new RankAssignment(worldSize);
        Map<SliceRange, Integer> dealt = new HashMap<>();
        for (int index : RankAssignment.largestFirst(
                ranges.stream().mapToLong(SliceRange::byteCount).toArray())) {
            SliceRange range = ranges.get(index);
            dealt.put(range, assignment.deal(range.byteCount(), holders.get(range)));
        }
        return dealt;
    }

    private static void refuseDifferent(List<JsonObjectFields> proposals, List<NamedTensor> parameters) {
        JsonObjectFields first = proposals.get(0);
        for (int rank = 1; rank < proposals.size(); rank++) {
            JsonObjectFields other = proposals.get(rank);
            if (other.number("step") != first.number("step")) {
                throw new CheckpointException("ranks save different steps: rank 0 step " + first.number("step")
                        + ", rank " + rank + " step " + other.number("step"));
            }
            if (!other.string("settings").equals(first.string("settings"))) {
                throw new CheckpointException("ranks save with different settings: rank 0 with "
                        + first.string("settings") + ", rank " + rank + " with " + other.string("settings"));
            }
            if (other.number("checksum") != first.number("checksum")) {
                throw new CheckpointException("ranks save different parameters: the parameters of rank " + rank
                        + " differ from those of rank 0" + difference(first.texts("parameters"), parameters));
            }
        }
    }

    /** Describes the first parameter that differs between rank 0 and this rank; empty if no parameter differs. */
    private static String difference(List<String> expected, List<NamedTensor> own) {
        for (int index = 0; index < Math.max(expected.size(), own.size()); index++) {
            String ownEntry = index < own.size() ? own.get(index).toString() : "nothing";
            String first = index < expected.size() ? expected.get(index) : "nothing";
            if (!ownEntry.equals(first)) {
                return "; parameters[" + index + "] is " + first + " on rank 0, but " + ownEntry + " on this rank";
            }
        }
        return "";
    }

    private static void refuseGaps(Set<SliceRange> ranges, List<NamedTensor> parameters) {
        Map<String, Long> lengths = new HashMap<>();
        parameters.forEach(tensor -> lengths.put(tensor.name(), tensor.values().elementCount()));
        Map<StateKey, List<SliceRange>> byKey = new LinkedHashMap<>();
        ranges.forEach(range ->
                byKey.computeIfAbsent(range.key(), key -> new ArrayList<>()).add(range));
        List<String> problems = new ArrayList<>();
        byKey.forEach((key, some) -> {
            Long length = lengths.get(key.parameter());
            if (length == null) {
                problems.add(key + ": there is no such parameter");
            } else {
                some.sort(Comparator.comparingLong(SliceRange::from));
                SliceRange.addGaps(some, length, problems);
            }
        });
        if (!problems.isEmpty()) {
            throw new CheckpointException(
                    "the slices of all ranks do not fit together: " + MessageFormatter.of(problems));
        }
    }

    /** Returns the parameters that a rank writes, in the order of all parameters. */
    List<NamedTensor> parametersOf(int rank, List<NamedTensor> parameters) {
        List<NamedTensor> own = new ArrayList<>();
        for (int index = 0; index < parameters.size(); index++) {
            if (parameterRanks[index] == rank) {
                own.add(parameters.get(index));
            }
        }
        return own;
    }

    /** Returns the slices that a rank writes, as tensors, in the order of the slices. */
    List<NamedTensor> slicesOf(int rank, List<StateSlice> slices) {
        List<NamedTensor> own = new ArrayList<>();
        for (StateSlice slice : slices) {
            SliceRange range = SliceRange.of(slice);
            if (range.count() > 0 && sliceRanks.get(range) == rank) {
                own.add(NamedTensor.of(range.tensorName(), slice.values(), range.count()));
            }
        }
        return List.copyOf(own);
    }

    /** Returns the name of the parameter file that a rank writes. */
    String modelFile(int rank) {
        List<Integer> writing =
                Arrays.stream(parameterRanks).sorted().distinct().boxed().toList();
        return file("model", writing.indexOf(rank), writing.size());
    }

    /** Returns the name of the state file that a rank writes. */
    String stateFile(int rank) {
        Set<Integer> writing = new TreeSet<>(sliceRanks.values());
        return file("optimizer", List.copyOf(writing).indexOf(rank), writing.size());
    }

    private static String file(String kind, int index, int count) {
        return String.format(Locale.ROOT, "%s-%05d-of-%05d.safetensors", kind, index + 1, count);
    }
}
