package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Messages that every rank sends to all: JSON objects, and the failures of ranks, by which all ranks fail. */
final class RankMessages {
    private static final long MOST_BYTES = 1 << 30;
    private static final String ERROR = "error";
    private static final String HOST = "host";

    private final ProcessGroup group;
    private final String host;

    /** Something that a rank contributes; what it throws all ranks throw. */
    @FunctionalInterface
    interface Contribution {
        /** Makes the fields of this rank's message. */
        Map<String, Object> make() throws Exception;
    }

    RankMessages(ProcessGroup group, String host) {
        this.group = group;
        this.host = host;
    }

    int rank() {
        return group.rank();
    }

    int worldSize() {
        return group.worldSize();
    }

    /** Names this rank in messages. */
    String place() {
        return "rank " + rank() + " on host " + host;
    }

    /**
     * Exchanges the contributions of all ranks; index = rank. If one of them failed, all ranks throw, the one that failed with its
     * own failure as the cause.
     */
    List<JsonValues> exchange(String what, Contribution own) {
        Map<String, Object> message = new LinkedHashMap<>();
        Exception failure = null;
        try {
            message.putAll(own.make());
        } catch (Exception failed) {
            failure = failed;
            message.clear();
            message.put(ERROR, error(failed));
        }
        message.put(HOST, host);
        List<JsonValues> all = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        for (String text : exchange(StrictJson.write(message))) {
            JsonValues fields = StrictJson.read("message of rank " + all.size(), text);
            if (fields.fields().containsKey(ERROR)) {
                failed.add(fields.string(ERROR));
            }
            all.add(fields);
        }
        if (!failed.isEmpty()) {
            throw new CheckpointException(what + " failed: " + Text.of(failed), failure);
        }
        return all;
    }

    private String error(Exception failure) {
        String text = failure instanceof CheckpointException ? failure.getMessage() : Text.of(failure);
        return text.startsWith(place()) ? text : place() + ": " + text;
    }

    static String hostOf(JsonValues message) {
        return message.string(HOST);
    }

    private List<String> exchange(String own) {
        byte[] bytes = own.getBytes(StandardCharsets.UTF_8);
        long[] lengths = new long[worldSize()];
        group.allGather(new long[] {bytes.length}, lengths);
        long total = Arrays.stream(lengths).sum();
        if (total > MOST_BYTES) {
            throw new CheckpointException("the names of all tensors of " + worldSize() + " ranks take " + total
                    + " bytes, need at most " + MOST_BYTES);
        }
        byte[] all = new byte[(int) total];
        group.allGather(HostTensor.of(bytes), HostTensor.of(all), lengths);
        List<String> texts = new ArrayList<>();
        int at = 0;
        for (long length : lengths) {
            texts.add(new String(all, at, (int) length, StandardCharsets.UTF_8));
            at += (int) length;
        }
        return texts;
    }
}
