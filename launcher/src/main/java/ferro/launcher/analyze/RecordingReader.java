package ferro.launcher.analyze;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.launcher.analyze.RankRecording.EventEntry;
import ferro.launcher.analyze.RankRecording.GroupEntry;
import ferro.launcher.analyze.RankRecording.OperationState;
import ferro.launcher.analyze.RankRecording.RecordedCall;
import ferro.launcher.analyze.RankRecording.RecordedOperation;
import ferro.launcher.analyze.RankRecording.RecordedProgress;
import ferro.launcher.analyze.RankRecording.StackEntry;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads one file of a flight recorder. Skips unknown fields, because newer recorders may write more fields. */
final class RecordingReader {
    /** Largest number of ranks. Each rank takes space in the report, with or without a recording. */
    static final int MOST_RANKS = 65_536;

    /** The file by which ferro dump requests recordings. */
    static final String REQUEST = "dump.request";

    private static final int FORMAT = 1;
    /** Largest size of a file in bytes. 2,048 operations take less than 1 MiB. */
    private static final long MOST_BYTES = 64L << 20;

    private static final Pattern PLACE = Pattern.compile("line \\d+ column \\d+");

    private final Path file;

    private RecordingReader(Path file) {
        this.file = file;
    }

    /** Reads the file of a recording. If the file is not a recording, the exception has the reason. */
    static RankRecording read(Path file) throws UnreadableRecordingException {
        RecordingReader reader = new RecordingReader(file);
        try {
            return reader.recording(reader.parse());
        } catch (UnreadableRecordingException wrong) {
            throw new UnreadableRecordingException(file + ": " + wrong.getMessage(), wrong);
        }
    }

    /** Reads a JSON file that lies next to the recordings and is not a recording. */
    static JsonFields fields(Path file) throws UnreadableRecordingException {
        return new RecordingReader(file).parse();
    }

    /** Reads a recording from a text that {@link #brief} has returned. */
    static RankRecording read(String text) throws UnreadableRecordingException {
        RecordingReader reader = new RecordingReader(Path.of(""));
        try {
            return reader.recording(whole(new JsonReader(new StringReader(text))));
        } catch (IOException | JsonParseException | NumberFormatException | IllegalStateException broken) {
            throw new UnreadableRecordingException("it is not valid JSON, or ends too early" + place(broken), broken);
        }
    }

    /**
     * Returns a recording with only the facts that a verdict needs: the last calls of each group, the time of the
     * group's failure, and one frame of the stack that a verdict may show.
     */
    static String brief(Path file, int calls) throws UnreadableRecordingException {
        RankRecording recording = read(file);
        JsonObject all = new RecordingReader(file).parse().object();
        Map<JsonElement, Integer> kept = new HashMap<>();
        List<JsonElement> operations =
                new ArrayList<>(all.getAsJsonArray("operations").asList());
        Collections.reverse(operations);
        operations.removeIf(one -> kept.merge(one.getAsJsonObject().get("group"), 1, Integer::sum) > calls);
        all.add("operations", new JsonArray());
        operations.forEach(all.getAsJsonArray("operations")::add);
        JsonArray events = new JsonArray();
        if (all.has("events")) {
            all.getAsJsonArray("events").asList().stream()
                    .filter(one ->
                            one.getAsJsonObject().get("kind").getAsString().equals("FAILED"))
                    .forEach(events::add);
        }
        all.add("events", events);
        all.add("stacks", stacks(recording, all));
        return all.toString();
    }

    /** Returns the stack that a verdict may show. A verdict only needs to know whether the stack has frames. */
    private static JsonArray stacks(RankRecording recording, JsonObject all) {
        JsonArray stacks = new JsonArray();
        recording.stackOutsideOfCalls().ifPresent(shown -> {
            JsonObject stack = all.getAsJsonArray("stacks")
                    .get(recording.stacks().indexOf(shown))
                    .getAsJsonObject();
            if (shown.frames() > 0) {
                JsonArray first = new JsonArray();
                first.add(stack.getAsJsonArray("frames").get(0));
                stack.add("frames", first);
            }
            stacks.add(stack);
        });
        return stacks;
    }

    private JsonFields parse() throws UnreadableRecordingException {
        try {
            long bytes = Files.size(file);
            if (!Files.isRegularFile(file) || bytes > MOST_BYTES) {
                throw new UnreadableRecordingException(
                        "need a regular file of at most " + MOST_BYTES + " bytes, found " + bytes + " bytes");
            }
            try (Reader text = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
                return whole(new JsonReader(text));
            }
        } catch (IOException | JsonParseException | NumberFormatException | IllegalStateException broken) {
            throw new UnreadableRecordingException("it is not valid JSON, or ends too early" + place(broken), broken);
        }
    }

