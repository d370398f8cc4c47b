package ferro.backend.nccl.queue;

import ferro.CallOptions;
import java.util.function.Supplier;

/**
 * Description of an operation, for messages and the flight recorder.
 *
 * @param operation operation, which messages name
 * @param label     label of the call, empty for none
 * @param words     creates the text of {@link #print}, which only slow and failed operations need
 * @param peer      the other rank of a message, which has no sequence number; -1 for a collective
 * @param recorded  number of bytes in the flight recorder
 * @param contributed bytes of the tensor that this rank reads; for a receive, the bytes received
 */
public record OperationInfo(
        NcclOperation operation, String label, Supplier<String> words, int peer, long recorded, long contributed) {
    /** Returns the name of the operation, with the label if there is one. */
    public String name() {
        return CallOptions.named(operation.label(), label);
    }

    /** Returns kind, label, counts, type, op and root, which must be equal on all ranks. */
    String print() {
        return words.get();
    }

    /** Returns whether the operation is a send or a receive, and not a collective. */
    public boolean isMessage() {
        return peer >= 0;
    }
}
