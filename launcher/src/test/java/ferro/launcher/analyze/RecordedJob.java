package ferro.launcher.analyze;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Recordings of a job that never ran: ranks on two hosts whose clocks begin anywhere, calls some milliseconds apart, and then
 * whatever a test lets happen.
 */
final class RecordedJob {
    /** A thread: the group in whose call it is, if any, the line of the program, and its top frame, if it has any. */
    record TracedThread(String group, String location, String frame) {}

    static final String GROUP = "tcp";
    static final String TEXT = "allReduce f32[262144] SUM by ring";
    static final long MILLI = 1_000_000;
    private static final Gson GSON = new Gson();
    private static final long SECOND = 1_000 * MILLI;
    private static final long BYTES = 1 << 20;
    private static final long EPOCH = 1_795_183_200L * SECOND;

    private final Random random = new Random(17);
    private final SortedMap<Integer, JsonObject> ranks = new TreeMap<>();
    private final int worldSize;
    /** Since the start of the job. */
    private long now = SECOND;

    RecordedJob(int worldSize) {
        this(worldSize, "a1b2c3d4");
    }

    RecordedJob(int worldSize, String job) {
        this.worldSize = worldSize;
        for (int rank = 0; rank < worldSize; rank++) {
            ranks.put(rank, recording(rank, job));
        }
        group(GROUP, IntStream.range(0, worldSize).boxed().toList());
    }

    private JsonObject recording(int rank, String job) {
        String host = rank < (worldSize + 1) / 2 ? "host-a" : "host-b";
        return JsonParser.parseString("""
                        {"format": 1, "job": "%s", "rank": %d, "worldSize": %d, "host": "%s", "pid": %d,
                        "groups": [], "operations": [], "events": [], "stacks": []}
                        """.formatted(job, rank, worldSize, host, 4000 + rank))
                .getAsJsonObject();
    }

    JsonObject of(int rank) {
        return ranks.get(rank);
    }

    List<Integer> allBut(Integer... left) {
        List<Integer> others = new ArrayList<>(ranks.keySet());
        others.removeAll(List.of(left));
        return others;
    }

    RecordedJob group(String name, List<Integer> members) {
        for (int rank : members) {
            JsonObject group = object("name", name, "rank", members.indexOf(rank), "ranks", members, "failure", null);
            ranks.get(rank).getAsJsonArray("groups").add(group);
        }
        return this;
    }

    /** A group that is one on all its ranks, but of another name on one of them, where there was one of its name before. */
    RecordedJob groupOfOtherName(String name, List<Integer> members, int on, String there) {
        group(name, members);
        for (int rank : members) {
            JsonArray groups = ranks.get(rank).getAsJsonArray("groups");
            JsonObject group = groups.get(groups.size() - 1).getAsJsonObject();
            group.addProperty("id", "feed000000000017");
            if (rank == on) {
                group.addProperty("name", there);
            }
        }
        return this;
    }

    /** All ranks make these calls; the last rank of all may come some time after the others. */
    RecordedJob calls(int from, int to, long lagNanos) {
        for (int sequence = from; sequence <= to; sequence++) {
            long start = now + 3 * MILLI;
            long[] begun = new long[worldSize];
            for (int rank = 0; rank < worldSize; rank++) {
                begun[rank] = start + (long) (random.nextDouble() * MILLI) + (rank == worldSize - 1 ? lagNanos : 0);
            }
            long done = IntStream.range(0, worldSize)
                            .mapToLong(rank -> begun[rank])
                            .max()
                            .orElse(start)
                    + 4 * MILLI;
            for (int rank = 0; rank < worldSize; rank++) {
                JsonObject call = call(rank, GROUP, sequence, TEXT);
                times(call, rank, begun[rank], done + (long) (random.nextDouble() * MILLI / 2));
                call.addProperty("state", "done");
            }
            now = done;
        }
        return this;
    }

    RecordedJob hangs(int rank, String group, int sequence, String text, Integer... waitingFor) {
        JsonObject call = call(rank, group, sequence, text);
        times(call, rank, now + rank * MILLI / 10, 0);
        call.addProperty("state", "running");
        call.addProperty("step", 3);
        call.addProperty("bytesMoved", 65_536);
        call.add("waitingFor", GSON.toJsonTree(waitingFor));
        return this;
    }

    RecordedJob makes(int rank, String text) {
        JsonObject call = call(rank, GROUP, -1, text);
        times(call, rank, now, now + MILLI);
        call.addProperty("state", "done");
        return this;
    }

    /** The stack, of one frame, of a thread of a rank: of the one that has joined, unless it is in a call of a group. */
    RecordedJob stack(int rank, long at, String reason, TracedThread thread) {
        JsonObject stack = object("at", at, "reason", reason, "thread", "main", "location", thread.location);
        stack.addProperty("joined", thread.group.isEmpty() ? 1 : 0);
        stack.addProperty("group", thread.group.isEmpty() ? null : thread.group);
        stack.add("frames", GSON.toJsonTree(thread.frame.isEmpty() ? List.of() : List.of(thread.frame)));
        ranks.get(rank).getAsJsonArray("stacks").add(stack);
        return this;
    }