    /** Returns the position of a parse error, without the library's advice, which is for programmers. */
    private static String place(Exception broken) {
        Matcher place = PLACE.matcher("" + broken.getMessage());
        return place.find() ? " (" + place.group() + ")" : "";
    }

    private static JsonFields whole(JsonReader json) throws IOException, UnreadableRecordingException {
        json.setStrictness(Strictness.STRICT);
        JsonElement all = JsonParser.parseReader(json);
        if (!all.isJsonObject()) {
            throw new UnreadableRecordingException("it is not a recording of ferro: need a JSON object, found a "
                    + all.getClass().getSimpleName());
        }
        // peek() fails if anything follows the object
        json.peek();
        return new JsonFields(all.getAsJsonObject(), "");
    }

    private RankRecording recording(JsonFields all) throws UnreadableRecordingException {
        long format = all.number("format");
        if (format != FORMAT) {
            throw new UnreadableRecordingException(
                    "it has format " + format + ", but this ferro reads format " + FORMAT);
        }
        int worldSize = (int) all.number("worldSize", 1, MOST_RANKS);
        RankRecording.RecordedRank writer = new RankRecording.RecordedRank(
                all.text("job"),
                (int) all.number("rank", 0, worldSize - 1L),
                worldSize,
                all.text("host", "(unknown)"),
                all.number("pid", 0, Long.MAX_VALUE, 0));
        RankRecording.ClockSample clock =
                new RankRecording.ClockSample(all.number("wallNanos"), all.number("clockNanos"));
        List<GroupEntry> groups = all.list("groups", RecordingReader::group);
        List<RecordedOperation> operations = all.list("operations", RecordingReader::operation);
        operations.removeIf(RecordedOperation::isDoneByFerro);
        operations.sort(Comparator.comparingLong(RecordedOperation::begun));
        return new RankRecording(
                new RankRecording.Origin(file, all.text("reason", ""), isAskedForAgain()),
                writer,
                clock,
                groups,
                List.copyOf(operations),
                all.object().has("events") ? all.list("events", event -> event(event, writer.rank())) : List.of(),
                all.object().has("stacks") ? all.list("stacks", RecordingReader::stack) : List.of());
    }

    /**
     * Whether ferro dump has requested a newer file. The result is also true if the folder has no file with the time of
     * the request. The times of both files are from the clock of the file system.
     */
    private boolean isAskedForAgain() {
        try {
            Path request = file.resolveSibling(REQUEST);
            return !Files.exists(request)
                    || Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(request)) < 0;
        } catch (IOException unknown) {
            return false;
        }
    }

    private static GroupEntry group(JsonFields group) throws UnreadableRecordingException {
        Optional<JsonFields> given = group.object("failure");
        return new GroupEntry(
                group.text("name"),
                group.text("id", ""),
                group.ranks("ranks"),
                given.isPresent() ? Optional.of(failure(given.get())) : Optional.empty());
    }

    private static Failure failure(JsonFields given) throws UnreadableRecordingException {
        return new Failure(
                given.constant("code", Code.class),
                (int) given.number("origin", -1, MOST_RANKS, -1),
                given.number("sequence", -1, Long.MAX_VALUE, -1),
                new TreeSet<>(given.ranks("culprits")),
                given.lines("text"),
                null,
                (int) given.number("known", 0, MOST_RANKS, 0));
    }

    private static RecordedOperation operation(JsonFields given) throws UnreadableRecordingException {
        String kind = given.text("kind");
        return new RecordedOperation(
                new RecordedCall(
                        given.text("group"),
                        given.number("sequence", -1, Long.MAX_VALUE, -1),
                        kind,
                        given.text("text", kind),
                        given.number("bytes", 0, Long.MAX_VALUE, 0)),
                given.number("begun"),
                given.number("ended", Long.MIN_VALUE, Long.MAX_VALUE, 0),
                given.constant("state", OperationState.class),
                given.text("code", ""),
                new RecordedProgress(
                        (int) given.number("step", -1, Integer.MAX_VALUE, -1),
                        given.number("bytesMoved", 0, Long.MAX_VALUE, 0),
                        given.ranks("waitingFor"),
                        given.text("progress", "")));
    }

    private static EventEntry event(JsonFields event, int rank) throws UnreadableRecordingException {
        return new EventEntry(
                rank,
                event.number("at"),
                event.text("group", ""),
                event.text("kind"),
                event.ranks("ranks"),
                event.text("text", ""));
    }

    private static StackEntry stack(JsonFields stack) throws UnreadableRecordingException {
        return new StackEntry(
                stack.number("at"),
                stack.text("reason", ""),
                stack.number("joined", 0, 1, 0) == 1,
                stack.text("group", ""),
                stack.text("location", ""),
                stack.object().get("frames") instanceof JsonArray frames ? frames.size() : 0);
    }
}
