package ferro.training.checkpoint;

import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The messages that each rank sends to all ranks. A message is a JSON object. If a rank fails, its message contains the
 * failure, and all ranks fail.
 */
final class RankMessages {
    private static final int MAX_BYTES = 1 << 30;
    private static final String ERROR = "error";
    private static final String HOST = "host";

    private final ProcessGroup group;
    private final GroupObjects<String> texts;
    private final String host;

    /**
     * The contribution of one rank to an exchange. If the contribution throws on one rank, the exchange fails on all
     * ranks.
     */
    @FunctionalInterface
    interface Contribution {
        /** Returns the fields of this rank's message. */
        Map<String, Object> make() throws Exception;
    }

    RankMessages(ProcessGroup group, String host) {
        this.group = group;
        this.host = host;
        texts = group.objects(Codec.utf8()).withLimit(MAX_BYTES);
    }

    int rank() {
        return group.rank();
    }

    int worldSize() {
        return group.worldSize();
    }

    /** Returns the name of this rank and its host for messages. */
    String origin() {
        return "rank " + rank() + " on host " + host;
    }

    /**
     * Runs this rank's part of a call that all ranks make. If {@link #exchange} throws on one rank, it throws on all
     * ranks. An error outside an exchange, for example an OutOfMemoryError, is thrown on this rank only. This method then
     * aborts the group, so that the other ranks do not wait for this rank.
     */
    <T> T together(Supplier<T> part) {
        try {
            return part.get();
        } catch (Error failure) {
            group.abort(failure);
            throw failure;
        }
    }

    /**
     * Exchanges the contributions of all ranks. The index in the result is the rank. If a contribution throws an
     * exception or an error, all ranks throw an exception. On a rank that failed, its own failure is the cause.
     */
    List<JsonValues> exchange(String what, Contribution own) {
        Map<String, Object> message = new LinkedHashMap<>();
        Throwable failure = null;
        try {
            message.putAll(own.make());
        } catch (Exception | Error failed) {
            failure = failed;
            message.clear();
            message.put(ERROR, error(failed));
        }
        message.put(HOST, host);
        List<JsonValues> all = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        for (String text : allGather(what, StrictJson.text(message))) {
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

    private String error(Throwable failure) {
        String text = failure instanceof CheckpointException ? failure.getMessage() : Text.of(failure);
        return text.startsWith(origin()) ? text : origin() + ": " + text;
    }

    static String hostOf(JsonValues message) {
        return message.string(HOST);
    }

    private List<String> allGather(String what, String own) {
        try {
            return texts.allGather(own);
        } catch (IllegalArgumentException refused) {
            throw new CheckpointException(what + " failed: " + refused.getMessage(), refused);
        }
    }
}