    RecordedJob says(int rank, String progress) {
        JsonArray operations = ranks.get(rank).getAsJsonArray("operations");
        operations.get(operations.size() - 1).getAsJsonObject().addProperty("progress", progress);
        return this;
    }

    private JsonObject call(int rank, String group, int sequence, String text) {
        String kind = text.split(" ")[0];
        JsonObject call = object("group", group, "sequence", sequence, "kind", kind, "text", text, "code", null);
        object("bytes", BYTES, "step", -1, "bytesMoved", BYTES, "waitingFor", List.of())
                .entrySet()
                .forEach(one -> call.add(one.getKey(), one.getValue()));
        ranks.get(rank).getAsJsonArray("operations").add(call);
        return call;
    }

    private void times(JsonObject call, int rank, long begun, long ended) {
        call.addProperty("begun", begun + clock(rank));
        call.addProperty("ended", ended == 0 ? 0 : ended + clock(rank));
    }

    private long clock(int rank) {
        return rank < (worldSize + 1) / 2 ? -5_000 * SECOND : 12_345 * SECOND;
    }

    RecordedJob passes(long nanos) {
        now += nanos;
        return this;
    }

    /** What hangs on these ranks fails, as their group agrees. */
    RecordedJob fail(List<Integer> on, String code, List<Integer> culprits, int sequence, String text) {
        for (int rank : on) {
            failGroup(rank, 0, failure(code, culprits, sequence, text));
            endCalls(rank, code);
        }
        return this;
    }

    /** The failures of these ranks say how much was known. */
    RecordedJob knows(List<Integer> on, int known) {
        for (int rank : on) {
            JsonObject group = ranks.get(rank).getAsJsonArray("groups").get(0).getAsJsonObject();
            group.getAsJsonObject("failure").addProperty("known", known);
        }
        return this;
    }

    RecordedJob timesOut(int rank) {
        endCalls(rank, "TIMED_OUT");
        return this;
    }

    private void endCalls(int rank, String code) {
        ranks.get(rank).getAsJsonArray("operations").forEach(one -> {
            JsonObject call = one.getAsJsonObject();
            if (call.get("state").getAsString().equals("running")) {
                call.addProperty("state", "failed");
                call.addProperty("code", code);
                call.addProperty("ended", now + clock(rank));
            }
        });
    }

    /** The second group of a rank fails, outside any call. */
    RecordedJob failSecond(int rank, String code, List<Integer> culprits, String text) {
        failGroup(rank, 1, failure(code, culprits, -1, text));
        return this;
    }

    private static JsonObject failure(String code, List<Integer> culprits, int sequence, String text) {
        return object("code", code, "culprits", culprits, "sequence", sequence, "origin", 0, "text", text);
    }

    private void failGroup(int rank, int place, JsonObject failure) {
        JsonObject group = ranks.get(rank).getAsJsonArray("groups").get(place).getAsJsonObject();
        group.add("failure", failure);
        event(rank, "FAILED", List.of(), failure.get("text").getAsString());
        JsonArray events = ranks.get(rank).getAsJsonArray("events");
        events.get(events.size() - 1)
                .getAsJsonObject()
                .addProperty("group", group.get("name").getAsString());
    }

    RecordedJob event(int rank, String kind, List<Integer> about, String text) {
        JsonObject event = object("at", now + clock(rank), "group", GROUP, "kind", kind, "ranks", about, "text", text);
        ranks.get(rank).getAsJsonArray("events").add(event);
        return this;
    }

    /** Returns an object of names, each with its value. */
    private static JsonObject object(Object... namesAndValues) {
        JsonObject object = new JsonObject();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            object.add("" + namesAndValues[at], GSON.toJsonTree(namesAndValues[at + 1]));
        }
        return object;
    }

    RecordedJob write(Path folder, String reason, List<Integer> of) throws IOException {
        for (int rank : of) {
            JsonObject one = ranks.get(rank);
            one.addProperty("written", "2026-11-20T14:00:00.000Z");
            one.addProperty("wallNanos", EPOCH + now + rank * MILLI / 20);
            one.addProperty("clockNanos", now + rank * MILLI / 20 + clock(rank));
            one.addProperty("reason", reason);
            Files.writeString(
                    folder.resolve("ferro-" + one.get("job").getAsString() + "-rank" + rank + ".json"), "" + one);
        }
        return this;
    }

    RecordedJob ask(Path folder) throws IOException {
        Path request = folder.resolve(RecordingReader.REQUEST);
        Files.deleteIfExists(request);
        Files.createFile(request);
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(one -> !one.equals(request)).toList()) {
                Files.setLastModifiedTime(
                        file,
                        FileTime.fromMillis(Files.getLastModifiedTime(request).toMillis() - 1));
            }
        }
        return this;
    }

    Analysis analyzed(Path folder, List<Integer> of) throws IOException, UnreadableRecordingException {
        write(folder, "request", of);
        return Analysis.of(List.of(folder), Optional.empty());
    }

    /** As {@link #analyzed(Path, List)}, with what a launcher saw of the ranks' processes. */
    Analysis analyzed(Path folder, List<Integer> of, ProcessEnds ends)
            throws IOException, UnreadableRecordingException {
        write(folder, "request", of);
        return Analysis.of(List.of(folder), Optional.empty(), file -> true, Optional.of(ends));
    }

    long wallNanos() {
        return EPOCH + now;
    }
}
